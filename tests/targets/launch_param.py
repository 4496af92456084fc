"""Start PARAM's trace replay with the class attributes that its versions since 8b87afd, 3369d5e, fb81f66
and f3b1968 read but never set. Nothing in the checkout is edited. Arguments are those of commsTraceReplay.
"""

from __future__ import annotations

import argparse
import runpy


def main() -> None:
    from param_bench.train.comms.pt.comms_utils import commsArgs, paramCommsBench
    from param_bench.train.comms.pt.pytorch_backend_utils import collectiveArgsHolder

    options = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    options.add_argument("--z", "--blocking", type=int, default=0)
    blocking = bool(options.parse_known_args()[0].z)

    argparse.Namespace.use_device_time = False
    collectiveArgsHolder.use_triton = False
    # properties, because the bench and the parser write to their objects: --z is honoured again, and a
    # broadcast starts from its own root (PARAM's own stand-in for an unknown root is rank 0)
    paramCommsBench.is_blocking = property(lambda bench: blocking, lambda bench, value: None)
    commsArgs.srcOrDst = property(lambda entry: 0 if entry.root is None else entry.root)
    runpy.run_module("param_bench.train.comms.pt.commsTraceReplay", run_name="__main__")


if __name__ == "__main__":
    main()
