rule overlap:
    input:
        before=before_of,
    output:
        overlap=f"{RESULTS}/overlap/{{measurement}}.json",
    log:
        f"{RESULTS}/logs/overlap/{{measurement}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/overlap/{{measurement}}.tsv"
    conda:
        "../../environment.yml"
    params:
        entry=lambda wildcards: plain(PLAN.overlap_without_folders(wildcards.measurement)),
        files=lambda wildcards: names(PLAN.overlap_files(wildcards.measurement)),
        digests=lambda wildcards: digests(PLAN.overlap_files(wildcards.measurement)),
        code=code_digest("commcanary.stages.overlap"),
    script:
        "../scripts/overlap.py"


rule overlap_page:
    input:
        overlap=f"{RESULTS}/overlap/{{measurement}}.json",
    output:
        page=report(f"{RESULTS}/overlap/{{measurement}}.html", caption="../report/overlap.rst", category="Overlap"),
    log:
        f"{RESULTS}/logs/overlap_page/{{measurement}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/overlap_page/{{measurement}}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.reporting.overlap_page"),
    script:
        "../scripts/overlap_page.py"
