"""What the text stands on: named beside the sentence, looked up in effects, and marked where it has moved."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from artifact.__main__ import main
from artifact.contrasts.effect import NATS, Effect, read_effects, write_effects
from artifact.typesetting.prose import Named, Text, finding_of, line, moved, read, render, sentences
from heldout.errors import InputError

ROOT = Path(__file__).parents[3]
SECTIONS = sorted((ROOT / "paper/sections").glob("*.tex"))
OF_GALLERY = [section for section in SECTIONS if section.name.startswith("gallery_")]
DOCUMENTS = {
    "paper": [
        *(ROOT / "paper/main.tex", ROOT / "paper/supplement.tex"),
        *(section for section in SECTIONS if section not in OF_GALLERY),
    ],
    "gallery": [ROOT / "paper/gallery.tex", *OF_GALLERY],
}

UP = Effect("better", "cranfield", "half", 0, 0.2, 0.01, 2.0, NATS, margin=0.01, replicates=3)
ACROSS = replace(UP, corpus="nips", estimate=0.02)
DOWN = replace(UP, corpus="nips", part="full", estimate=-0.2)
KNOWN = {"better": (UP, ACROSS, DOWN)}


def text(tmp_path: Path, written: str) -> Text:
    source = tmp_path / "section.tex"
    source.write_text(written)
    return read([source])


@pytest.mark.parametrize(
    ("where", "kind", "finding"),
    [
        ("", "above", "of several kinds"),
        ("cranfield", "above", "above"),
        ("nips: half", "above", "open"),
        ("nips: full", "above", "below"),
        ("medline", "above", "not run"),
        ("half", "positive", "positive"),
        ("nips: full", "positive", "negative"),
        ("", "positive", "of several kinds"),
        ("nips: half", "holds", "holds"),
        ("nips: full", "holds", "does not hold"),
        ("half", ">-0.1", ">-0.1"),
        ("half", "<0.3", "<0.3"),
        ("cranfield", "<0.2", "[0.157, 0.243]"),
        ("nips: full", "<margin", "<margin"),
        ("cranfield", ">-margin", ">-margin"),
        ("nips: half", "<margin", "[-0.023, 0.063]"),
        ("nips: half", ">-margin", "[-0.023, 0.063]"),
    ],
)
def test_a_finding_is_of_a_corpus_a_part_both_or_all(where: str, kind: str, finding: str) -> None:
    assert finding_of(KNOWN, Named("section.tex", 1, "better", where, kind)) == finding


def test_a_contrast_that_is_not_there_was_not_run() -> None:
    assert finding_of(KNOWN, Named("section.tex", 1, "worse", "", "above")) == "not run"


def test_what_has_moved_is_said_with_its_place(tmp_path: Path) -> None:
    written = "One.\n% \\holds{better}{}{above}\nIt is better\\holds{better}{nips:\n  full}{above}."
    written += " So\\holds{better}{half}{positive}.\n"
    given = text(tmp_path, written)
    assert [one.line for one in given.named] == [3, 4]
    ((one, now),) = moved(given, KNOWN)
    assert line(one, now) == "section.tex:3: better (nips: full): the sentence says above, found is below"


def test_a_sentence_that_prints_an_effect_names_a_finding_of_its_claim(tmp_path: Path) -> None:
    named = r"\holds{better}{cranfield}{above}"
    effect = r"\effect{better}{cranfield}"
    ((macro, claim, where, (beside,)),) = text(tmp_path, f"By {effect} nats{named}. Else.").printed
    assert (macro, claim, where, beside.finding) == ("effect", "better", "cranfield", "above")
    assert text(tmp_path, f"By {effect} nats.{named} Else.").printed
    assert text(tmp_path, rf"\caption{{By {effect} nats{named}. Else.}}").printed
    for wrong in (
        f"By {effect} nats. Else{named}.",
        f"Else{named}\n\nby {effect} nats.",
        f"By {effect}\\holds{{x}}{{}}{{above}}.",
    ):
        with pytest.raises(
            InputError, match=r"section.tex:\d: an effect of better, in a sentence that names no finding"
        ):
            text(tmp_path, wrong)
    with pytest.raises(InputError, match="'supported' is neither a finding nor a sign"):
        text(tmp_path, r"So\holds{better}{}{supported}.")


def test_a_sentence_names_a_finding_of_every_effect_that_it_prints(tmp_path: Path) -> None:
    printed = r"By \effect{better}{}\holds{better}{cranfield}{above}\holds{better}{nips: half}{open}"
    with pytest.raises(
        InputError, match=r"section.tex:1: better \(nips: full\): an effect, in a sentence that names no"
    ):
        render(text(tmp_path, printed + "."), KNOWN)
    assert render(text(tmp_path, printed + r"\holds{better}{full}{negative}."), KNOWN)


def test_sentences_end_at_stops_and_where_paragraphs_do() -> None:
    found = [
        part.strip() for _, part in sentences("By 0.1, e.g. here. There\n\nNow? \\paragraph{Next.} Yes") if part.strip()
    ]
    assert found == ["By 0.1, e.g. here.", "There", "Now?", r"\paragraph", "{Next.", "} Yes"]


def test_moved_sentences_and_effects_are_written_for_tex(tmp_path: Path) -> None:
    given = text(tmp_path, r"By \effect{better}{half}\holds{better}{half}{above}.")
    made = render(given, KNOWN)
    assert r"\csname moved:better:half:above\endcsname{of several kinds}" in made
    effect = r"\ensuremath{0.200} [\ensuremath{0.157}, \ensuremath{0.243}] (Cranfield) and \ensuremath{0.020} ["
    assert rf"\csname effect:better:half\endcsname{{{effect}" in made
    assert r"\item section.tex:1: better (half): the sentence says above, found is of several kinds" in made
    ends = render(text(tmp_path, r"By \ends{better}{half}\holds{better}{half}{positive}."), KNOWN)
    assert r"\csname ends:better:half\endcsname{\ensuremath{0.020} to \ensuremath{0.200}}" in ends
    size = render(text(tmp_path, r"Worse by \size{better}{nips: full}\holds{better}{nips: full}{below}."), KNOWN)
    assert r"\csname size:better:nips: full\endcsname{\ensuremath{0.200} [\ensuremath{0.157}, " in size
    bound = render(text(tmp_path, r"By \atmost{better}{nips}\holds{better}{nips}{<1}."), KNOWN)
    assert r"\csname atmost:better:nips\endcsname{0.25}" in bound  # the interval of -0.2 ends at -0.243
    nothing = render(text(tmp_path, r"So\holds{better}{nips: half}{open}."), KNOWN)
    assert nothing == "\\newcommand{\\MovedSentences}{}\n"
    absent = render(text(tmp_path, r"By \effect{better}{medline}\holds{better}{medline}{open}."), KNOWN)
    assert r"\csname effect:better:medline\endcsname{not run}" in absent
    assert "better (medline): the sentence says open, found is not run" in absent


def test_the_command_fails_from_the_reference_and_marks_after_a_rerun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "section.tex").write_text(r"So\holds{better}{half}{above}.")
    write_effects(tmp_path / "effects.csv", KNOWN["better"])
    files = {name: tmp_path / name for name in ("prose.tex", "moved.txt")}
    command = ["prose", str(tmp_path / "section.tex"), "--effects", str(tmp_path / "effects.csv")]
    command += ["--output", str(files["prose.tex"]), "--moved", str(files["moved.txt"])]
    said = "section.tex:1: better (half): the sentence says above, found is of several kinds\n"
    assert main([*command, "--strict"]) == 1
    assert capsys.readouterr().err == f"heldout: {said}"
    assert not any(file.exists() for file in files.values())
    assert main(command) == 0
    assert files["moved.txt"].read_text() == said
    assert "moved:better" in files["prose.tex"].read_text()


@pytest.mark.parametrize("study", DOCUMENTS)
def test_the_text_stands_on_the_committed_reference(study: str) -> None:
    given, judged = read(DOCUMENTS[study]), read_effects(ROOT / f"data/reference/{study}/effects.csv")
    assert len(given.named) > 15
    assert [line(one, now) for one, now in moved(given, judged)] == []
    assert render(given, judged).endswith("{}\n")


def test_what_does_not_fit_its_page_fails_the_paper() -> None:
    (pattern,) = re.findall(r"(?m)^overfull='([^']*)'", (ROOT / "workflow/scripts/typeset.sh").read_text())
    for wide in (
        "LaTeX Warning: Float too large for page by 159.0pt on input line 12.",
        r"Overfull \vbox (21.5pt too high) has occurred while \output is active",
        r"Overfull \hbox (159.24046pt too wide) in alignment at lines 2--9",
    ):
        assert re.search(pattern, wide), wide
    assert not re.search(pattern, r"Overfull \hbox (1.24046pt too wide) in alignment at lines 2--9")
