# The last rule: refuses an incomplete campaign, then seals it. Reports and comparisons stand behind their indexes.
rule seal:
    input:
        sealed=[f"{RESULTS}/{path}" for path in sealed_files(PLAN) if is_output(path)],
    output:
        seal=f"{RESULTS}/seal.json",
        sums=f"{RESULTS}/seal.sha256",
    log:
        f"{RESULTS}/logs/seal.log",
    benchmark:
        f"{RESULTS}/benchmarks/seal/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        config=config_file,
        code=code_digest("commcanary.stages.seal"),
    script:
        "../scripts/seal.py"
