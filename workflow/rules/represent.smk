rule represent:
    input:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
    output:
        trace=f"{RESULTS}/{{workload}}/{{representation}}/control.parquet",
    log:
        f"{RESULTS}/logs/represent/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/represent/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 100, 10, 2),
    params:
        method=method_of,
        configurations=lambda wildcards: plain(PLAN.configurations(wildcards.workload)),
        settings=lambda wildcards: PLAN.control_settings(wildcards.workload, wildcards.representation),
        replay=replay_settings,
        code=code_digest("commcanary.stages.represent"),
    script:
        "../scripts/represent.py"
