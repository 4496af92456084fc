# One campaign: traces -> representations -> canaries -> reports -> verdicts -> exports -> tables, figures, page.
# What is run stands in the configuration file; what a stage does stands in src/commcanary/stages/.
from snakemake.utils import min_version

min_version("9.6")


if not workflow.configfiles:

    configfile: "config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/manifest.smk"
include: "workflow/rules/trace.smk"
include: "workflow/rules/represent.smk"
include: "workflow/rules/compile.smk"
include: "workflow/rules/search.smk"
include: "workflow/rules/replay.smk"
include: "workflow/rules/compare.smk"
include: "workflow/rules/verify.smk"
include: "workflow/rules/decide.smk"
include: "workflow/rules/calibrate_null.smk"
include: "workflow/rules/ablate.smk"
include: "workflow/rules/export.smk"
include: "workflow/rules/overlap.smk"
include: "workflow/rules/reconcile.smk"
include: "workflow/rules/overlap_study.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/expectations.smk"
include: "workflow/rules/seal.smk"


rule all:
    default_target: True
    input:
        f"{RESULTS}/report.html",
        f"{RESULTS}/timings.html",
        f"{RESULTS}/seal.json",


report: "workflow/report/campaign.rst"
