"""Archives: each importer takes the members that its format's tools write, and no more of them than a file may hold."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from commcanary.artifacts.input_limit import input_limit
from commcanary.errors import BudgetRefusal, InputRefusal
from commcanary.sources.containers import MemberNames, read_members
from commcanary.sources.recognise import source_of
from commcanary.sources.registry import SOURCES

from .fuzzing import INPUTS, fates_of_damaged
from .test_every_source import SAMPLES

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

READ_ARCHIVES = ["chakra", "kineto", "nccl-inspector", "nccl-log"]


def packed(path: Path, members: Mapping[str, bytes], mode: str = "w", beside: Iterable[tarfile.TarInfo] = ()) -> Path:
    """An archive of ``members`` by name behind a folder; ``beside`` are further members without content."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        folder = tarfile.TarInfo("job")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name, content in members.items():
            entry = tarfile.TarInfo(f"job/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for entry in beside:
            archive.addfile(entry)
    return path


def contents(name: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in SAMPLES[name]}


def zipped(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {f"{name.removesuffix('.gz')}.gz": gzip.compress(_plain(content)) for name, content in files.items()}


def _plain(content: bytes) -> bytes:
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.gz of gz"])
@pytest.mark.parametrize("name", READ_ARCHIVES)
def test_an_archive_holds_what_its_members_hold(name: str, kind: str, tmp_path: Path) -> None:
    files = contents(name)
    path = packed(
        tmp_path / "packed.bin",  # contents decide, not the name
        dict(reversed((zipped(files) if kind.endswith("of gz") else files).items())),
        "w:gz" if "tar.gz" in kind else "w",
        [tarfile.TarInfo("job/.DS_Store.log")],
    )
    trace, plain = (SOURCES[name].read(of).trace for of in ([path], SAMPLES[name]))
    assert trace.header.system == plain.header.system
    assert trace.events.signatures == plain.events.signatures
    assert trace.events.signature.tolist() == plain.events.signature.tolist()
    assert trace.events.gap_ns.tolist() == plain.events.gap_ns.tolist()
    assert [file.name for file in trace.header.source_files] == ["packed.bin"]
    assert {Path(of).name for of in trace.header.notes["files_of_ranks"].values()} == {
        f"{file.removesuffix('.gz')}.gz" if kind.endswith("of gz") else file for file in files
    }


@pytest.mark.parametrize(
    ("name", "member"),
    [
        ("nccl-log", "log.node-0.4000"),
        ("nccl-log", "stderr"),
        ("nccl-inspector", "node-0-pid4000.log"),
        ("nccl-inspector", "records.jsonl"),
        ("kineto", "rank0.json"),
        ("chakra", "job.0.et"),
    ],
)
def test_names_of_members(name: str, member: str, tmp_path: Path) -> None:
    """NCCL's logs are called whatever the job says; the others' files as their tools call them."""
    for called in (member, f"{member}.gz"):
        path = packed(tmp_path / "one.tar", {called: b""})
        with pytest.raises(InputRefusal) as refused:  # taken, and then refused for what it holds
            SOURCES[name].read([path])
        assert str(refused.value).startswith(f"{path}(job/{called}): ")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("kineto", "the archive holds no .json or .json.gz file; pack the profiles"),
        ("chakra", "the archive holds no .json, .json.gz, .et or .et.gz file; pack the execution traces"),
        (
            "nccl-inspector",
            "the archive holds no .log, .log.gz, .jsonl, .jsonl.gz, .json or .json.gz file; "
            "pack the files of NCCL_INSPECTOR_DUMP_DIR",
        ),
        ("nccl-log", "the archive holds no file; pack the logs"),
    ],
)
def test_an_archive_of_other_things(name: str, told: str, tmp_path: Path) -> None:
    """Links lead out of an archive, and hidden members are a file manager's: neither is read."""
    links = [tarfile.TarInfo(f"job/{at}.log") for at in range(2)]
    links[0].type, links[1].type = tarfile.SYMTYPE, tarfile.LNKTYPE
    for link in links:
        link.linkname = "/etc/hostname"
    path = packed(tmp_path / "other.tar", {".log": b"x"}, beside=links)
    with pytest.raises(InputRefusal) as refused:
        SOURCES[name].read([path])
    assert str(refused.value) == f"{path}: {told}"


@pytest.mark.parametrize("name", READ_ARCHIVES)
def test_a_member_that_swells_is_stopped(name: str, tmp_path: Path) -> None:
    member = {"kineto": "a.json", "chakra": "a.0.json"}.get(name, "a.log")
    swelling = gzip.compress(b"{" + b" " * 3_000_000)
    path = packed(tmp_path / "bomb.tar.gz", {f"{member}.gz": swelling}, "w:gz")
    assert path.stat().st_size < 20_000
    with input_limit(1_000_000), pytest.raises(BudgetRefusal, match=r"bomb\.tar\.gz\(job/a\..*more than the 1,000,000"):
        SOURCES[name].read([path])


@pytest.mark.parametrize("mode", ["w", "w:gz"])
@pytest.mark.parametrize("name", READ_ARCHIVES)
def test_archives_are_told_apart_by_their_first_file(name: str, mode: str, tmp_path: Path) -> None:
    files = {called: _plain(content) for called, content in contents(name).items()}
    assert source_of(packed(tmp_path / "packed.tar", files, mode)) == name


def test_mutated_archives(tmp_path: Path) -> None:
    """Refused in one line or read, whichever byte of the headers is damaged; told apart without an error."""
    path = packed(tmp_path / "whole.tar", {"ä.log": b"x" * 300, "b.log": b"y"})
    whole = path.read_bytes().rstrip(b"\0") + bytes(1024)

    def read(_: random.Random) -> None:
        source_of(path)
        read_members(path, MemberNames("logs"), lambda member: member.stream.read())

    assert min(fates_of_damaged(path, whole, read, name="whole.tar").values()) > INPUTS // 20


def test_a_number_that_no_archive_has(tmp_path: Path) -> None:
    path = packed(tmp_path / "whole.tar", {"ä.log": b"x"})
    path.write_bytes(re.sub(rb"(\d+) path=", rb"99999999999999999999 path=", path.read_bytes()))
    with pytest.raises(InputRefusal, match=r"whole\.tar: the compressed data are damaged"):
        read_members(path, MemberNames("logs"), lambda member: member.stream.read())
    source_of(path)


def test_names_that_are_taken() -> None:
    some, all_ = MemberNames("logs", (".log", ".txt")), MemberNames("logs")
    names = ["a.log", "x/a.txt.gz", "a.log.bz2", "a.json", ".log", "x/.a.log", "log", "x.log/a"]
    assert [name for name in names if some.take(name)] == ["a.log", "x/a.txt.gz"]
    assert [name for name in names if all_.take(name)] == [
        "a.log",
        "x/a.txt.gz",
        "a.log.bz2",
        "a.json",
        "log",
        "x.log/a",
    ]
