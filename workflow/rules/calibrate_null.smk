rule calibrate_null:
    input:
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    output:
        calibration=f"{RESULTS}/{{workload}}/{{representation}}/null_calibration.json",
    log:
        f"{RESULTS}/logs/calibrate_null/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/calibrate_null/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 150, 30, 20),
    params:
        configuration=lambda wildcards: plain(PLAN.baseline_configuration(wildcards.workload)),
        settings=plain(PLAN.config.null_calibration),
        thresholds=plain(PLAN.config.thresholds),
        model=lambda wildcards: PLAN.model(wildcards.workload),
        assumptions=lambda wildcards: PLAN.workload(wildcards.workload).assume,
        code=code_digest("commcanary.stages.calibrate_null"),
    script:
        "../scripts/calibrate_null.py"
