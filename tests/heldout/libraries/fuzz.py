"""Damage files of every form in every way, and see that each is read or refused: `python fuzz.py SECONDS [SEED]`.

A case is (seed, number): it picks a form, damages one of the form's files, and reads it. What may happen is a result or
one line of `InputError`, within 20 seconds and 600 MB (2.2 GB for pickles); anything else is printed with its case,
and the file is kept.
Cases run in a process of their own, so that one that ends it (a crash of a library) is found, too.
"""

import argparse
import collections
import gzip
import io
import logging
import os
import random
import resource
import select
import shutil
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from heldout.corpora.corpus import Corpus
from heldout.corpora.documents import read_documents
from heldout.errors import InputError
from heldout.libraries.read import read_model

SECONDS_PER_CASE = 20
BYTES_PER_CASE = 600 << 20
# what memory_for lets a damaged pickle take
BYTES_OF_PICKLES = 2200 << 20
MEMORY = 6 << 30
NUMBERS = (b"0", b"-1", b"nan", b"inf", b"1e999", b"99999999", b"4294967296", b"18446744073709551616", b"", b" ", b"\0")
# tomotopy's files are read in a process of their own, which takes its time
RARE = {"tomotopy": 0.05}


class TooLongError(BaseException):
    """Not an Exception: no reader may swallow it."""


