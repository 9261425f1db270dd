"""What an interrupted audit has kept is of one audit, and whole."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_models import drawn, topics_of

from heldout.auditing.audit.audit import audit
from heldout.errors import InputError


def test_a_store_of_another_audit_is_refused(tmp_path: Path) -> None:
    model, X, store = topics_of(), drawn(5), tmp_path / "store"
    audit(model, X, store=store)
    others: list[tuple[Any, Any, dict[str, Any], str]] = [
        (topics_of(alpha=0.5), X, {}, "of other model"),
        (model, drawn(6), {}, "of other documents"),
        (model, X, {"random_state": 1}, "of other settings"),
        (model, X, {"estimator": "linear-time"}, "of other settings"),
    ]
    for other, documents, changes, message in others:
        with pytest.raises(InputError, match=f"store: holds another audit, {message}"):
            audit(other, documents, store=store, **changes)
    foreign = tmp_path / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").write_text("mine")
    with pytest.raises(InputError, match="foreign: not a folder of an audit; name a new or an empty one"):
        audit(model, X, store=foreign)
    assert [path.name for path in foreign.iterdir()] == ["thesis.tex"]


def test_a_damaged_store_is_refused(tmp_path: Path) -> None:
    model, X, store = topics_of(), drawn(5), tmp_path / "store"
    audit(model, X, store=store)
    (part,) = store.glob("part-*.npz")
    part.write_bytes(part.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"part-000000\.npz: not a part of an audit file .*; delete it"):
        audit(model, X, store=store)
    np.savez(part, documents=np.array([99]), values=np.zeros((1, 6)))
    with pytest.raises(InputError, match=r"part-000000\.npz: not a part of an audit"):
        audit(model, X, store=store)
    (store / "audit.json").write_text("{")
    with pytest.raises(InputError, match=r"audit\.json: cannot be read"):
        audit(model, X, store=store)
