rule ablate:
    input:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
    output:
        costs=f"{RESULTS}/{{workload}}/ablations.json",
    log:
        f"{RESULTS}/logs/ablate/{{workload}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/ablate/{{workload}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 200, 15, 20),
    params:
        ablations=list(PLAN.config.ablation_costs),
        configurations=lambda wildcards: plain(PLAN.configurations(wildcards.workload)),
        tolerances=plain(PLAN.config.tolerances),
        replay=replay_settings,
        code=code_digest("commcanary.stages.ablate"),
    script:
        "../scripts/ablate.py"
