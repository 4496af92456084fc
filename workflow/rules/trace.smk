rule trace:
    output:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
    log:
        f"{RESULTS}/logs/trace/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/trace/{{workload}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 60, 10, 1, sources_of),
    params:
        source=lambda wildcards: plain(PLAN.without_folders(wildcards.workload).source),
        files=lambda wildcards: names(sources_of(wildcards)),
        digests=lambda wildcards: digests(sources_of(wildcards)),
        code=code_digest("commcanary.stages.trace"),
    script:
        "../scripts/trace.py"
