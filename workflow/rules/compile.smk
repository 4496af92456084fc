rule compile:
    input:
        trace=compiled_from,
    output:
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    log:
        f"{RESULTS}/logs/compile/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/compile/{{workload}}.{{representation}}.tsv"
    wildcard_constraints:
        representation=representations_by(lambda method: method != "searched"),
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 100, 10, 2),
    params:
        timing=lambda wildcards: PLAN.timing(wildcards.workload, wildcards.representation),
        code=code_digest("commcanary.stages.compile"),
    script:
        "../scripts/compile.py"
