"""The sentences and the tables of an audit, the same for terminal, page and notebook."""

import math
from typing import NamedTuple

import numpy as np

from heldout.auditing.audit.result import AuditResult, Different, Line, Topic
from heldout.auditing.blocks import LIKELIHOOD, UNIFORM, UNIGRAM
from heldout.auditing.formats import (
    ERRORS,
    MINUS,
    ROUNDING,
    SAME,
    amount,
    chance,
    clean,
    difference,
    error,
    interval,
    nats,
    perplexities,
    perplexity,
    ratio,
    sentence,
    shorten,
    signed,
)
from heldout.auditing.tables import Column, Table
from heldout.evaluators import ESTIMATORS, EXACT, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.libraries import Reported

FAR = 3.0  # errors of a document
NAMED = 10  # topics
MOST = 5  # reasons below a verdict
MANY = 0.1  # share of tokens left out that is said first


class Words(NamedTuple):
    """An evaluator, or the behaviour of an estimator, in words.

    Attributes:
        label: its name in print; of a behaviour a note behind the estimator's name, empty for nothing.
        kind: what its perplexity is, in a table.
        clause: of a behaviour, how far the estimate can be trusted.
    """

    label: str
    kind: str
    clause: str = ""


EVALUATORS = {
    MEAN_FIELD_BOUND: Words("mean-field bound", "upper limit"),
    FULL: Words("full folding-in", "optimistic"),
    HALF: Words("half folding-in", "document completion"),
    UNIGRAM: Words("unigram", "baseline"),
    UNIFORM: Words("uniform", "baseline"),
}
BEHAVIOURS = {
    "consistent": Words("", "estimate"),
    "low": Words("biased low", "biased, too high", "tends to less than the likelihood: its perplexity is too high"),
    "high": Words("biased high", "biased, too low", "tends to more than the likelihood: its perplexity is too low"),
    "biased": Words("biased either way", "biased either way", "is too low on some documents and too high on others"),
    "another distribution": Words(
        "biased either way",
        "biased either way",
        "converges to the likelihood under another distribution over documents, too low on average over documents drawn"
        " from the model, and too low or too high on real ones",
    ),
    "other": Words("", "another quantity", "has another target than the log-likelihood"),
}


def likelihood_text(audit: AuditResult) -> str:
    """Return the likelihood's perplexity, its interval over documents, and the estimator's error."""
    return line_text(audit.line(LIKELIHOOD), exact=audit.exact, stand_in=audit.stand_in)


def line_text(line: Line, *, exact: bool, stand_in: str) -> str:
    """Return the likelihood's perplexity, its interval over documents, and the estimator's error."""
    spread = line.perplexity * line.error_per_token
    if exact:
        text = f"exactly {perplexity(line.perplexity)} per token"
    else:
        text = f"{'' if error(spread) else 'about '}{perplexity(line.perplexity, spread)} per token"
    both = [f"95 % over documents: {interval(*line.interval)}"] if interval(*line.interval) else []
    both += [f"± {error(spread)} by the estimator"] if error(spread) else []
    text += f" under {stand_in.rpartition('; ')[2].removesuffix(' stands in')}" if stand_in else ""
    return f"{text} ({'; '.join(both)})" if both else text


def growing(audit: AuditResult) -> tuple[str, float, float] | None:
    """Return the growing terms of the reported number: names, cost, and all terms' cost, nats per token."""
    terms = audit.reported.terms
    grow = [term for term in terms if term.grows]
    if not grow or not per_term(audit):
        return None
    costs = dict(zip((term.name for term in terms), per_term(audit), strict=True))
    return " and ".join(clean(t.name) for t in grow), sum(costs[t.name] for t in grow), sum(costs.values())


def per_term(audit: AuditResult) -> list[float]:
    """Return the cost of every term of the reported number, nats per token; a positive cost raises the perplexity.

    The library divides the terms' sum by its number of tokens, which is inferred from its own number.
    """
    reported = audit.reported
    total = sum(term.nats for term in reported.terms)
    tokens = total / reported.nats_per_token if math.isfinite(reported.nats_per_token) and total else audit.tokens
    return [-term.nats / tokens for term in reported.terms] if tokens else []


