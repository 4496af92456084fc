rule trace:
    input:
        sources=lambda wildcards: PLAN.source_files(wildcards.workload),
    output:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
    log:
        f"{RESULTS}/logs/trace/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/trace/{{workload}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 60, 10, 1),
    params:
        source=lambda wildcards: plain(PLAN.workload(wildcards.workload).source),
        digests=lambda wildcards: digests_of(wildcards.workload),
        code=code_digest("commcanary.stages.trace"),
    script:
        "../scripts/trace.py"
