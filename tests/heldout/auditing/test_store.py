"""One folder keeps the values of any number of audits, each by its own key."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_models import drawn, plain, topics_of

from heldout.auditing.audit.audit import audit
from heldout.auditing.store import Values
from heldout.errors import InputError


def test_a_store_of_many_audits_gives_each_its_own(tmp_path: Path) -> None:
    model, X, store = topics_of(), drawn(5), tmp_path / "store"
    others: list[tuple[Any, Any, dict[str, Any]]] = [
        (model, X, {}),
        (topics_of(alpha=0.5), X, {}),
        (model, drawn(6), {}),
        (model, X, {"random_state": 1}),
        (model, X, {"estimator": "linear-time"}),
    ]
    for _ in range(2):
        for other, documents, changes in others:
            kept = audit(other, documents, store=store, **changes)
            assert plain(kept) == plain(audit(other, documents, **changes))
    assert len(list(store.iterdir())) == len(others)


def test_a_row_that_is_cut_off_is_left_out_and_a_damaged_file_is_refused(tmp_path: Path) -> None:
    rows = np.arange(6.0).reshape(2, 3)
    Values(4, 3, tmp_path, "key").add(2, rows)
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    path.write_bytes(content[:-3])
    again = Values(4, 3, tmp_path, "key")
    assert again.done.tolist() == [False, False, True, False]
    again.add(3, rows[1:])
    again = Values(4, 3, tmp_path, "key")
    np.testing.assert_array_equal(again.values[2:], rows)
    assert path.read_bytes() == content
    with pytest.raises(InputError, match=path.name):
        Values(3, 3, tmp_path, "key")
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match="file: nothing can be kept"):
        Values(4, 3, tmp_path / "file", "key")