def left_out(audit: AuditResult) -> str:
    """Return a sentence on many tokens that were left out, with their most frequent words; empty for few."""
    share = audit.left_out / max(audit.tokens + audit.left_out, 1)
    if share <= MANY:
        return ""
    named = f", most often {', '.join(map(clean, audit.words_left_out))}" if audit.words_left_out else ""
    return f"{100.0 * share:.0f} % of the tokens are no words of the model and left out{named}.{uncut(audit)}"


def uncut(audit: AuditResult) -> str:
    """Return a sentence, after a space, on words of the model that a folder of texts cannot have; or ""."""
    if not audit.uncut:
        return ""
    named = f"{', '.join(map(clean, audit.uncut[:NAMED]))}{', …' if len(audit.uncut) > NAMED else ''}"
    return (
        f" {len(audit.uncut):,} of the model's {amount(audit.words, 'word')} are never cut from a folder of texts,"
        f" which are cut into runs of letters and digits in lower case: {named}. Give lists of words."
    )


def headline(audit: AuditResult) -> str:
    """Return the verdict, one sentence: the library's number and the likelihood."""
    own, reported = audit.line(LIKELIHOOD), audit.reported
    library = clean(audit.library)
    if not own.tokens:
        return "No document has been scored."
    gives = f"the likelihood gives these documents perplexity {likelihood_text(audit)}"
    if own.perplexity == math.inf:
        gives = "these documents have likelihood 0, as the model gives some of their tokens probability 0"
    gives = f"{gives}.{_worse_than_uniform(audit)}"
    if audit.comparable:
        return f"{library} says {perplexity(reported.perplexity)}{_relation(audit)}; {gives}"
    if math.isnan(reported.value):
        name = "No library's number" if audit.library == "arrays" else f"No number of {library}"
        return f"{name} to compare with; {gives}"
    value = f"{reported.value:,.5g}".replace("-", MINUS)
    return f"{library} says {value} ({clean(reported.unit)}), but of {clean(reported.about)}; {gives}"


def _worse_than_uniform(audit: AuditResult) -> str:
    """Return a sentence, after a space, on a likelihood below uniform guessing's by more than its error; or ""."""
    own = audit.line(LIKELIHOOD)
    margin = max(SAME, ERRORS * np.nan_to_num(own.error_per_token))
    if not -math.inf < own.nats_per_token < -math.log(audit.words) - margin:
        return ""
    return f" That is worse than guessing uniformly ({audit.words:,}): are the columns the model's?"


def raised(reported: Reported) -> str:
    """Return a clause on a printed perplexity that raises another number than e."""
    bound = perplexity(math.exp(min(-reported.nats_per_token, 700.0)))
    return (
        f"{clean(reported.function)} prints {reported.base:g} to the bound in nats, {perplexity(reported.perplexity)};"
        f" the bound's perplexity is e to it, {bound}"
    )


def _relation(audit: AuditResult) -> str:
    own, reported = audit.line(LIKELIHOOD), audit.reported
    if not (math.isfinite(own.perplexity) and math.isfinite(reported.perplexity)):
        return ""
    spread = 0.0 if math.isnan(own.error_per_token) else own.error_per_token
    if abs(reported.log_perplexity + own.nats_per_token) <= max(SAME, ERRORS * spread):
        return ", and rightly"
    return f", {difference(reported.perplexity, own.perplexity)} the likelihood's"


def reasons(audit: AuditResult) -> list[str]:
    """Return at most `MOST` sentences below the verdict: causes and remedies, the gravest first.

    Rarer ones stand in the tables, and the documentation explains them.
    """
    texts = (
        _library(audit),
        impossible(audit),
        _approximation(audit),
        _precision(audit),
        f"The prior is no part of the model: {clean(audit.stand_in)}." if audit.stand_in else "",
        _no_better(audit),
        _folding_in(audit),
        probability(audit),
        f"{flat(audit.flat_topics, audit.topics)}." if audit.flat_topics else "",
    )
    return [text for text in texts if text][:MOST]


