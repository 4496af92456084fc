# Configuration files count by what they resolve to, sources by their content: both are params.
rule manifest:
    output:
        manifest=f"{RESULTS}/manifest.json",
    log:
        f"{RESULTS}/logs/manifest.log",
    benchmark:
        f"{RESULTS}/benchmarks/manifest/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        plan=PLAN.resolved,
        config=config_file,
        sources=lambda wildcards: [digests(PLAN.source_files(workload)) for workload in PLAN.workloads],
        profiles=lambda wildcards: [digests(PLAN.overlap_files(name)) for name in PLAN.overlaps],
        studied=lambda wildcards: [digests(PLAN.study_files(name)) for name in PLAN.studies],
        code=plain(code_digests()),
        environment=plain(locked_environment()),
    script:
        "../scripts/manifest.py"
