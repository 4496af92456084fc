"""Inspector files as the plugin writes them (NCCL 2.30, format v4.0; v4.3 where records follow a marker), by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from commcanary.artifacts.trace import Trace

WORLD = "0x7f8c496ae9f661"
START_US = 1_790_000_000_000_000
SIZE = 1 << 20


def head(rank: int, ranks: int = 2, communicator: str = WORLD, pid: int | None = None, **more: Any) -> dict[str, Any]:
    """Header and metadata; the process' number is that of its rank unless given."""
    return {
        "header": {"id": communicator, "comm_name": "unknown", "rank": rank, "n_ranks": ranks, "nnodes": 1, **more},
        "metadata": {
            "inspector_output_format_version": "v4.0",
            "git_rev": "",
            "rec_mechanism": "nccl_profiler_interface",
            "dump_timestamp_us": START_US + 10_000_000,
            "hostname": "node-0",
            "pid": 4000 + rank if pid is None else pid,
        },
    }


def collective(number: int, name: str = "AllReduce", size: int = SIZE, us: int = 100, **more: Any) -> dict[str, Any]:
    """``coll_perf`` without times."""
    return {
        "coll_perf": {
            "coll": name,
            "coll_sn": number,
            "coll_msg_size_bytes": size,
            "coll_exec_time_us": us,
            "coll_timing_source": "kernel_gpu",
            "coll_algobw_gbs": 1.5,
            "coll_busbw_gbs": 1.5,
            **more,
        }
    }


def message(number: int, name: str, peer: int, size: int = SIZE, us: int = 50, **more: Any) -> dict[str, Any]:
    """``p2p_perf`` without times."""
    return {
        "p2p_perf": {
            "p2p": name,
            "p2p_sn": number,
            "p2p_peer": peer,
            "p2p_msg_size_bytes": size,
            "p2p_exec_time_us": us,
            "p2p_timing_source": "kernel_gpu",
            "p2p_algobw_gbs": 1.5,
            "p2p_busbw_gbs": 1.5,
            **more,
        }
    }


def times(start_us: int, end_us: int, what: str = "coll", channels: int = 1) -> dict[str, Any]:
    """What verbose records add, in us from ``START_US``."""
    kernels = [
        {
            "channel_id": channel,
            "kernel_start_ts": START_US + start_us + 10,
            "kernel_stop_ts": START_US + end_us - channel,
            "kernel_record_ts": START_US + end_us - channel,
        }
        for channel in range(channels)
    ]
    return {
        "event_trace_ts": {
            f"{what}_start_ts": START_US + start_us,
            f"{what}_stop_ts": START_US + start_us + 5,
            "kernel_events": kernels,
        }
    }


def marker(collectives: int, messages: int = 0, dropped: int = 0) -> dict[str, Any]:
    """``dump_stats`` of formats v4.1 and later."""
    return {
        "dump_stats": {
            "coll_records": collectives,
            "coll_dropped_total": dropped,
            "coll_dropped_since_last_dump": dropped,
            "p2p_records": messages,
            "p2p_dropped_total": 0,
            "p2p_dropped_since_last_dump": 0,
        }
    }


def written(path: Path, lines: Iterable[dict[str, Any]]) -> Path:
    """A file with one JSON object a line, as compact as the plugin's."""
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
    return path


def job(folder: Path, *ranks: Iterable[dict[str, Any]], **more: Any) -> list[Path]:
    """A file a rank, on one communicator of as many ranks."""
    return [
        written(
            folder / f"node-0-pid{4000 + rank}.log",
            [{**head(rank, len(ranks), **more), **record} for record in records],
        )
        for rank, records in enumerate(ranks)
    ]


def durations(trace: Trace) -> list[dict[str, int | None]]:
    """How long each rank ran every event, in us."""
    return [json.loads(text or "{}")["execution_us"] for text in trace.metadata or ()]
