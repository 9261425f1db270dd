import hashlib
import http.server
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tiny_archives import Mirror, pack

from heldout.corpora.archives import read_members
from heldout.corpora.download import PARTS, WAYS_OUT, fetch, read_sources
from heldout.corpora.names import ARCHIVES, raw_files
from heldout.errors import InputError

FILE = "cran.tar.gz"


@pytest.fixture
def mirror(tmp_path: Path) -> Mirror:
    return Mirror(tmp_path)


@dataclass
class Server:
    """A loopback HTTP server: what it answers, and what it was asked."""

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    announced: dict[str, int] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)
    requests: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.requests.append(self.path)
            body = state.bodies.get(self.path)
            if body is None or state.failures.get(self.path, 0):
                state.failures[self.path] = state.failures.get(self.path, 1) - 1
                self.send_error(404 if body is None else 503)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(state.announced.get(self.path, len(body))))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as httpd:
        thread = threading.Thread(target=httpd.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        state.url = f"http://127.0.0.1:{httpd.server_port}"
        yield state
        httpd.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def refused_url() -> str:
    """Return an address of this machine on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}/{FILE}"


def publish(mirror: Mirror, urls: str, sha256: str | None = None) -> bytes:
    """Enter public addresses for the tiny Cranfield and return the right bytes."""
    row = mirror.rows[FILE]
    mirror.enter(FILE, urls, row.sha256 if sha256 is None else sha256, row.content_sha256)
    return (mirror.folder / FILE).read_bytes()


def assert_refused(mirror: Mirror, raw: Path, *parts: str, use_mirror: bool = False) -> None:
    """Fetch must fail in one line that has all parts and both ways out, and leave the folder as it was."""
    raw.mkdir(exist_ok=True)
    before = {path: path.read_bytes() for path in raw.iterdir()}
    with pytest.raises(InputError) as caught:
        fetch(FILE, mirror.table, raw / FILE, mirror.folder if use_mirror else None, retries=0)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{FILE}: ")
    assert message.endswith(WAYS_OUT)
    for part in ("expected", "found", *parts):
        assert part in message
    assert {path: path.read_bytes() for path in raw.iterdir()} == before


def test_mirror_copy_is_whole_and_unverified_by_packing(mirror: Mirror, tmp_path: Path) -> None:
    publish(mirror, "", sha256="0" * 64)  # packed again: the archive's own checksum is not asked of a mirror
    path = fetch(FILE, mirror.table, tmp_path / "raw" / FILE, mirror.folder)
    assert path == tmp_path / "raw" / FILE
    assert path.read_bytes() == (mirror.folder / FILE).read_bytes()
    assert [p.name for p in path.parent.iterdir()] == [FILE]
    stop = fetch("english.stop", mirror.table, tmp_path / "raw" / "another-name", mirror.folder)
    assert stop.read_bytes() == (mirror.folder / "english.stop").read_bytes()


def test_missing_edited_truncated_and_incomplete_mirror_files(mirror: Mirror, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    fetch("med.tar.gz", mirror.table, raw / "med.tar.gz", mirror.folder)  # finished work survives what follows
    whole = (mirror.folder / FILE).read_bytes()
    pack(mirror.folder / FILE, {"cran.all.1400": b".I 1\n.W\nto be or not to be\n"})
    assert_refused(mirror, raw, mirror.rows[FILE].content_sha256, "edited", use_mirror=True)
    pack(mirror.folder / FILE, {"cran.all": b""})
    assert_refused(mirror, raw, "the member cran.all.1400", use_mirror=True)
    (mirror.folder / FILE).write_bytes(whole[:-30])
    assert_refused(mirror, raw, "truncated", use_mirror=True)
    (mirror.folder / FILE).unlink()
    assert_refused(mirror, raw, str(mirror.folder / FILE), "No such file", use_mirror=True)
    assert [path.name for path in raw.iterdir()] == ["med.tar.gz"]


def test_unreachable_host(mirror: Mirror, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    url = refused_url()
    publish(mirror, url)
    assert_refused(mirror, tmp_path / "raw", url, "the host is unreachable")
    assert capfd.readouterr() == ("", "")


def test_first_address_fails_and_the_second_serves(mirror: Mirror, tmp_path: Path, server: Server) -> None:
    server.bodies["/right"] = publish(mirror, f"{refused_url()} {server.url}/gone {server.url}/right")
    path = fetch(FILE, mirror.table, tmp_path / "raw" / FILE, retries=0)
    assert path.read_bytes() == server.bodies["/right"]
    assert server.requests == ["/gone", "/right"]
    assert [p.name for p in path.parent.iterdir()] == [FILE]


def test_a_failed_download_is_tried_again(
    mirror: Mirror, tmp_path: Path, server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    server.bodies["/flaky"] = publish(mirror, f"{server.url}/flaky")
    server.failures["/flaky"] = 1
    fetch(FILE, mirror.table, tmp_path / "raw" / FILE, retries=1)
    assert server.requests == ["/flaky", "/flaky"]
    assert capfd.readouterr() == ("", "")


def test_status_and_broken_connection(mirror: Mirror, tmp_path: Path, server: Server) -> None:
    body = publish(mirror, f"{server.url}/gone")
    assert_refused(mirror, tmp_path / "raw", "HTTP status 404")
    publish(mirror, f"{server.url}/half")
    server.bodies["/half"], server.announced["/half"] = body[: len(body) // 2], len(body)
    assert_refused(mirror, tmp_path / "raw", "broke off")


def test_truncated_download_with_and_without_a_checksum(mirror: Mirror, tmp_path: Path, server: Server) -> None:
    body = publish(mirror, f"{server.url}/half")
    server.bodies["/half"] = body[: len(body) // 2]
    digest = hashlib.sha256(server.bodies["/half"]).hexdigest()
    assert_refused(mirror, tmp_path / "raw", mirror.rows[FILE].sha256, digest)
    publish(mirror, f"{server.url}/half", sha256="")
    assert_refused(mirror, tmp_path / "raw", "truncated")


def test_repacked_download_passes_without_a_checksum_only(mirror: Mirror, tmp_path: Path, server: Server) -> None:
    publish(mirror, f"{server.url}/x")
    repacked = pack(tmp_path / "x", {"cran.all.1400": _content(mirror), "more": b"."}).read_bytes()
    server.bodies["/x"] = repacked
    assert_refused(mirror, tmp_path / "raw", mirror.rows[FILE].sha256)
    publish(mirror, f"{server.url}/x", sha256="")
    assert fetch(FILE, mirror.table, tmp_path / "raw" / FILE, retries=0).read_bytes() == repacked


def _content(mirror: Mirror) -> bytes:
    from heldout.corpora.archives import read_members

    return read_members(mirror.folder / FILE, "cran.all.1400")["cran.all.1400"]


def test_right_file_is_kept_and_damaged_one_replaced(mirror: Mirror, tmp_path: Path, server: Server) -> None:
    server.bodies["/x"] = publish(mirror, f"{server.url}/x")
    path = fetch(FILE, mirror.table, tmp_path / "raw" / FILE)
    fetch(FILE, mirror.table, path)
    assert server.requests == ["/x"]
    path.write_bytes(b"damaged")
    fetch(FILE, mirror.table, path)
    assert server.requests == ["/x", "/x"]
    assert path.read_bytes() == server.bodies["/x"]
    server.bodies.clear()
    path.write_bytes(b"damaged")
    assert_refused(mirror, path.parent, "HTTP status 404")


def test_unknown_file_and_malformed_tables(mirror: Mirror, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nips\.tgz: .*cran\.tar\.gz"):
        fetch("nips.tgz", mirror.table, tmp_path / "nips.tgz", mirror.folder)
    header, row, *_ = mirror.table.read_text().splitlines()
    for text, message in [
        ("a,b\n", "line 1: the columns must be corpus,file"),
        (f"{header}\n{row}\n{row}\n", "line 3: not one row per file"),
        (f"{header}\nx,y\n", "line 2: not one row per file"),
    ]:
        mirror.table.write_text(text)
        with pytest.raises(InputError, match=message):
            read_sources(mirror.table)
    with pytest.raises(InputError, match=r"missing\.csv: "):
        read_sources(tmp_path / "missing.csv")


def test_an_archive_that_is_gone_is_packed_from_its_members(mirror: Mirror, server: Server, tmp_path: Path) -> None:
    members = {"ap/ap.dat": b"1 0:2\n", "ap/vocab.txt": b"wing\n"}
    mirror.add("ap.tgz", members, refused_url())
    for name, content in members.items():
        part = Path(name).name
        mirror.add(part, {part: content}, f"{server.url}/{part}")
        server.bodies[f"/{part}"] = content
    path = fetch("ap.tgz", mirror.table, tmp_path / "raw" / "ap.tgz", retries=0)
    assert read_members(path, "ap/*[bd]*") == members
    assert [p.name for p in path.parent.iterdir()] == ["ap.tgz"]
    first = path.read_bytes()
    path.unlink()
    assert fetch("ap.tgz", mirror.table, path, retries=0).read_bytes() == first
    path.unlink()
    server.bodies["/vocab.txt"] = b"edited\n"
    with pytest.raises(InputError) as caught:
        fetch("ap.tgz", mirror.table, path, retries=0)
    message = str(caught.value)
    assert message.startswith("ap.tgz: ")
    assert "; nor in parts: vocab.txt: " in message
    assert message.count(WAYS_OUT) == 1
    assert not path.exists()
    for file, folder in (("ap.tgz", mirror.folder / "none"), (FILE, None)):  # a mirror has it whole; no parts are known
        mirror.enter(FILE, refused_url(), "", mirror.rows[FILE].content_sha256)
        with pytest.raises(InputError) as caught:
            fetch(file, mirror.table, path, folder, retries=0)
        assert "parts" not in str(caught.value)


def test_tracked_table_lists_an_address_and_a_digest_for_every_file() -> None:
    sources = read_sources(Path(__file__).parents[3] / "data" / "corpora.csv")
    parts = {Path(member).name for members in PARTS.values() for member in members}
    assert set(sources) == {file for corpus in ARCHIVES for file in raw_files(corpus)} | parts
    for row in sources.values():
        assert all(
            url.startswith(("http://", "https://")) and url.endswith((row.file, "/raw/")) for url in row.urls.split()
        )
        assert len(bytes.fromhex(row.content_sha256)) == 32
        assert row.urls
        assert row.licence
        assert row.citation
