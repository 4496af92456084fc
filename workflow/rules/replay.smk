# One job replays one canary under a batch of configurations. The reports beside the index are cells with
# receipts of their own, not outputs: Snakemake would delete outputs before a job that only adds one cell.
rule replay:
    input:
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    output:
        index=f"{RESULTS}/{{workload}}/{{representation}}/reports/index-{{batch}}.json",
    log:
        f"{RESULTS}/logs/replay/{{workload}}.{{representation}}.{{batch}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/replay/{{workload}}.{{representation}}.{{batch}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 150, 15, 5),
        attempt=lambda wildcards, attempt: attempt,
    params:
        configurations=lambda wildcards: plain(PLAN.batches(wildcards.workload, BATCH_SIZE)[int(wildcards.batch)]),
        replay=replay_settings,
        code=code_digest("commcanary.stages.replay"),
    script:
        "../scripts/replay.py"
