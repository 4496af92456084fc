rule export:
    input:
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    output:
        param=f"{RESULTS}/{{workload}}/{{representation}}/param.json",
        account=f"{RESULTS}/{{workload}}/{{representation}}/param.account.json",
    log:
        f"{RESULTS}/logs/export/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/export/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 100, 10, 2),
    params:
        dtype=lambda wildcards: PLAN.workload(wildcards.workload).param_dtype,
        skip_unsupported=lambda wildcards: PLAN.workload(wildcards.workload).param_skip_unsupported,
        code=code_digest("commcanary.stages.export_param"),
    script:
        "../scripts/export.py"