def write_documents(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Write one corpus in every form of documents; return what to open and which file of it to damage."""
    from model_files import COUNTS, DOCUMENTS

    own = {form: folder / form for form in ("scipy", "mm", "uci", "ldac", "heldout")}
    with own["scipy"].open("wb") as file:
        sp.save_npz(file, sp.csr_array(COUNTS))
    with own["mm"].open("wb") as file:
        scipy.io.mmwrite(file, sp.coo_array(COUNTS))
    triples = [(d + 1, w + 1, int(COUNTS[d, w])) for d, w in zip(*np.nonzero(COUNTS), strict=True)]
    own["uci"].write_text(
        f"{len(COUNTS)}\n{COUNTS.shape[1]}\n{len(triples)}\n" + "".join(f"{d} {w} {n}\n" for d, w, n in triples)
    )
    own["ldac"].write_text(
        "".join(
            f"{np.count_nonzero(row)} " + " ".join(f"{w}:{row[w]}" for w in np.nonzero(row)[0]) + "\n" for row in COUNTS
        )
    )
    Corpus.from_documents("own", [(f"d{i}", words) for i, words in enumerate(DOCUMENTS)]).save(folder / "heldout.npz")
    (folder / "heldout.npz").rename(own["heldout"])
    texts = folder / "texts"
    texts.mkdir()
    for number, words in enumerate(DOCUMENTS[:4]):
        (texts / f"{number}.txt").write_text(" ".join(words))
    return {**{form: (path, path) for form, path in own.items()}, "text": (texts, texts / "0.txt")}


def write_logistic_normal(folder: Path) -> list[tuple[str, Path, Path]]:
    """Write models with a logistic-normal prior; return form, the model's file and the part to damage."""
    import tomotopy
    from model_files import DOCUMENTS, WORDS, phi_and_alpha

    folder = folder / "logistic-normal"
    folder.mkdir()
    phi, _ = phi_and_alpha()
    mean, covariance = np.zeros(len(phi) - 1), np.eye(len(phi) - 1)
    csv = folder / "phi.csv"
    np.savetxt(csv, phi, delimiter=",", header=",".join(WORDS), comments="")
    np.savetxt(folder / "phi.mean.csv", mean[None], delimiter=",")
    np.savetxt(folder / "phi.covariance.csv", covariance, delimiter=",")
    npz = folder / "model.npz"
    np.savez(npz, phi=phi, mu=mean, sigma=covariance, vocabulary=np.array(WORDS))
    model = tomotopy.CTModel(k=3, seed=1)
    for words in DOCUMENTS:
        if words:
            model.add_doc(words)
    model.train(20, workers=1)
    model.save(str(folder / "model.bin"))
    parts = [csv, folder / "phi.mean.csv", folder / "phi.covariance.csv"]
    return [*(("csv", csv, part) for part in parts), ("npz", npz, npz), ("tomotopy", *2 * (folder / "model.bin",))]


def flips(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncation(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def splice(data: bytes, rng: random.Random) -> bytes:
    """Leave a piece out, double it, or put it elsewhere."""
    start, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    piece = data[start : min(end, start + rng.choice((1, 8, 200)))]
    place = rng.randrange(len(data) + 1)
    return rng.choice((data[:start] + data[start + len(piece) :], data[:place] + piece + data[place:]))


def number(data: bytes, rng: random.Random) -> bytes:
    """Put an awkward number in the place of a word or of four or eight bytes."""
    if rng.random() < 0.5:
        words = data.split(b" ")
        words[rng.randrange(len(words))] = rng.choice(NUMBERS)
        return b" ".join(words)
    value = rng.choice((0, 1, 255, 2**15, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1))
    packed = struct.pack("<Q", value)[: rng.choice((4, 8))]
    place = rng.randrange(max(1, len(data) - 8))
    return data[:place] + packed + data[place + len(packed) :]


PLAIN: tuple[Callable[[bytes, random.Random], bytes], ...] = (flips, flips, truncation, splice, number)


def damage(data: bytes, rng: random.Random) -> bytes:
    """Damage a file, or what is packed in it, which checksums would otherwise hide."""
    way = rng.choice(PLAIN)
    if rng.random() < 0.7:
        if data[:2] == b"\x1f\x8b":
            return gzip.compress(way(gzip.decompress(data), rng))
        if data[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            chosen = rng.choice(sorted(members))
            members[chosen] = way(members[chosen], rng)
            if rng.random() < 0.1:
                members[rng.choice(sorted(members))] = members.pop(chosen)
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w") as archive:
                for name, content in members.items():
                    archive.writestr(name, content)
            return packed.getvalue()
    return way(data, rng)


class Files:
    """Valid files of every form, and what reads them."""

    def __init__(self, folder: Path) -> None:
        from model_files import write_all

        (folder / "models").mkdir()
        (folder / "documents").mkdir()
        self.folder = folder
        models = write_all(folder / "models")
        parts = {
            form: [path, *sorted(path.parent.glob(f"{path.name}.*"))] if form == "gensim" else [path]
            for form, path in models.items()
        }
        parts["csv"].append(models["csv"].with_name("model.alpha.csv"))
        parts["lda-c"].append(models["lda-c"].with_name("final.other"))
        self.cases = [(f"model:{form}", models[form], part) for form in models for part in parts[form]]
        self.cases += [(f"model:{form}", source, part) for form, source, part in write_logistic_normal(folder)]
        self.cases += [
            (f"documents:{form}", source, part)
            for form, (source, part) in write_documents(folder / "documents").items()
        ]

    def run(self, seed: int, case: int, keep: Path, only: str) -> str:
        """Run one case; return what came of it: "read", "refused", "left out", or what is wrong."""
        rng = random.Random(f"{seed} {case}")
        name, source, part = rng.choice(self.cases)
        kind, form = name.split(":")
        if rng.random() > RARE.get(form, 1.0) or not name.startswith(only):
            return "left out"
        given = form if rng.random() < 0.7 else None
        whole = part.read_bytes()
        damaged = damage(whole, rng)
        keep.write_bytes(damaged)
        part.write_bytes(damaged)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.alarm(SECONDS_PER_CASE)
        try:
            if kind == "model":
                fitted = read_model(source, form=given, trust_pickle=True)
                assert np.abs(fitted.topics.phi.sum(axis=1) - 1.0).max() < 1e-9
                assert len(set(fitted.topics.vocabulary)) == fitted.topics.phi.shape[1]
                result = "read"
            else:
                read_documents(source, form=given)
                result = "read"
        except InputError as error:
            result = "refused" if "\n" not in str(error) and len(str(error)) < 2000 else f"a message: {error!r:.3000}"
        except TooLongError:
            result = "took too long\n" + traceback.format_exc()
        except Exception:
            result = traceback.format_exc()
        finally:
            signal.alarm(0)
            part.write_bytes(whole)
        took = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        if took > (BYTES_OF_PICKLES if form in ("pickle", "gensim") else BYTES_PER_CASE):
            result = f"took {took >> 20} MB, and then: {result}"
        return result if result in ("read", "refused") else f"{name} {part.name} ({given}): {result}"


def too_long(*_: object) -> None:
    raise TooLongError


def worker(seed: int, first: int, last: int, until: float, folder: Path, report: int, only: str) -> None:
    """Run cases one after the other until a time; write each number before it is run, and what came of it."""
    warnings.simplefilter("ignore")
    logging.disable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, too_long)
    files = Files(folder)
    case = first
    while time.monotonic() < until and case < last:
        os.write(report, f"{case}\n".encode())
        result = files.run(seed, case, folder.parent / "last", only)
        text = result.encode()
        os.write(report, f"{len(text)}\n".encode() + text)
        case += 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int, nargs="?", default=0)
    parser.add_argument("--only", default="", help="the beginning of the forms to take, such as model: or documents:mm")
    parser.add_argument("--first", type=int, default=0, help="the first case's number")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="number of cases (default: as many as fit)")
    options = parser.parse_args()
    last = options.first + options.cases
    until = time.monotonic() + options.seconds
    case, wrong = options.first, 0
    results: collections.Counter[str] = collections.Counter()
    kept = Path(tempfile.mkdtemp(prefix="fuzz-"))
    while time.monotonic() < until and case < last:
        folder = kept / "files"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            worker(options.seed, case, last, until, folder, writing, options.only)
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as report:
            while line := report.readline():
                case = int(line)
                # an alarm waits for the end of a call into C
                if not select.select([report], [], [], 3 * SECONDS_PER_CASE)[0]:
                    os.kill(child, signal.SIGKILL)
                length = report.readline()
                if not length:
                    break
                content = b""
                while len(content) < int(length):
                    content += report.read(int(length) - len(content)) or b"?"
                result = content.decode()
                results[result if result in ("read", "refused", "left out") else "wrong"] += 1
                if result not in ("read", "refused", "left out"):
                    wrong += 1
                    shutil.copy(kept / "last", kept / f"case-{case}")
                    print(f"case {options.seed} {case}, kept in {kept}:\n{result}", flush=True)
        _, status = os.waitpid(child, 0)
        if status:
            wrong += 1
            shutil.copy(kept / "last", kept / f"case-{case}")
            print(f"case {options.seed} {case} ended the process (status {status}), kept in {kept}", flush=True)
        case += 1
    print(f"{case - options.first} cases: {dict(results)}; {wrong} wrong")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