def _library(audit: AuditResult) -> str:
    """Return the causes of the library's own number, or the reason for none; empty where there is nothing to say."""
    reported, growing_term = audit.reported, growing(audit)
    if math.isnan(reported.value):
        return sentence(reported.note) if reported.note else ""
    causes = [sentence(reported.note)] if reported.note else []
    causes += [f"{raised(reported)}."] if audit.comparable and reported.base != math.e else []
    if growing_term is not None:
        name, cost, total = growing_term
        part = f"Of its {nats(total, 2)} nats per token the term “{name}” is {nats(cost, 2)}"
        says = f"{part}; it grows with the number of topics"
        if any(term.grows and term.of_documents for term in reported.terms):
            causes.append(f"{says}.")
        else:
            rest = perplexity(math.exp(min((total - cost) * math.log(reported.base), 700.0)))
            causes.append(f"{says} and says nothing of the documents. Without it the number would be {rest}.")
    return " ".join(causes)


def _approximation(audit: AuditResult) -> str:
    behaviour = behaviour_of(audit)
    if behaviour == "consistent":
        return ""
    label = _estimator(audit, audit.line(LIKELIHOOD))
    return f"What is called the likelihood here is an approximation: {label} {BEHAVIOURS[behaviour].clause}."


def _precision(audit: AuditResult) -> str:
    """Return a sentence on an estimate that takes more samples; empty for others."""
    missed, asked, error_of_one = below_bound(audit), audit.settings.get("standard_error"), document_error(audit)
    if missed:
        return (
            f"On {missed:,} of {amount(audit.documents, 'document')} the estimate is below the bound, which the "
            "likelihood never is, by more than its error tells. Take more samples."
        )
    if asked is not None and error_of_one > asked:
        return (
            f"An error of {asked:.2g} nats a document was asked for; of these documents it is {error_of_one:.2g} (root"
            " mean square). Take more samples."
        )
    return ""


def _no_better(audit: AuditResult) -> str:
    """Return a sentence on a model that is no better than one distribution for all documents; empty for others."""
    likelihood = audit.line(LIKELIHOOD).perplexity
    unigram = next((line.perplexity for line in audit.lines if line.evaluator == UNIGRAM), math.inf)
    if not (math.isfinite(likelihood) and unigram <= likelihood):
        return ""
    return f"The model is no better than the same distribution over words for every document, {perplexity(unigram)}."


def _folding_in(audit: AuditResult) -> str:
    full = next((line for line in audit.lines if line.evaluator == FULL), None)
    likelihood = audit.line(LIKELIHOOD).perplexity
    if full is None or not (full.tokens and math.isfinite(full.perplexity) and math.isfinite(likelihood)):
        return ""
    gap = difference(full.perplexity, likelihood)
    more = ", and more so with more topics" if gap.endswith("below") else ""
    return f"Full folding-in says {perplexity(full.perplexity)}, {gap} the likelihood's{more}.{_excess(audit)}"


def _excess(audit: AuditResult) -> str:
    """Return a sentence, after a space, on the factor of folding in beside the law's and the bound's; or ""."""
    if audit.excess is None or audit.excess.measured <= SAME * audit.tokens:
        return ""
    measured, expected, largest = (
        "" if math.isnan(value) else ratio(math.exp(min(value / audit.tokens, 700.0))) for value in audit.excess
    )
    limits = [f"{expected} for documents drawn from topics that share no word"] if expected else []
    limits += [f"at most {largest} for any topics and documents"] if largest else []
    tokens = amount(round(audit.tokens / audit.documents), "token")
    sizes = f"{amount(audit.topics, 'topic')} and documents of about {tokens}"
    reason = f": under the prior, {sizes} make that {', and '.join(limits)}" if limits else ""
    return f" The likelihood's is {measured} times as high{reason}."


