rule summary:
    input:
        traces=[f"{RESULTS}/{workload}/trace.parquet" for workload in PLAN.workloads],
        canaries=everywhere("canary.parquet"),
        comparisons=everywhere("comparisons/index.json"),
        behaviors=everywhere("behavior.json"),
        exports=everywhere("param.account.json", only=lambda representation: representation.method == "canary"),
    output:
        cells=f"{RESULTS}/tables/cells.parquet",
        cells_csv=f"{RESULTS}/tables/cells.csv",
        representations=f"{RESULTS}/tables/representations.parquet",
        representations_csv=f"{RESULTS}/tables/representations.csv",
        exports=f"{RESULTS}/tables/exports.parquet",
        exports_csv=f"{RESULTS}/tables/exports.csv",
    params:
        config_file=str(CONFIG_FILE),
        plan=plain(PLAN.config),
        results=RESULTS,
        code=code_digest("commcanary.stages.summary"),
    log:
        f"{RESULTS}/logs/summary.log",
    benchmark:
        f"{RESULTS}/benchmarks/summary/campaign.tsv"
    conda:
        "../../environment.yml"
    script:
        "../scripts/summary.py"
