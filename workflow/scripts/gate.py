"""Write digests of everything that a change of the code must leave as it is, and compare two of them.

usage: gate.py FILE [BEFORE]: write the digests to FILE; list what differs from those in BEFORE, exit status 1 if any

Digested are (i) tables, TeX and figures of the studies `demo` and `demo-gallery`, run anew, with every file of trained
topics and every job's scores, measurements and notes: twelve fits of six models and more, and one job or more of
every experiment that needs no package of an environment of its own; (ii) all that `make paper` makes of the reference
results, for both documents; (iii) the JSON of six audits and two rankings, of all forms of topics and priors. A run
takes some ten minutes of two cores. Left out: times, and the lines that print the commit and its date.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
REFERENCE = ["--config", "results=reference", "--"]
RUNS = {  # Snakemake's arguments, by a name
    "demo": ["--configfile", "workflow/studies/demo.yaml"],
    "demo-gallery": ["--configfile", "workflow/studies/demo-gallery.yaml"],
    "paper": [*REFERENCE, "paper/paper.pdf"],
    "gallery": ["--configfile", "workflow/studies/gallery.yaml", *REFERENCE, "paper/gallery.pdf"],
}
KINDS = {".csv", ".npz", ".tex", ".pdf"}
TIMES = {"benchmarks", "timings.csv"}  # names of files and folders with times
COMMIT = re.compile(rb"\\newcommand\{\\(Commit|CommitDate|commit\w*)\}.*\n")


def digest(content: bytes) -> str:
    """Return sixteen hexadecimal digits of a file's content without the commit."""
    return hashlib.sha256(COMMIT.sub(b"", content)).hexdigest()[:16]


def made(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield name and digest of every file that runs have made below a folder, without the typeset documents."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        typeset = name.parts[0] == "paper" and path.suffix == ".pdf"
        if path.is_file() and path.suffix in KINDS and not typeset and not TIMES & set(name.parts):
            yield str(name), digest(path.read_bytes())


def audits() -> Iterator[tuple[str, str]]:
    """Yield name and digest of the JSON of six audits and two rankings."""
    import warnings

    import gensim
    import numpy as np
    import scipy.sparse as sp
    import tomotopy
    from sklearn.decomposition import LatentDirichletAllocation

    import heldout

    warnings.simplefilter("ignore")
    random = np.random.default_rng(0)
    V, words = 60, [f"w{w}" for w in range(60)]
    topics = random.dirichlet(np.full(V, 0.2), size=4)
    weights = random.dirichlet(np.full(4, 0.5), size=160)
    lengths = random.integers(5, 60, 160)
    drawn = [random.multinomial(length, theta @ topics) for theta, length in zip(weights, lengths, strict=True)]
    counts = sp.csr_array(np.array(drawn))
    training, test = counts[:120], counts[120:]
    lists = [[words[w] for w in np.repeat(np.arange(V), row)] for row in drawn]
    labels = [f"m{d % 2}" for d in range(40)]
    sklearn = [LatentDirichletAllocation(K, random_state=0).fit(training) for K in (3, 8)]
    dictionary = gensim.corpora.Dictionary([words])
    bags = [dictionary.doc2bow(text) for text in lists]
    of_gensim = gensim.models.LdaModel(bags[:120], num_topics=5, id2word=dictionary, alpha="asymmetric", random_state=0)
    of_tomotopy = tomotopy.LDAModel(k=4, seed=0)
    dmr = tomotopy.DMRModel(k=3, seed=0)
    for place, text in enumerate(lists[:120]):
        of_tomotopy.add_doc(text)
        dmr.add_doc(text, metadata=f"m{place % 2}")
    for model in (of_tomotopy, dmr):
        model.train(100, workers=1)
    normal = (topics, np.zeros(4), 0.5 * np.eye(4) + 0.1)
    calls: dict[str, Callable[[], Any]] = {
        "audit arrays": lambda: heldout.audit((topics, 0.5), test),
        "audit arrays, asymmetric prior": lambda: heldout.audit((topics, np.array([0.2, 0.4, 0.6, 0.8])), test),
        "audit logistic normal": lambda: heldout.audit(normal, test),
        "audit scikit-learn": lambda: heldout.audit(sklearn[1], test, n_jobs=2),
        "audit gensim": lambda: heldout.audit(of_gensim, lists[120:]),
        "audit tomotopy": lambda: heldout.audit(of_tomotopy, lists[120:]),
        "audit tomotopy, priors of documents": lambda: heldout.audit(dmr, lists[120:], metadata=labels),
        "rank scikit-learn": lambda: heldout.rank(sklearn, test),
        "rank libraries": lambda: heldout.rank([of_gensim, of_tomotopy], lists[120:]),
    }
    for name, call in calls.items():
        yield name, digest(json.dumps(call().to_json(), sort_keys=True).encode())


def digests() -> dict[str, str]:
    """Return the digests of everything, by name; runs are made in a folder of their own."""
    of_audits = dict(audits())
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in RUNS.items():
            command = ["snakemake", "--cores", "2", "--quiet", "all", "--directory", folder]
            command += ["--snakefile", str(ROOT / "Snakefile")]
            files = [str(ROOT / one) if one.endswith(".yaml") else one for one in arguments]
            if subprocess.run([*command, *files], cwd=ROOT, check=False).returncode:
                sys.exit(f"gate: the run {name} failed")
        return of_audits | dict(made(Path(folder)))


def main() -> int:
    """Run the command line; return the exit status."""
    now = digests()
    Path(sys.argv[1]).write_text(json.dumps(now, indent=0) + "\n", encoding="utf-8")
    before = json.loads(Path(sys.argv[2]).read_text(encoding="utf-8")) if sys.argv[2:] else now
    moved = [name for name in sorted(before | now) if before.get(name) != now.get(name)]
    print(f"gate: {len(now)} digests, {len(moved)} differ", *moved, sep="\n  ")
    return bool(moved)


if __name__ == "__main__":
    from heldout.processor import pin

    pin()
    sys.exit(main())
