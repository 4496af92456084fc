"""The part of a capture that runs inside the captured job: standard library only, imports nothing of this package.

``commcanary capture`` puts ``startup/`` on the child's PYTHONPATH. There ``sitecustomize`` makes this package
importable in every process of the job, whether or not CommCanary is installed for its interpreter, and, with
``--auto``, attaches the recorder to ``torch.distributed``.
"""

from __future__ import annotations

from commcanary.capture.explicit import record_collective

__all__ = ["record_collective"]
