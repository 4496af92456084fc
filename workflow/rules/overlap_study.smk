rule overlap_study:
    input:
        files=lambda wildcards: PLAN.study_files(wildcards.study),
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
        entry=lambda wildcards: plain(PLAN.study(wildcards.study)),
        digests=lambda wildcards: [file_sha256(path) for path in PLAN.study_files(wildcards.study)],
        code=code_digest("commcanary.stages.overlap_study"),
    script:
        "../scripts/overlap_study.py"
