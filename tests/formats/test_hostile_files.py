"""Files that claim what they do not hold: refused at once, whatever their headers say.

Each is read under the limits of `python -m fuzz`, of time and of memory.
"""

from __future__ import annotations

import base64
import json
import struct
import zipfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fuzz.attack import SECONDS
from fuzz.target import Target
from fuzz.worker import attempt

from bdl import datasets
from bdl.config import read_yaml
from bdl.errors import BdlError, ConfigError, InputError
from bdl.formats import open_store, prepare, read_events, read_recordings
from bdl.formats.channel_names import channel_names
from bdl.formats.densities import read_densities
from bdl.recording import Recording, Recordings


def refused(folder: Path, read: Callable[[Path], object], match: str) -> None:
    """The reader gives our error, soon and in little memory."""
    begin = process_time()
    outcome, detail = attempt(Target("hostile", {}, (), read), folder)
    assert outcome == "refused", f"{outcome}: {detail}"
    assert match in detail
    assert process_time() - begin < SECONDS


def all_values(path: Path, **options: object) -> None:
    for recording in read_recordings(path, **options):
        assert recording.values.shape


def npy(shape: str, kind: str = "<f4") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()


def test_npz(tmp_path: Path):
    file = tmp_path / "a.npz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("values.npy", npy("(0, 2147483648)"))
    refused(tmp_path, lambda _: all_values(file, period=1.0), "2,147,483,648 columns")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("values.npy", npy("(1000000000, 2)"))
    refused(tmp_path, lambda _: all_values(file, period=1.0), "claims 8000000128 bytes")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("values.npy", npy("(12500000, 2)") + bytes(100_000_000))
    refused(tmp_path, lambda _: all_values(file, period=1.0), "more than 200 times")
    folder = tmp_path / "densities"
    folder.mkdir()
    file.rename(folder / "000000.npz")
    entry = {"id": "a", "file": "000000.npz", "types": ["x", "y"], "period": 1.0, "stride": 1}
    entry |= {"samples": 12_500_000, "kind": "events", "bounded": False}
    manifest = {"format": "bdl-densities", "version": 1, "recordings": [entry]}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    refused(folder, lambda path: [*read_densities(path)], "more than 200 times")


def test_parquet(tmp_path: Path):
    file = tmp_path / "a.parquet"
    # A note says that the lists of the only column have two billion entries each.
    note = pa.schema([("x", pa.list_(pa.float32(), 2**31 - 1))]).serialize()
    table = pa.table({"x": pa.array([None], pa.list_(pa.float32()))})
    table = table.replace_schema_metadata({"ARROW:schema": base64.b64encode(note)})
    pq.write_table(table, file, store_schema=False)
    refused(tmp_path, lambda _: all_values(file, period=1.0), "got a column of type")
    text = pa.Array.from_buffers(
        pa.string(),
        2,
        [None, pa.py_buffer(struct.pack("<3i", 0, 2, 4)), pa.py_buffer(b"\xff\xfeab")],
    )
    pq.write_table(pa.table({"recording": text, "x": [1.0, 2.0]}), file)
    refused(tmp_path, lambda _: all_values(file, period=1.0), "UTF8")
    events = pa.table({"recording": text, "event": text, "time": [1.0, 2.0]})
    pq.write_table(events, file)
    refused(tmp_path, lambda _: read_events(file), "UTF8")
    constant = pa.array(np.zeros(20_000_000, np.float32))
    pq.write_table(pa.table({"x": constant}), file, compression="zstd")
    assert file.stat().st_size < 1_000_000
    refused(tmp_path, lambda _: all_values(file, period=1.0), "more than 200 times")


def test_a_parquet_page_that_claims_a_gigabyte(tmp_path: Path):
    file = tmp_path / "a.parquet"
    values = np.random.default_rng(0).normal(size=60)
    pq.write_table(pa.table({"time": np.arange(60.0), "x": values}), file, use_dictionary=False)
    content = bytearray(file.read_bytes())
    place = pq.read_metadata(file).row_group(0).column(1).data_page_offset
    # Thrift: a page of an unknown kind, its size, its compressed size (0x4fffffff), the end.
    header = bytes([0x15, 0x70, 0x15, 0x74, 0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0x09, 0])
    content[place : place + len(header)] = header
    file.write_bytes(content)
    refused(tmp_path, lambda _: all_values(file), "a.parquet")


