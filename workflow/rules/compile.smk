def compiled_from(wildcards):
    """The workload's trace for the canary itself, the control's trace for a control."""
    if method_of(wildcards) == "canary":
        return f"{RESULTS}/{wildcards.workload}/trace.parquet"
    return f"{RESULTS}/{wildcards.workload}/{wildcards.representation}/control.parquet"


rule compile:
    input:
        trace=compiled_from,
    output:
        canary=f"{RESULTS}/{{workload}}/{{representation}}/canary.parquet",
    params:
        timing=lambda wildcards: PLAN.timing(wildcards.workload, wildcards.representation),
        code=code_digest("commcanary.stages.compile"),
    log:
        f"{RESULTS}/logs/compile/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/compile/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    script:
        "../scripts/compile.py"