def flat(topics: tuple[int, ...], n_topics: int) -> str:
    """Return a clause that names the nearly uniform topics by their numbers and counts all topics."""
    named = ", ".join(map(str, topics[:NAMED])) + (", …" if len(topics) > NAMED else "")
    verb, which = ("is", "a topic") if len(topics) == 1 else ("are", "topics")
    return (
        f"{len(topics):,} of {amount(n_topics, 'topic')} {verb} nearly uniform, as {which} that no document uses:"
        f" {named} (from 0)"
    )


def impossible(audit: AuditResult) -> str:
    """Return sentences on the documents of probability 0: their number, the others' perplexity, the remedy; or "".

    Under a prior that is positive everywhere a document is impossible if, and only if, one of its words is in no topic.
    """
    scored, likelihood = audit.lengths > 0, audit.nats[LIKELIHOOD]
    others = scored & np.isfinite(likelihood)
    count = int((scored & np.isneginf(likelihood)).sum())
    if not count:
        return ""
    verb, each = ("has", "it") if count == 1 else ("have", "each")
    text = (
        f"{count:,} of {amount(int(scored.sum()), 'document')} {verb} probability 0: a word in {each} is in no topic."
    )
    if others.any():
        tokens = int(audit.lengths[others].sum())
        value = math.exp(min(-float(likelihood[others].sum()) / tokens, 700.0))
        spread = value * audit.total_error(others) / tokens
        shown = f"{perplexity(value, spread)} ± {error(spread)}" if error(spread) else perplexity(value)
        folded = math.exp(min(-float(audit.nats[FULL][others].sum()) / tokens, 700.0))
        text += f" By their likelihood the others have perplexity {shown}, by full folding-in {perplexity(folded)}."
    return f"{text} To score all of them, smooth: --smoothing 1e-6 (smoothing=1e-6) adds that to every p(w | z)."


def below_bound(audit: AuditResult) -> int:
    """Return on how many documents the likelihood's estimate is below the mean-field lower bound, by `FAR` errors."""
    if audit.exact or MEAN_FIELD_BOUND not in audit.nats:
        return 0
    slack = ROUNDING * audit.lengths + FAR * np.nan_to_num(audit.errors[LIKELIHOOD])
    return int(((audit.nats[LIKELIHOOD] < audit.nats[MEAN_FIELD_BOUND] - slack) & (audit.lengths > 0)).sum())


def document_error(audit: AuditResult) -> float:
    """Return the root mean square over documents of the likelihood's errors, nats; 0 if none is stated."""
    errors = np.nan_to_num(audit.errors[LIKELIHOOD][audit.lengths > 0])
    return math.sqrt(float((errors**2).mean())) if len(errors) else 0.0


def probabilities(audit: AuditResult) -> Table | None:
    """Return the table of the test of every number as a probability; None without the test."""
    test, rows = audit.probability, list[tuple[str, str, str, str]]()
    if test is None:
        return None
    for name, excess in test.excesses.items():
        if name == LIKELIHOOD and audit.exact:
            rows.append((LIKELIHOOD, nats(0.0, 1), "", "yes, by definition"))
        else:
            answer = "no" if test.refutes(name) else "not refuted"
            rows.append((_label(audit, name), signed(excess.nats, 1), chance(excess.log_chance), answer))
    held = "their exact likelihood" if test.exact else "an upper limit on their likelihood, unbiased as 1 / p"
    return Table(
        "Is it a probability?",
        (Column("", number=False), Column("log e-value"), Column("chance"), Column("a probability?", number=False)),
        rows,
        f"On {amount(test.documents, 'document')} of {amount(test.tokens, 'token')} drawn from the model: each number's"
        f" e-value, its logarithm, nats, less that of {held}, and the most that a probability's chance of that can be."
        " What is not refuted need be none: a number that is too low never is.",
        tuple(row_number for row_number, row in enumerate(rows) if row[-1] == "no"),
    )


