rule overlap_study:
    output:
        study=report(
            f"{RESULTS}/overlap-study/{{study}}.json", caption="../report/overlap_study.rst", category="Overlap"
        ),
    log:
        f"{RESULTS}/logs/overlap_study/{{study}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/overlap_study/{{study}}.tsv"
    conda:
        "../../environment.yml"
    params:
        entry=lambda wildcards: plain(PLAN.study_without_folders(wildcards.study)),
        files=lambda wildcards: names(PLAN.study_files(wildcards.study)),
        digests=lambda wildcards: digests(PLAN.study_files(wildcards.study)),
        code=code_digest("commcanary.stages.overlap_study"),
    script:
        "../scripts/overlap_study.py"
