rule summary:
    input:
        traces=[f"{RESULTS}/{workload}/trace.parquet" for workload in PLAN.workloads],
        canaries=everywhere("canary.parquet"),
        comparisons=everywhere("comparisons/index.json"),
        behaviors=everywhere("behavior.json"),
        ablations=[f"{RESULTS}/{workload}/ablations.json" for workload in PLAN.workloads if PLAN.config.ablation_costs],
        calibrations=[f"{RESULTS}/{w}/{r}/null_calibration.json" for w, r in PLAN.calibrated()],
        policies=everywhere("policy.json"),
        exports=everywhere("param.account.json", only=lambda representation: representation.method == "canary"),
    output:
        cells=f"{RESULTS}/tables/cells.parquet",
        cells_csv=f"{RESULTS}/tables/cells.csv",
        representations=f"{RESULTS}/tables/representations.parquet",
        representations_csv=f"{RESULTS}/tables/representations.csv",
        exports=f"{RESULTS}/tables/exports.parquet",
        exports_csv=f"{RESULTS}/tables/exports.csv",
        ablations=f"{RESULTS}/tables/ablations.parquet",
        ablations_csv=f"{RESULTS}/tables/ablations.csv",
        calibrations=f"{RESULTS}/tables/null_calibrations.parquet",
        calibrations_csv=f"{RESULTS}/tables/null_calibrations.csv",
    log:
        f"{RESULTS}/logs/summary.log",
    benchmark:
        f"{RESULTS}/benchmarks/summary/campaign.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(1000, 20, 15, 1),
    params:
        config=config_file,
        plan=PLAN.resolved,
        code=code_digest("commcanary.stages.summary"),
    script:
        "../scripts/summary.py"
