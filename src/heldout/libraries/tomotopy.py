"""tomotopy's `LDAModel`, and the files of its `CTModel` (`heldout.libraries.logistic_normal`).

tomotopy keeps the counts n_kw of one state of its Gibbs sampler, and `get_topic_word_dist` gives, in float32,
phi[k, w] = (n_kw + eta) / (n_k + V eta): the mean of p(phi | w, z) at that state (Griffiths and Steyvers 2004,
equation 6), divided by its sum again in float64. V counts the words that it used (`used_vocabs`), not those that
`min_cf`, `min_df` or `rm_top` removed. `alpha` (K,) is the prior of theta, which tomotopy optimises in training unless
`optim_interval` is 0.

A .bin file is tomotopy's own format, with one pickle inside: the constructor's arguments, which `LDAModel.load`
unpickles. Here they are left alone, so reading runs nothing from the file. What damaged files do to the loader is the
reason for `tomotopy_check`.
"""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from heldout.corpora.counts import read_bytes
from heldout.errors import InputError
from heldout.libraries import Fitted, logistic_normal
from heldout.libraries.checks import assemble
from heldout.limits import check_size

INSTALL = "install tomotopy: pip install 'heldout[peers]'"
KINDS = {"LDA": "LDAModel", "CTM": "CTModel"}
WEIGHTINGS = (b"one", b"idf", b"pmi")
CHECK = Path(__file__).with_name("tomotopy_check.py")
# the most seconds by the clock, on a busy machine; `tomotopy_check` sets the limit of its processor's time
PATIENCE = 60.0


def header(first: bytes) -> tuple[str, str] | None:
    """Return the kind of model and its term weighting, such as ("LDA", "one"), or None where it is not tomotopy's.

    Args:
        first: the first 14 bytes of the file or more: two names filled with zeros, then the first block's mark.
    """
    kind, weighting = first[:5].rstrip(b"\0"), first[5:10].rstrip(b"\0")
    if weighting in WEIGHTINGS and kind.isalnum() and kind.isascii() and first[10:14] == b"TPTK":
        return kind.decode(), weighting.decode()
    return None


def from_object(
    model: Any, vocabulary: Sequence[str] | None = None, *, where: str | None = None, form: str = "object"
) -> Fitted:
    """Make a `Fitted` of a trained `LDAModel`.

    Args:
        model: the model; its `used_vocabs` name the words.
        vocabulary: the same words, or None.
        where: the file, for messages; the class when not given.
        form: for the provenance.

    Raises:
        InputError: when it is another model (their priors are not one Dirichlet), is not trained, or has no words.
    """
    import tomotopy

    kind = type(model).__name__
    where = where or kind
    if type(model) is not tomotopy.LDAModel:
        raise InputError(f"{where}: a tomotopy {kind}; only LDAModel and CTModel have one prior of every document")
    # before training get_topic_word_dist reads memory that is not there
    words = list(model.used_vocabs)
    if not words:
        raise InputError(
            f"{where}: the LDAModel has no words; train it first, with documents that min_cf leaves words of"
        )
    check_size(int(model.k), len(words), where)
    return assemble(
        library="tomotopy",
        version=tomotopy.__version__,
        form=form,
        where=where,
        weights=np.array([model.get_topic_word_dist(topic) for topic in range(model.k)], dtype=np.float64),
        what="get_topic_word_dist",
        tolerance=1e-3,
        alpha=model.alpha,
        own_words=words,
        vocabulary=vocabulary,
        native=model,
        model=kind,
        phi="the mean of p(phi | w, z) at the sampler's last state, get_topic_word_dist divided by its sum in float64",
        eta=float(np.mean(model.eta)),
        iterations=int(model.global_step),
        unused_words=len(model.vocabs) - len(words),
    )


def check(data: bytes, where: str, kind: str) -> None:
    """Load the bytes in a process of its own, so that what a damaged file does to tomotopy is done there.

    Raises:
        InputError: when it fails or takes too long.
    """
    try:
        # -P: tomotopy is the package, not this folder's module
        ended = subprocess.run(
            [sys.executable, "-P", str(CHECK), kind], input=data, capture_output=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{where}: damaged: tomotopy was still reading after {PATIENCE:g} s; save it again") from error
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip().splitlines()
        if ended.returncode == -signal.SIGXCPU:
            reason = "it does not come to an end"
        else:
            reason = said[-1].strip()[:120] if said else f"it stops with signal {-ended.returncode}"
        raise InputError(f"{where}: damaged, or another model: tomotopy cannot load it ({reason}); save it again")


def read(path: Path, vocabulary: Sequence[str] | None = None) -> Fitted:
    """Read a model that `LDAModel.save` or `CTModel.save` wrote, full or not; nothing in it is unpickled.

    Raises:
        InputError: when the file is missing, truncated, damaged or of another model, or tomotopy is not installed.
    """
    data = read_bytes(path)
    kind_and_weighting = header(data)
    if kind_and_weighting is None:
        raise InputError(f"{path}: truncated, or not a model that tomotopy 0.6 or later saved")
    kind, weighting = kind_and_weighting
    if kind not in KINDS:
        raise InputError(f"{path}: a tomotopy {kind} model; only LDAModel and CTModel have one prior of every document")
    try:
        import tomotopy
    except ImportError as error:
        raise InputError(f"{path}: {INSTALL} ({error!s:.200})") from error
    of_kind = getattr(tomotopy, KINDS[kind])
    load = getattr(of_kind, "_loads", None)
    if load is None:
        raise InputError(f"{path}: tomotopy {tomotopy.__version__} only loads by unpickling; {INSTALL}")
    check(data, str(path), KINDS[kind])
    try:
        model, _ = load(of_kind, data)
    except Exception as error:  # tomotopy raises several kinds
        raise InputError(f"{path}: truncated or damaged ({error!s:.200}); save it again") from error
    make = from_object if kind == "LDA" else logistic_normal.from_tomotopy
    fitted = make(model, vocabulary, where=str(path), form="tomotopy")
    fitted.topics.provenance["weighting"] = weighting
    return fitted


def recognises(model: object) -> bool:
    """Return whether `model` is one of tomotopy's, without importing tomotopy."""
    module = sys.modules.get("tomotopy")
    return module is not None and isinstance(model, module.LDAModel)
