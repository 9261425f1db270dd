"""Numbers, names and tables as LaTeX."""

import pytest
from small_study import inputs

from artifact.typesetting import latex


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (latex.power(1e-10), r"\ensuremath{10^{-10}}"),
        (latex.power(3e-4), r"\ensuremath{3\cdot 10^{-4}}"),
        (latex.integer(12345.4), "12{,}345"),
        (latex.perplexity(99.94), "99.9"),
        (latex.perplexity(float("inf")), r"\ensuremath{\infty}"),
        (latex.signed_percent(-0.0251), r"\ensuremath{-2.5}\,\%"),
        (latex.signed_percent(-0.00001), r"\ensuremath{0.0}\,\%"),
        (latex.signed(-0.00004, 4), r"\ensuremath{0.0000}"),
        (latex.signed(1234.5, 1), r"\ensuremath{+1{,}234.5}"),
        (latex.escape("a_b & c^2 < 50%"), r"a\_b \& c\textasciicircum{}2 \textless{} 50\%"),
        (latex.corpus_name("cranfield-unstemmed"), "Cranfield, unstemmed"),
        (latex.corpus_name("my_corpus"), r"my\_corpus"),
        (latex.camel("plsa-hof", "fold_in", "iterations"), "PlsaHofFoldInIterations"),
        (latex.listed(["a", "b", "c"]), "a, b and c"),
        (latex.setting(1e-6), r"\ensuremath{10^{-6}}"),
    ],
)
def test_numbers_and_names_as_latex(written: str, expected: str) -> None:
    assert written == expected


def test_a_macro_name_holds_letters_only() -> None:
    with pytest.raises(ValueError, match="letters only"):
        latex.macro("Corpus1", "x")


HEAD = r"""
one & two & three\\
"""
ROWS = (["1", "2", "3"], r"\midrule", ["4", "5", "6"])


def test_a_table_is_its_head_and_rows_between_rules() -> None:
    table = latex.tabular(inputs(), r"@{}l@{\quad}rP{0.2\linewidth}@{}", HEAD, ROWS)
    assert table.splitlines() == [
        r"\begin{tabular}{@{}l@{\quad}rP{0.2\linewidth}@{}}",
        r"\toprule",
        r"one & two & three\\",
        r"\midrule",
        r"1 & 2 & 3\\",
        r"\midrule",
        r"4 & 5 & 6\\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    bare = latex.tabular(inputs(), "lll", HEAD, ROWS[:1], end=r"\\[1ex]", midrule=False)
    assert bare.splitlines()[2:4] == [r"one & two & three\\", r"1 & 2 & 3\\[1ex]"]


def test_a_table_of_synthetic_data_says_so_over_all_columns() -> None:
    columns = r"@{}l@{\quad}rP{0.2\linewidth}@{}"
    mark = r"\multicolumn{3}{@{}l}{\textbf{SYNTHETIC DATA}}\\"
    lines = latex.tabular(inputs(synthetic=True), columns, HEAD, ROWS).splitlines()
    assert lines[3:6] == [r"\midrule", mark, r"1 & 2 & 3\\"]
    long = latex.longtable(inputs(synthetic=True), columns, HEAD, ROWS, caption="c", label="l").splitlines()
    assert long[long.index(r"\endfoot") + 1] == mark


def test_a_long_table_repeats_its_head_and_has_space_between_its_rows() -> None:
    table = latex.longtable(inputs(), "lll", HEAD, [ROWS[0], ROWS[2]], caption="What it is.", label="tab:it")
    assert table.splitlines() == [
        r"\begin{longtable}{lll}",
        r"\caption{What it is.}\label{tab:it}\\",
        *(r"\toprule", r"one & two & three\\", r"\midrule", r"\endfirsthead"),
        *(r"\toprule", r"one & two & three\\", r"\midrule", r"\endhead"),
        *(r"\bottomrule", r"\endfoot"),
        *(r"1 & 2 & 3\\", r"\addlinespace", r"4 & 5 & 6\\"),
        r"\end{longtable}",
    ]
