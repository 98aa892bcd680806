"""Fetching, from a server on this machine."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from bdl import datasets
from bdl.datasets import CHBMIT, MITDB, Dataset, Fraud, Sleep
from bdl.errors import ConfigError, InputError


class Server(ThreadingHTTPServer):
    """Serves ``files``; breaks off after ``limit`` bytes as often as ``breaks`` says."""

    files: dict[str, bytes]
    breaks = 0
    limit = 50_000
    ranges = True
    asked: list[tuple[str, str | None]]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.lstrip("/")
        asked = self.headers.get("Range")
        self.server.asked.append((name, asked))
        if name not in self.server.files:
            self.send_error(404)
            return
        data = self.server.files[name]
        first = int(asked[6:-1]) if asked and self.server.ranges else 0
        if first >= len(data) > 0 and asked and self.server.ranges:
            self.send_error(416)
            return
        self.send_response(206 if first else 200)
        self.send_header("Content-Length", str(len(data) - first))
        self.end_headers()
        body = data[first:]
        if self.server.breaks and len(body) > self.server.limit:
            self.server.breaks -= 1
            self.wfile.write(body[: self.server.limit])
            self.wfile.flush()
            self.connection.close()
            return
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


def listed(files: dict[str, bytes]) -> bytes:
    """The checksum list of files, as PhysioNet writes it."""
    lines = [f"{hashlib.sha256(data).hexdigest()} {name}\n" for name, data in files.items()]
    return "".join(lines).encode()


@pytest.fixture
def server():
    server = Server(("127.0.0.1", 0), Handler)
    server.asked = []
    rng = np.random.default_rng(0)
    names = [f"{name}.{suffix}" for name in ("101", "106") for suffix in ("hea", "dat", "atr")]
    server.files = {name: rng.bytes(400_000 if "dat" in name else 500) for name in names}
    server.files["RECORDS"] = b"101\n106\n"
    server.files["SHA256SUMS.txt"] = listed(server.files)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def url(server: Server) -> str:
    return f"http://127.0.0.1:{server.server_port}/"


def test_fetch_once(server, tmp_path):
    seen = []
    files = MITDB().fetch(tmp_path, url=url(server), progress=lambda *state: seen.append(state))
    wanted = set(server.files) - {"RECORDS", "SHA256SUMS.txt"}
    assert {file.name for file in files} == wanted
    assert ("101.dat", 400_000, 400_000) in seen
    # All files are present: only the list is requested again.
    server.asked.clear()
    MITDB().fetch(tmp_path, url=url(server).rstrip("/"))
    assert [name for name, _ in server.asked] == ["SHA256SUMS.txt"]


def test_what_was_fetched_loads(server, tmp_path, real):
    server.files = {name: (real("mitdb") / name).read_bytes()
                    for name in ("101.hea", "101.dat", "101.atr")}  # fmt: skip
    server.files["SHA256SUMS.txt"] = listed(server.files)
    MITDB().fetch(tmp_path, url=url(server))
    assert datasets.load("mitdb", tmp_path).recordings.ids == ("101",)


def test_only_some(server, tmp_path):
    files = MITDB().fetch(tmp_path, url=url(server), only=["106.*"])
    assert sorted(file.name for file in files) == ["106.atr", "106.dat", "106.hea"]
    with pytest.raises(InputError, match="none of its 7 files matches"):
        MITDB().fetch(tmp_path, url=url(server), only=["999.*"])


def test_a_broken_download_goes_on(server, tmp_path):
    server.breaks = 2
    MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    assert (tmp_path / "101.dat").read_bytes() == server.files["101.dat"]
    ranges = [asked for name, asked in server.asked if name == "101.dat"]
    assert ranges == [None, "bytes=50000-", "bytes=100000-"]
    assert [file.name for file in tmp_path.iterdir()] == ["101.dat"]


def test_a_later_run_goes_on(server, tmp_path):
    server.breaks = 3
    with pytest.raises(InputError, match="run the same command again to resume"):
        MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    assert not (tmp_path / "101.dat").exists()
    assert (tmp_path / "101.dat.part").stat().st_size == 150_000
    server.asked.clear()
    MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    assert ("101.dat", "bytes=150000-") in server.asked
    assert (tmp_path / "101.dat").read_bytes() == server.files["101.dat"]


def test_a_server_without_ranges(server, tmp_path):
    server.ranges, server.breaks = False, 1
    MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    assert (tmp_path / "101.dat").read_bytes() == server.files["101.dat"]


def test_a_part_that_is_whole_already(server, tmp_path):
    (tmp_path / "101.dat.part").write_bytes(server.files["101.dat"])
    MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    assert (tmp_path / "101.dat").read_bytes() == server.files["101.dat"]


def test_wrong_checksum_leaves_nothing(server, tmp_path):
    server.files["101.dat"] = server.files["101.dat"][:-1] + b"\x00\x01"
    with pytest.raises(InputError, match=r"101\.dat: .*hash"):
        MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    assert [*tmp_path.iterdir()] == []


def test_a_changed_file_is_fetched_again(server, tmp_path):
    (tmp_path / "101.hea").write_text("something else")
    MITDB().fetch(tmp_path, url=url(server), only=["101.hea"])
    assert (tmp_path / "101.hea").read_bytes() == server.files["101.hea"]


def test_missing_on_the_server(server, tmp_path):
    del server.files["101.dat"]
    with pytest.raises(InputError, match="404"):
        MITDB().fetch(tmp_path, url=url(server), only=["101.dat"])
    server.files.clear()
    with pytest.raises(InputError, match=r"SHA256SUMS\.txt: cannot be downloaded"):
        MITDB().fetch(tmp_path, url=url(server))


def test_folders_are_kept_and_never_left(server, tmp_path):
    server.files["chb01/chb01_01.edf"] = np.random.default_rng(0).bytes(3000)
    server.files["chb01/chb01-summary.txt"] = b"File Name: chb01_01.edf\n"
    server.files["SHA256SUMS.txt"] = listed(server.files)
    CHBMIT().fetch(tmp_path, url=url(server), only=["chb01/*"])
    assert (tmp_path / "chb01/chb01_01.edf").read_bytes() == server.files["chb01/chb01_01.edf"]
    server.files["SHA256SUMS.txt"] = f"{'0' * 64} chb01/../../x.edf\n".encode()
    with pytest.raises(InputError, match="outside the folder"):
        CHBMIT().fetch(tmp_path, url=url(server))
    server.files["SHA256SUMS.txt"] = b"<html>moved</html>"
    with pytest.raises(InputError, match="not a checksum and a name"):
        CHBMIT().fetch(tmp_path, url=url(server))


def test_no_server(tmp_path):
    with pytest.raises(InputError, match="cannot be downloaded"):
        MITDB().fetch(tmp_path, url="http://127.0.0.1:9/")


def test_kaggle_without_an_account(tmp_path):
    """Kaggle's client, alone in an empty home, is refused with a message that says what to do."""
    program = (
        "from bdl.datasets import Sleep\n"
        "from bdl.errors import InputError\n"
        "try:\n    Sleep().fetch('out')\n"
        "except InputError as error:\n    print(error)\n"
    )
    clean = {"HOME": str(tmp_path), "KAGGLE_CONFIG_DIR": str(tmp_path), "PATH": "/usr/bin",
             "KAGGLEHUB_CACHE": str(tmp_path), "NO_PROXY": "*",
             "PYTHONPATH": str(Path(datasets.__file__).parents[2])}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, env=clean,
        timeout=60, check=True,
    )  # fmt: skip
    assert "child-mind-institute-detect-sleep-states" in done.stdout
    assert "accepted the rules" in done.stdout


def test_terms_are_known_and_kaggle_has_no_mirrors():
    for kind, dataset in Dataset.kinds().items():
        if not kind.startswith("doctest") and kind != "tables":
            assert dataset.licence, kind
            assert dataset.citation, kind
    with pytest.raises(ConfigError, match="as a whole; leave out --only"):
        Fraud().fetch("x", only=["creditcard.csv"])
    with pytest.raises(ConfigError, match="no mirrors"):
        Sleep().fetch("x", url="http://127.0.0.1:9/")
