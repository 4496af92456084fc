# Configuration files count by what they resolve to, sources by their content: both are params.
rule manifest:
    input:
        config=ancient(CONFIG_FILE),
        sources=[path for workload in PLAN.workloads for path in PLAN.source_files(workload)],
        profiles=[path for name in PLAN.overlaps for path in PLAN.overlap_files(name)],
        studied=[path for name in PLAN.studies for path in PLAN.study_files(name)],
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
        sources=lambda wildcards: [digests_of(workload) for workload in PLAN.workloads],
        profiles=[file_sha256(path) for name in PLAN.overlaps for path in PLAN.overlap_files(name)],
        studied=[file_sha256(path) for name in PLAN.studies for path in PLAN.study_files(name)],
        code=plain(code_digests()),
        environment=plain(locked_environment()),
    script:
        "../scripts/manifest.py"
