rule reconcile:
    input:
        traces=lambda wildcards: expand(
            f"{RESULTS}/{{workload}}/trace.parquet", workload=PLAN.reconciliations[wildcards.job]
        ),
    output:
        reconciliation=f"{RESULTS}/reconcile/{{job}}.json",
    log:
        f"{RESULTS}/logs/reconcile/{{job}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/reconcile/{{job}}.tsv"
    conda:
        "../../environment.yml"
    params:
        names=lambda wildcards: list(PLAN.reconciliations[wildcards.job]),
        code=code_digest("commcanary.stages.reconcile"),
    script:
        "../scripts/reconcile.py"