def probability(audit: AuditResult) -> str:
    """Return a sentence on the numbers that are no probabilities; empty if none is refuted."""
    test = audit.probability
    if test is None:
        return ""
    refuted = [
        f"{_label(audit, name)} (log e-value {signed(excess.nats, 0)} nats, chance at most {chance(excess.log_chance)})"
        for name, excess in test.excesses.items()
        if test.refutes(name)
    ]
    drawn = f"by {amount(test.documents, 'document')} drawn from the model"
    return f"Not a probability, {drawn}: {' and '.join(refuted)}." if refuted else ""


def _label(audit: AuditResult, evaluator: str) -> str:
    return clean(next((row.label for row in audit.rows if row.evaluator == evaluator), audit.library))


def behaviour_of(audit: AuditResult) -> str:
    """Return the behaviour of the likelihood's estimator, as in `heldout.evaluators.EstimatorProperties`."""
    known = ESTIMATORS.get(audit.line(LIKELIHOOD).estimator)
    return "consistent" if audit.exact or known is None else known.behaviour


def numbers(audit: AuditResult) -> Table:
    """Return the numbers side by side."""
    shown = perplexities([row.perplexity for row in audit.rows], [row.standard_error for row in audit.rows])
    rows = [
        (
            clean(row.label),
            number,
            ratio(row.ratio),
            interval(row.low, row.high),
            error(row.standard_error),
            row.kind,
            nats(row.nats_per_token),
        )
        for row, number in zip(audit.rows, shown, strict=True)
    ]
    return Table(
        "Perplexity per token",
        (
            Column("", number=False),
            Column("perplexity"),
            Column("ratio"),
            Column("over documents"),
            Column("±"),
            Column("what it is", number=False),
            Column("nats"),
        ),
        rows,
        "The ratio is to the likelihood's perplexity: below 1 a number flatters the model. Over documents: the 95 %"
        " interval for other documents like these, the model fixed. ±: the standard error of the estimator alone. Nats"
        " are per token.",
        tuple(row_number for row_number, row in enumerate(audit.rows) if row.evaluator == LIKELIHOOD),
    )


def terms(audit: AuditResult) -> Table | None:
    """Return the parts of the library's own number; None where there are none."""
    parts = audit.reported.terms
    costs = per_term(audit)
    if not costs:
        return None
    return Table(
        f"The terms of {clean(audit.reported.function)}",
        (Column("term", number=False), Column("nats per token"), Column("grows with topics", number=False)),
        [(clean(t.name), nats(cost), "yes" if t.grows else "") for t, cost in zip(parts, costs, strict=True)],
        "What adds up to the number, before the exponential: the larger, the higher the perplexity.",
        tuple(row_number for row_number, term in enumerate(parts) if term.grows),
    )


def topics(audit: AuditResult) -> Table | None:
    """Return the topics with their shares of the tokens; None where they were not looked at."""
    if not audit.topics_used:
        return None

    def row(topic: Topic) -> tuple[str, ...]:
        exclusivity = "unused" if topic.unused else f"{topic.exclusivity:.2f}"
        return f"{topic.number}", f"{100.0 * topic.share:.1f} %", exclusivity, " ".join(map(clean, topic.words))

    unused = sum(topic.unused for topic in audit.topics_used)
    return Table(
        "The topics, by their share of the tokens",
        (Column("topic", number=False), Column("share"), Column("exclusivity"), Column("top words", number=False)),
        [row(topic) for topic in audit.topics_used],
        f"Shares are by full folding-in; {unused:,} of {audit.topics:,} topics unused. Diversity, the share of"
        f" different words among all these: {audit.diversity:.2f}.",
        most=5,
    )


