"""A file appears whole or not at all, and nothing else is left in its folder."""

from __future__ import annotations

import errno
import os
import tempfile
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pytest

from commcanary.artifacts.atomic import write_atomically, write_bytes, write_text, writing_only_under
from commcanary.artifacts.files import check_suffix, format_of, read_artifact, write_artifact
from commcanary.artifacts.parquetfile import write_parquet
from commcanary.artifacts.trace_exchange import TRACE
from commcanary.artifacts.trace_table import from_stored, to_stored
from commcanary.errors import EXIT_REFUSED, InputRefusal, StorageRefusal, UsageError
from commcanary.sources.synthetic.ranking_inversion import ranking_inversion


def test_it_replaces_and_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "new folder" / "x.json"
    write_text(target, "é")
    write_bytes(target, b"second")
    assert target.read_bytes() == b"second"
    assert [p.name for p in target.parent.iterdir()] == ["x.json"]


def test_the_file_is_readable_by_others(tmp_path: Path) -> None:
    write_bytes(tmp_path / "x", b"")
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), OSError("short write")])
def test_a_full_disk_keeps_the_old_file(tmp_path: Path, error: OSError) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"old")

    def half(stream: BinaryIO) -> None:
        stream.write(b"ne")
        raise error

    with pytest.raises(StorageRefusal, match="cannot be written") as caught:
        write_atomically(target, half)
    assert caught.value.exit_code == EXIT_REFUSED
    assert caught.value.file == str(target)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("x", b"old")]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError, InputRefusal("a", "b", "c")])
def test_whatever_stops_the_writer_leaves_nothing(tmp_path: Path, stop: BaseException) -> None:
    def broken(stream: BinaryIO) -> None:
        stream.write(b"half")
        raise stop

    with pytest.raises(stop if isinstance(stop, type) else type(stop)):
        write_atomically(tmp_path / "x", broken)
    assert list(tmp_path.iterdir()) == []


def test_a_failing_sync_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageRefusal, match="Disk quota exceeded"):
        write_bytes(tmp_path / "x", b"data")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_without_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StorageRefusal, match="Permission denied"):
        write_bytes(tmp_path / "x", b"data")
    tmp_path.chmod(0o700)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_refuses_new_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(**_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(tempfile, "mkstemp", denied)
    with pytest.raises(StorageRefusal, match="Permission denied"):
        write_bytes(tmp_path / "x", b"data")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_under_a_table(tmp_path: Path) -> None:
    class Full(BytesIO):
        def write(self, _: object) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    stored = to_stored(ranking_inversion())
    with pytest.raises(StorageRefusal, match="No space left on device"):
        write_atomically(tmp_path / "x.parquet", lambda _: write_parquet(Full(), stored))
    assert list(tmp_path.iterdir()) == []


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a file")
    with pytest.raises(StorageRefusal, match="cannot be written"):
        write_bytes(tmp_path / "x" / "y", b"data")


@pytest.mark.parametrize("name", ["t.json", "t.parquet"])
def test_artifacts_go_and_come_by_suffix(tmp_path: Path, name: str) -> None:
    trace = ranking_inversion()
    write_artifact(tmp_path / name, TRACE, to_stored(trace))
    assert from_stored(read_artifact(tmp_path / name, TRACE)).content_id == trace.content_id
    assert format_of(tmp_path / name) == "commcanary.trace.v1"
    assert [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["t.csv", "t", "t.json.gz"])
def test_other_suffixes_are_a_usage_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"must end in \.json or \.parquet"):
        check_suffix(tmp_path / name)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_file_that_is_not_there_or_a_folder_or_empty(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"folder{suffix}").mkdir()
    (tmp_path / f"empty{suffix}").touch()
    for name, refusal in (("absent", StorageRefusal), ("folder", StorageRefusal), ("empty", InputRefusal)):
        with pytest.raises(refusal) as caught:
            read_artifact(tmp_path / f"{name}{suffix}", TRACE)
        assert caught.value.file == str(tmp_path / f"{name}{suffix}")
        assert caught.value.remedy


def test_confined_writing_reaches_nothing_outside_the_folder_not_even_by_a_link(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "link").symlink_to(outside)
    with writing_only_under(inside):
        write_bytes(inside / "deep" / "a", b"a")
        for path in (outside / "b", inside / ".." / "outside" / "b", inside / "link" / "b", tmp_path / "insider"):
            with pytest.raises(StorageRefusal, match=r"lies outside .*inside"):
                write_bytes(path, b"b")
    assert (inside / "deep" / "a").read_bytes() == b"a"
    assert list(outside.iterdir()) == []
    write_bytes(outside / "b", b"b")
    assert (outside / "b").exists()
