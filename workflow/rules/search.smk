# The smallest canary that still behaves like its trace, and the ledger of all that was tried.
rule search:
    input:
        trace=f"{RESULTS}/{{workload}}/trace.parquet",
    output:
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
        ledger=f"{RESULTS}/{{workload}}/{{representation}}/canary.search.json",
    log:
        f"{RESULTS}/logs/search/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/search/{{workload}}.{{representation}}.tsv"
    wildcard_constraints:
        representation=representations_by(lambda method: method == "searched"),
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 200, 30, 20),
    params:
        configurations=lambda wildcards: plain(PLAN.configurations(wildcards.workload)),
        replay=replay_settings,
        tolerances=plain(PLAN.config.tolerances),
        code=code_digest("commcanary.stages.behavior_search"),
    script:
        "../scripts/search.py"
