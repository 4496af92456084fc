rule decide:
    input:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    output:
        decisions=f"{RESULTS}/{{workload}}/{{representation}}/decisions.json",
        policy=f"{RESULTS}/{{workload}}/{{representation}}/policy.json",
    log:
        f"{RESULTS}/logs/decide/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/decide/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 200, 15, 10),
    params:
        configurations=lambda wildcards: plain(PLAN.configurations(wildcards.workload)),
        judged=decision_settings,
        replay=replay_settings,
        code=code_digest("commcanary.stages.decide"),
    script:
        "../scripts/decide.py"
