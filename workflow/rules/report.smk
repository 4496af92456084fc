rule figures:
    input:
        cells=f"{RESULTS}/tables/cells.parquet",
        representations=f"{RESULTS}/tables/representations.parquet",
    output:
        report(
            expand(f"{RESULTS}/figures/{{figure}}.svg", figure=FIGURES),
            caption="../report/figure.rst",
            category="Figures",
        ),
    log:
        f"{RESULTS}/logs/figures.log",
    benchmark:
        f"{RESULTS}/benchmarks/figures/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.reporting.figures"),
    script:
        "../scripts/figures.py"


rule page:
    input:
        manifest=f"{RESULTS}/manifest.json",
        cells=f"{RESULTS}/tables/cells.parquet",
        representations=f"{RESULTS}/tables/representations.parquet",
        exports=f"{RESULTS}/tables/exports.parquet",
        ablations=f"{RESULTS}/tables/ablations.parquet",
        calibrations=f"{RESULTS}/tables/null_calibrations.parquet",
        figures=expand(f"{RESULTS}/figures/{{figure}}.svg", figure=FIGURES),
        reconciliations=expand(f"{RESULTS}/reconcile/{{job}}.json", job=list(PLAN.reconciliations)),
    output:
        page=report(f"{RESULTS}/report.html", caption="../report/page.rst", category="Report"),
    log:
        f"{RESULTS}/logs/page.log",
    benchmark:
        f"{RESULTS}/benchmarks/page/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.reporting.campaign_page"),
    script:
        "../scripts/page.py"


# Apart from the page, because it differs from run to run and the page must not.
rule timings:
    input:
        seal=f"{RESULTS}/seal.json",
    output:
        page=report(f"{RESULTS}/timings.html", caption="../report/timings.rst", category="Report"),
    log:
        f"{RESULTS}/logs/timings.log",
    benchmark:
        f"{RESULTS}/benchmarks/timings/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.reporting.timings_page"),
    script:
        "../scripts/timings.py"


rule wide:
    input:
        cells=f"{RESULTS}/tables/cells.parquet",
    output:
        wide=report(f"{RESULTS}/tables/wide.csv", caption="../report/wide.rst", category="Tables"),
    log:
        f"{RESULTS}/logs/wide.log",
    benchmark:
        f"{RESULTS}/benchmarks/wide/campaign.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.reporting.wide"),
    script:
        "../scripts/wide.py"


# One page over every sealed campaign beside this one: `snakemake report`, not part of a campaign itself.
rule report:
    input:
        seals=sorted({f"{RESULTS}/seal.json", *glob("results/*/seal.json")}),
    output:
        index=report("results/index.html", caption="../report/campaigns.rst", category="Campaigns"),
    log:
        "results/index.log",
    conda:
        "../../environment.yml"
    params:
        code=code_digest("commcanary.reporting.index_page"),
    script:
        "../scripts/report.py"
