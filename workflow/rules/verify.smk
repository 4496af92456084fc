rule verify:
    input:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    output:
        behavior=f"{RESULTS}/{{workload}}/{{representation}}/behavior.json",
    log:
        f"{RESULTS}/logs/verify/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/verify/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 200, 15, 10),
    params:
        configurations=lambda wildcards: plain(PLAN.configurations(wildcards.workload)),
        replay=replay_settings,
        tolerances=plain(PLAN.config.tolerances),
        code=code_digest("commcanary.stages.verify_behavior"),
    script:
        "../scripts/verify.py"
