"""Run by the interpreter at its start in every process of a captured job.

Hands on to the ``sitecustomize`` that would have run without it, and leaves ``sys.path`` as that job knows it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve().parent
_CAPTURE = _HERE.parent
_ATTACHED = {
    "torch.distributed.distributed_c10d": "commcanary.capture.torch_calls",
    "torch.distributed._functional_collectives": "commcanary.capture.torch_functional",
    "torch.nn.parallel.distributed": "commcanary.capture.torch_ddp",
}


class _AndThenAttach:
    """The loader of a module of PyTorch that lets the recorder in as soon as the module is there."""

    def __init__(self, inner: Any, recording: str) -> None:
        self._inner, self._recording = inner, recording

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._inner.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._inner.exec_module(module)
        try:
            import_module(self._recording).attach(module)
        except Exception as error:
            print(f"commcanary capture: cannot attach to {module.__name__}: {error!r}", file=sys.stderr)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Finder:
    """Finds ``commcanary.capture`` beside this file, and PyTorch's modules where they are."""

    def __init__(self, attached: dict[str, str]) -> None:
        self._attached = attached

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if name == "commcanary.capture":
            file = str(_CAPTURE / "__init__.py")
            return spec_from_file_location(
                name, file, loader=SourceFileLoader(name, file), submodule_search_locations=[str(_CAPTURE)]
            )
        if name == "commcanary" and PathFinder.find_spec(name, path) is None:
            return ModuleSpec(name, None, is_package=True)  # not installed here: an empty package around capture
        if name in self._attached:
            spec = PathFinder.find_spec(name, path)
            if spec is not None and spec.loader is not None:
                loader: Any = _AndThenAttach(spec.loader, self._attached[name])
                spec.loader = loader
            return spec
        return None


def _start() -> None:
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != _HERE]
    if os.environ.get("COMMCANARY_CAPTURE_SESSION"):
        finder: Any = _Finder(_ATTACHED if os.environ.get("COMMCANARY_CAPTURE_AUTO") else {})
        sys.meta_path.insert(0, finder)
    following = PathFinder.find_spec("sitecustomize", sys.path)
    if following is not None and following.loader is not None:
        module = module_from_spec(following)
        sys.modules["sitecustomize"] = module
        following.loader.exec_module(module)


if __name__ == "sitecustomize":
    _start()
