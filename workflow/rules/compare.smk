rule compare:
    input:
        indexes=reports_of,
    output:
        index=f"{RESULTS}/{{workload}}/{{representation}}/comparisons/index.json",
    log:
        f"{RESULTS}/logs/compare/{{workload}}.{{representation}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/compare/{{workload}}.{{representation}}.tsv"
    conda:
        "../../environment.yml"
    resources:
        **growing(700, 20, 10, 1),
    params:
        configurations=lambda wildcards: [str(c.name) for c in PLAN.configurations(wildcards.workload)],
        baseline=lambda wildcards: PLAN.baseline(wildcards.workload),
        thresholds=plain(PLAN.config.thresholds),
        confidence=PLAN.config.confidence,
        code=code_digest("commcanary.stages.compare"),
    script:
        "../scripts/compare.py"
