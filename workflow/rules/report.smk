FIGURES = ("inversion", "latency", "regressions", "trust", "sizes")


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
    params:
        code=code_digest("commcanary.reporting.figures"),
    log:
        f"{RESULTS}/logs/figures.log",
    benchmark:
        f"{RESULTS}/benchmarks/figures/campaign.tsv"
    conda:
        "../../environment.yml"
    script:
        "../scripts/figures.py"


rule page:
    input:
        manifest=f"{RESULTS}/manifest.json",
        cells=f"{RESULTS}/tables/cells.parquet",
        representations=f"{RESULTS}/tables/representations.parquet",
        exports=f"{RESULTS}/tables/exports.parquet",
        figures=expand(f"{RESULTS}/figures/{{figure}}.svg", figure=FIGURES),
    output:
        page=report(f"{RESULTS}/report.html", caption="../report/page.rst", category="Report"),
    params:
        code=code_digest("commcanary.reporting.campaign_page"),
        benchmarks=f"{RESULTS}/benchmarks",
    log:
        f"{RESULTS}/logs/page.log",
    benchmark:
        f"{RESULTS}/benchmarks/page/campaign.tsv"
    conda:
        "../../environment.yml"
    script:
        "../scripts/page.py"