def test_a_batch_of_nulls_that_takes_no_space(tmp_path: Path):
    file = tmp_path / "a.arrow"
    batch = pa.record_batch({"x": pa.Array.from_buffers(pa.null(), 2**31 - 1, [None])})
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    refused(tmp_path, lambda _: all_values(file, period=1.0), "more than 200 times")


def edf(count: int, label: str = "x", top: str = "100", bottom: str = "-100") -> bytes:
    widths = {label: 16, "": 80, "uV": 8, bottom: 8, top: 8, "-32768": 8, "32767": 8}
    head = b"0".ljust(8) + b" " * 160 + b"01.01.2001.01.01" + f"{256 * (count + 1):<8}".encode()
    head += b" " * 44 + b"1       1       " + f"{count:<4}".encode()
    fields = [text.encode().ljust(width) for text, width in widths.items()]
    fields += [b" " * 80, b"1".ljust(8), b" " * 32]
    return head + b"".join(field * count for field in fields) + b"\0\0" * count


def test_edf(tmp_path: Path):
    file = tmp_path / "a.edf"
    file.write_bytes(edf(9999))
    begin = process_time()
    assert len({*read_recordings(file).infos[0].channels}) == 9999
    assert process_time() - begin < SECONDS
    for bottom, top in (("-1e308", "1e308"), ("0", "1e39"), ("nan", "1"), ("1e38", "9e38")):
        file.write_bytes(edf(1, top=top, bottom=bottom))
        refused(tmp_path, lambda _: all_values(file), "signal 0 (x)")


def test_wfdb(tmp_path: Path):
    file = tmp_path / "b.hea"
    (tmp_path / "b.dat").write_bytes(bytes(1500 * 20))
    line = "b.dat 16 200 16 0 0 0 0 x\n"
    file.write_text("b 1500 100 10\n" + line * 1500)
    refused(tmp_path, lambda _: all_values(file), "1,500 signals")
    file.write_text("b 1 100 100000000000\n" + line.replace(" 16 200", " 516 200"))
    refused(tmp_path, lambda _: all_values(file), "more than 200 times")
    file.write_text("b 1 100 100\n" + line.replace(" 16 200", " 999 200"))
    refused(tmp_path, lambda _: all_values(file), "999")
    file.write_text("b/2 1 100 200\nb 100\nb 100\n")
    refused(tmp_path, lambda _: all_values(file), "a segment of itself")
    (tmp_path / "c.hea").write_text("c 1 100 10\n" + line)
    file.write_text("b/2 1 100 100000000000\nc 10\n~ 99999999990\n")
    refused(tmp_path, lambda _: all_values(file), "more than 200 times")


def test_store(tmp_path: Path):
    prepare(Recordings.of([Recording.of(np.zeros(5), id="a", period=1.0)]), tmp_path / "store")
    file = tmp_path / "store" / "manifest.json"
    whole = file.read_text()
    for old, new, match in (
        ('"notes": []', f'"notes": {"[" * 100_000}', "nested too deeply"),
        ('"notes": []', f'"notes": {"[" * 60}{"]" * 60}', "nested too deeply"),
        ('"group": null', '"group": ["g"]', "its group: a text expected"),
        ('"id": "a"', '"id": "\\ud800"', "not valid Unicode"),
        ('"samples": 5', f'"samples": {2**60}', "0 or more expected"),
        ('"period": 1.0', '"period": 1e999', "not a finite number"),
        ('"channels": ["channel_0"]', '"channels": []', "has no channels"),
        ('"channels": ["channel_0"]', f'"channels": {json.dumps([*map(str, range(20000))])}',
         "20,000 columns"),
    ):  # fmt: skip
        assert old in whole
        file.write_text(whole.replace(old, new))
        refused(tmp_path / "store", lambda path: [*open_store(path)], match)
    file.write_text("[" * 100_000)
    refused(tmp_path / "store", lambda path: [*read_recordings(path)], "no file matching")


