"""What stands in a crate's ``README.md``: what it holds, how it is checked, under which licence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from commcanary.campaign.crate import METADATA, WORKFLOW, WORKFLOW_LICENSE, results_folder

if TYPE_CHECKING:
    from commcanary.campaign.crate import Run
    from commcanary.campaign.manifest import Manifest
    from commcanary.campaign.seal import Seal


def crate_readme(manifest: Manifest, seal: Seal, run: Run) -> str:
    """The text, in Markdown."""
    folder = results_folder(manifest)
    title = manifest.config.get("title")
    return "\n".join(
        [
            f"# CommCanary campaign {manifest.campaign}",
            "",
            *([title, ""] if title else []),
            f"- `{folder}/report.html`: what was run, what regressed, which representations can be trusted. "
            "Open it in a browser.",
            f"- `{folder}/`: {len(seal.files)} sealed files, the seal, and the history of the manifest.",
            f"- `{WORKFLOW}`, `workflow/`: the Snakemake workflow that made them, of CommCanary "
            f"{manifest.package_version}.",
            f"- `{METADATA}`: the same for machines (Workflow Run RO-Crate 0.5).",
            "",
            "## Check it",
            "",
            f"    cd {folder} && sha256sum --quiet --strict -c seal.sha256",
            "",
            "says that every file is the sealed one. With CommCanary, at the top of the unpacked crate,",
            "",
            f"    commcanary campaign verify {folder}",
            "",
            f"derives every result again. Merkle root: `{seal.merkle_root}`.",
            "",
            "## Licence",
            "",
            f"Results: {run.license}. Workflow: {WORKFLOW_LICENSE}.",
            "",
        ]
    )
