"""The kernel cache follows the sources of kernels and of what is compiled into them."""

from __future__ import annotations

from pathlib import Path

import pytest

from commcanary.campaign.engine import engine_environment
from commcanary.campaign.kernel_cache import kernel_cache, kernel_digest

KERNEL = "from numba import njit\nfrom package.helper import step\n@njit(cache=True)\ndef run():\n    return step()\n"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "package"
    (folder / "inner").mkdir(parents=True)
    (folder / "kernel.py").write_text(KERNEL)
    (folder / "helper.py").write_text("import package.inner.deep\ndef step():\n    return 1\n")
    (folder / "inner" / "deep.py").write_text("ONE = 1\n")
    (folder / "page.py").write_text("TITLE = 'a'\n")
    return folder


@pytest.mark.parametrize(
    ("file", "text", "moves"),
    [
        ("kernel.py", KERNEL.replace("step()\n", "step() + 1\n"), True),
        ("helper.py", "import package.inner.deep\ndef step():\n    return 2\n", True),
        ("inner/deep.py", "ONE = 2\n", True),
        ("inner/deep.py", "# said otherwise\nONE = 1\n", False),
        ("page.py", "TITLE = 'b'\n", False),
    ],
)
def test_an_edit_moves_the_cache_where_it_can_change_a_kernel(package: Path, file: str, text: str, moves: bool) -> None:
    before = kernel_digest(package)
    (package / file).write_text(text)
    assert (kernel_digest(package) != before) is moves


def test_the_engine_caches_kernels_by_their_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    found = engine_environment(tmp_path)["NUMBA_CACHE_DIR"]
    assert found == str(kernel_cache(tmp_path.resolve() / ".snakemake"))
    assert Path(found).parent == tmp_path.resolve() / ".snakemake" / ".numba"
    monkeypatch.setenv("NUMBA_CACHE_DIR", "elsewhere")
    assert engine_environment(tmp_path)["NUMBA_CACHE_DIR"] == "elsewhere"