def documents(audit: AuditResult) -> Table | None:
    """Return the documents on which full folding-in and the likelihood differ most; None where there are none."""

    def row(document: Different) -> tuple[str, ...]:
        full, own = (document.nats_per_token.get(name, math.nan) for name in (FULL, LIKELIHOOD))
        words = ", ".join(shorten(clean(word), 40) for word in document.words)
        cells = (signed(full - own, 2), f"{document.tokens:,}", nats(own, 2), nats(full, 2), words)
        return (shorten(clean(document.name), 80), *cells)

    heads = (Column("document", number=False), *map(Column, ("gap", "tokens", "likelihood", "full")))
    return (
        Table(
            "Where full folding-in and the likelihood differ most",
            (*heads, Column("words", number=False)),
            [row(document) for document in audit.most_different],
            "Nats per token; the gap is full folding-in less the likelihood.",
        )
        if audit.most_different
        else None
    )


def tables(audit: AuditResult) -> list[Table]:
    """Return the tables that the audit has, in the order of a report."""
    made = (numbers(audit), terms(audit), topics(audit), probabilities(audit), documents(audit))
    return [table for table in made if table is not None]


def kind(evaluator: str, estimator: str) -> str:
    """Return the kind of an evaluator's number, in a few words."""
    if evaluator != LIKELIHOOD:
        return EVALUATORS[evaluator].kind
    return "exact" if estimator == EXACT else BEHAVIOURS[ESTIMATORS[estimator].behaviour].kind


def counted(audit: AuditResult) -> str:
    """Return a sentence on the documents and tokens that were scored and left out."""
    all_tokens = audit.tokens + audit.left_out
    share = f" ({100.0 * audit.left_out / all_tokens:.1f} %)" if audit.left_out else ""
    smoothing = audit.settings.get("smoothing")
    smoothed = [f"{smoothing:g} added to every p(w | z)"] if smoothing else []
    clauses = [
        f"{amount(audit.documents, 'document')} of {amount(audit.tokens, 'token')} scored",
        f"{amount(audit.left_out, 'token')}{share} outside the vocabulary left out",
        f"{amount(audit.empty, 'document')} without a known word left out",
        *smoothed,
    ]
    return f"{'; '.join(clauses)}.{'' if left_out(audit) else uncut(audit)}"


def model_line(audit: AuditResult) -> str:
    """Return a line that names the model and the documents."""
    library = clean(f"{audit.library} {audit.version}").strip()
    sizes = f"{amount(audit.topics, 'topic')}, {amount(audit.words, 'word')}"
    return f"{clean(audit.model)} ({library}; {sizes}) on {clean(audit.corpus)}"


def prior(audit: AuditResult) -> str:
    """Return a line on the prior: its kind, the ranges of its parameters, and the reason for a choice made here."""
    ranges = []
    for name, values in audit.parameters.items():
        low, high = (f"{value:.4g}".replace("-", MINUS) for value in (values.min(), values.max()))
        ranges.append(f"{name} {low}" if low == high else f"{name} {low} to {high}")
    chosen = [clean(audit.stand_in)] if audit.stand_in else []
    return f"Prior: {'; '.join([', '.join([audit.prior.name, *ranges]), *chosen])}."


def own_number(audit: AuditResult) -> str:
    """Return sentences on the library's own number: its function, value and meaning; empty for none."""
    reported = audit.reported
    if math.isnan(reported.value):
        return ""
    value = f"{reported.value:,.6g}".replace("-", MINUS)
    gives = f"{clean(reported.function)} gives {value} ({clean(reported.unit)}), of {clean(reported.about)}."
    return f"{gives} {sentence(reported.computes)}" if reported.computes else gives


def note(audit: AuditResult) -> str:
    """Return a sentence on the likelihood's estimator and the reason for it; empty if the audit gives no reason."""
    line = audit.line(LIKELIHOOD)
    samples = f", {_samples(line)} a document" if line.samples else ""
    return f"The likelihood is by {_estimator(audit, line)}{samples}. {sentence(audit.reason)}" if audit.reason else ""


def _estimator(audit: AuditResult, line: Line) -> str:
    name = clean(audit.prior.label(line.estimator))
    return "exact computation" if name == "exact" else name


def _samples(line: Line) -> str:
    if line.estimator == REFERENCE:
        return f"at most {amount(line.samples, 'sweep')}"
    return amount(line.samples, "sample")
