# The last rule: the page is there already when something came out otherwise than declared.
rule expectations:
    input:
        page=f"{RESULTS}/report.html",
        representations=f"{RESULTS}/tables/representations.parquet",
        calibrations=f"{RESULTS}/tables/null_calibrations.parquet",
    output:
        expectations=f"{RESULTS}/expectations.json",
    log:
        f"{RESULTS}/logs/expectations.log",
    benchmark:
        f"{RESULTS}/benchmarks/expectations/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.stages.expectations"),
    script:
        "../scripts/expectations.py"