def test_yaml(tmp_path: Path):
    file = tmp_path / "a.yaml"
    doubled = [f"{c}: &{c} [*{b}, *{b}]\n" for b, c in pairwise("abcdefghijklmnopqrstuvw")]
    for text, match in (
        ("[" * 1_000_000, "nested too deeply"),
        ("{a: " * 100_000, "nested too deeply"),
        ("- " * 100_000, "nested too deeply"),
        ("a: &a [1, 1]\n" + "".join(doubled), "more than 1,000,000 values"),
        ("a: !!python/object:os.system x", "not YAML"),
    ):  # fmt: skip
        file.write_text(text)
        refused(tmp_path, lambda _: read_yaml(file), match)


def test_paths_and_patterns(tmp_path: Path):
    (tmp_path / "a.csv").write_text("x\n1\n2\n")
    for read in (read_recordings, read_events, lambda path: datasets.load("sleep", path)):
        with pytest.raises(InputError, match="File name too long"):
            read("a" * 5000)
    with pytest.raises(ConfigError, match=r"--pattern .* below the folder"):
        read_recordings(tmp_path, pattern="/etc/*")
    with pytest.raises(BdlError, match="--pattern"):  # Python 3.13 takes it for *x
        read_recordings(tmp_path, pattern="**x")
    with pytest.raises(ConfigError, match="not a regular expression"):
        read_recordings(tmp_path, period=1.0, group_pattern="(a)\\1")
    (tmp_path / "a.csv").rename(tmp_path / f"{'a' * 200}.csv")
    begin = process_time()
    [info] = read_recordings(tmp_path, period=1.0, group_pattern="(a+)+b$").infos
    assert info.group is None
    assert process_time() - begin < SECONDS
    odd = tmp_path / "odd"
    odd.mkdir()
    (odd / "a\udcff.csv").write_text("x\n1\n2\n")
    with pytest.raises(InputError, match=r"not valid Unicode|surrogates not allowed"):
        read_recordings(odd, period=1.0)


def test_a_period_of_centuries_in_a_zone(tmp_path: Path):
    file = tmp_path / "a.csv"
    file.write_text(
        "--- Data File Created By ActiGraph date format M/d/yyyy ---\nStart Time 12:00:00\n"
        "Start Date 3/1/2024\nEpoch Period (hh:mm:ss) 99999999:00:00\n-----\n-----\nAxis1\n1\n2\n"
    )
    refused(tmp_path, lambda _: all_values(file, zone="Europe/Berlin"), "years in Europe/Berlin")


def test_many_equal_names_take_linear_time():
    begin = process_time()
    names = channel_names(["x", "x (2)"] * 5000)
    assert len({*names}) == 10_000
    assert process_time() - begin < SECONDS


HOSTILE_PICKLES = {
    # An object array over raw bytes: pointers that lead anywhere.
    "objects": b"\x80\x04cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85C\x01bt"
    b"R(K\x01K\x02\x85cnumpy\ndtype\n(\x8c\x02O8K\x00K\x01tR(K\x03\x8c\x01|NNNJ\xff\xff\xff\xffJ"
    b"\xff\xff\xff\xffK?tbK\x00C\x10AAAAAAAABBBBBBBBtb.",
    # An attribute set on a class that the loader resolves.
    "attribute": b"\x80\x04cpandas\nDataFrame\n}\x8c\x05shapeK\x01sb.",
    # A memo index that would take 34 GB in the loader written in C.
    "memo": b"\x80\x04]r\xff\xff\xff\xff.",
    "zeros": b"\x80\x05\x96\x00\x00\x00\x00\x10\x00\x00\x00.",  # sixty-four gigabytes
    "length": b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
}


@pytest.mark.parametrize("name", HOSTILE_PICKLES)
def test_pickles(name: str, tmp_path: Path):
    (tmp_path / "martian_bow_shock_dataset.pkl").write_bytes(HOSTILE_PICKLES[name])
    (tmp_path / "martian_bow_shock_events.csv").write_text("events\n")
    read = lambda path: datasets.load("bowshock", path, trust=True)  # noqa: E731
    refused(tmp_path, read, "cannot be read as a pickled data frame")
