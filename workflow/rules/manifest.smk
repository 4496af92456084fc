rule manifest:
    input:
        config=CONFIG_FILE,
        configurations=config_files(CONFIG_FILE)[1:],
        sources=[path for workload in PLAN.workloads for path in PLAN.source_files(workload)],
    output:
        manifest=f"{RESULTS}/manifest.json",
    log:
        f"{RESULTS}/logs/manifest.log",
    benchmark:
        f"{RESULTS}/benchmarks/manifest/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        plan=plain(PLAN.config),
        source=source_digest(),
    script:
        "../scripts/manifest.py"
