"""The sentences and the rows of an audit, the same for terminal and page.

With L scored tokens, log-likelihood l and its standard error s (nats), per token

    -l / L            nats,
    s / L             its standard error,
    exp(-l / L)       the perplexity, with the standard error exp(-l / L) s / L by the delta method,
    exp((l_0 - l)/L)  its ratio to the truth's, where l_0 / L is the truth per token.

A ratio below 1 flatters the model.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heldout.auditing.audit.result import AuditResult, Line
from heldout.auditing.blocks import REPORTED, TRUTH
from heldout.auditing.formats import (
    ALPHA,
    ERRORS,
    MINUS,
    ROUNDING,
    SAME,
    amount,
    chance,
    clean,
    difference,
    error,
    nats,
    perplexity,
    ratio,
    sentence,
    signed,
)
from heldout.evaluators import ESTIMATORS, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.priors import DIRICHLET, LOGISTIC_NORMAL
from heldout.libraries import THESE, Reported
from heldout.typing import Floats

FAR = 3.0  # errors of a document
NAMED = 10  # topics
ARGUMENTS = ("estimator", "samples", "standard_error", "seed", "smoothing")  # settings that `heldout.audit` takes


class Words(NamedTuple):
    """An evaluator, or the behaviour of an estimator, in words.

    Attributes:
        label: its name in print; of a behaviour what stands behind the estimator's name, empty for nothing.
        kind: what its perplexity is, in a table.
        clause: says what it computes, or how it behaves.
    """

    label: str
    kind: str
    clause: str


EVALUATORS = {
    MEAN_FIELD_BOUND: Words(
        "mean-field bound",
        "never below truth",
        "The variational lower bound on the same log-likelihood under a mean-field posterior: its perplexity is never"
        " below the truth's, and how far above differs between models.",
    ),
    FULL: Words(
        "full folding-in",
        "optimistic",
        "Each document's topic weights are fitted to it by maximum likelihood and then score the same tokens, which"
        " they have seen: too good, and the better the more topics there are to fit with.",
    ),
    HALF: Words(
        "half folding-in",
        "half given half",
        "Topic weights are fitted to one half of a document's tokens and score the other half: nothing is used twice,"
        " but it is the likelihood of half a document given the rest, and not of the document.",
    ),
}
BEHAVIOURS = {
    "consistent": Words("", "estimate", "meets the log-likelihood with enough samples"),
    "low": Words(
        "biased low",
        "biased, too high",
        "gives less than the log-likelihood, or is biased towards less, so that its perplexity is too high",
    ),
    "high": Words(
        "biased high",
        "biased, too low",
        "gives more than the log-likelihood, or is biased towards more, so that its perplexity is too low",
    ),
    "biased": Words(
        "biased either way", "biased either way", "is biased, on some documents one way and on others the other"
    ),
    "another distribution": Words(
        "biased either way",
        "biased either way",
        "converges to the likelihood under another distribution over documents, too low on average over documents drawn"
        " from the model, and too low or too high on real ones",
    ),
    "other": Words("", "another quantity", "has another target than the log-likelihood"),
}


@dataclass(frozen=True)
class Row:
    """A formatted row of the table of numbers.

    Attributes:
        evaluator: `Line.evaluator`, or "reported".
        label, perplexity, error, ratio, nats, nats_error: the cells; an error is empty if there is none.
        kind: what the number is, in a few words.
    """

    evaluator: str
    label: str
    perplexity: str
    error: str
    ratio: str
    nats: str
    nats_error: str
    kind: str


def comparable(audit: AuditResult) -> bool:
    """Return whether the library's number is of the audited documents."""
    return audit.reported.about == THESE and not math.isnan(audit.reported.perplexity)


def truth_text(audit: AuditResult) -> str:
    """Return the truth's perplexity with its standard error, or "exactly" and the number."""
    line = audit.line(TRUTH)
    if audit.truth_exact:
        return f"exactly {perplexity(line.perplexity)}"
    spread = line.perplexity * line.error_per_token
    text = perplexity(line.perplexity, spread)
    return f"{text} ± {error(spread)}" if error(spread) else f"about {text}"


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


def headline(audit: AuditResult) -> str:
    """Return the verdict, one sentence: the library's number and the likelihood."""
    truth, reported = audit.line(TRUTH), audit.reported
    library = clean(audit.library)
    if not truth.tokens:
        return "No document has been scored."
    likelihood = f"by their likelihood the perplexity of these documents is {truth_text(audit)} per token"
    if truth.perplexity == math.inf:
        likelihood = "these documents have likelihood 0, as the model gives some of their tokens probability 0"
    if comparable(audit):
        stop = ":" if truth.perplexity < math.inf else ";"
        return f"{library} says {perplexity(reported.perplexity)}{_relation(audit)}{stop} {likelihood}."
    if math.isnan(reported.value):
        own = "No library's number" if audit.library == "arrays" else f"No number of {library}"
        return f"{own} to compare with: {likelihood}."
    value = f"{reported.value:,.5g}".replace("-", MINUS)
    return f"{library} says {value} ({clean(reported.unit)}), but of {clean(reported.about)}: {likelihood}."


def raised(reported: Reported) -> str:
    """Return a clause on a printed perplexity that raises another number than e."""
    of_bound = perplexity(math.exp(min(-reported.nats_per_token, 700.0)))
    return (
        f"{clean(reported.function)} prints {reported.base:g} to the bound in nats, {perplexity(reported.perplexity)};"
        f" the bound's perplexity is e to it, {of_bound}"
    )


def _relation(audit: AuditResult) -> str:
    truth, reported = audit.line(TRUTH), audit.reported
    if not (math.isfinite(truth.perplexity) and math.isfinite(reported.perplexity)):
        return ""
    spread = 0.0 if math.isnan(truth.error_per_token) else truth.error_per_token
    if abs(reported.log_perplexity + truth.nats_per_token) <= max(SAME, ERRORS * spread):
        return ", and rightly"
    return f", {difference(reported.perplexity, truth.perplexity)} the truth"


def reasons(audit: AuditResult) -> Iterator[str]:
    """Yield the sentences below the verdict: the growing term, folding-in, how far to trust the truth."""
    growing_term = growing(audit)
    if comparable(audit) and audit.reported.base != math.e:
        yield f"{raised(audit.reported)}."
    if growing_term is not None:
        name, cost, total = growing_term
        without = perplexity(math.exp(min((total - cost) * math.log(audit.reported.base), 700.0)))
        part = f"Of its {nats(total, 2)} nats per token the term “{name}” is {nats(cost, 2)}"
        says = f"{part}; it grows with the number of topics"
        if any(term.grows and term.of_documents for term in audit.reported.terms):
            yield f"{says}."
        else:
            yield f"{says} and says nothing of the documents. Without it the number would be {without}."
    if math.isnan(audit.reported.value) and audit.reported.note:
        yield sentence(audit.reported.note)
    if impossible(audit):
        yield impossible(audit)
    if audit.flat_topics:
        yield f"{flat(audit.flat_topics, audit.topics)}."
    truth = audit.line(TRUTH)
    full = next((line for line in audit.lines if line.evaluator == FULL), None)
    if full is not None and full.tokens and math.isfinite(full.perplexity) and math.isfinite(truth.perplexity):
        gap = difference(full.perplexity, truth.perplexity)
        more = ", and more so with more topics" if full.perplexity < truth.perplexity else ""
        yield f"Full folding-in says {perplexity(full.perplexity)}, {gap} the truth{more}."
    if probability(audit):
        yield probability(audit)
    missed = below_bound(audit)
    if missed:
        yield (
            f"On {missed:,} of {amount(audit.documents, 'document')} the estimate is below the bound, which the "
            "likelihood never is, by more than its error tells. Take more samples."
        )
    wanted, found = audit.settings.get("standard_error"), document_error(audit)
    if wanted is not None and found > wanted:
        yield (
            f"An error of {wanted:.2g} nats a document was asked for; of these documents it is {found:.2g} (root mean "
            "square)."
        )
    behaviour = truth_behaviour(audit)
    if behaviour != "consistent":
        label = _estimator(audit, truth)
        yield f"What stands for the truth here is an approximation: {label} {BEHAVIOURS[behaviour].clause}."


def flat(topics: tuple[int, ...], of: int) -> str:
    """Return a clause that names nearly uniform topics, some of so many, by their numbers."""
    named = ", ".join(map(str, topics[:NAMED])) + (", …" if len(topics) > NAMED else "")
    verb, which = ("is", "a topic") if len(topics) == 1 else ("are", "topics")
    return (
        f"{len(topics):,} of {amount(of, 'topic')} {verb} nearly uniform, as {which} that no document uses:"
        f" {named} (from 0)"
    )


def impossible(audit: AuditResult) -> str:
    """Return sentences on the documents of probability 0: how many, what the others give, the way out; empty if none.

    Under a prior that is positive everywhere a document is impossible if, and only if, one of its words is in no topic.
    """
    scored, truth = audit.lengths > 0, audit.nats[TRUTH]
    others = scored & np.isfinite(truth)
    count = int((scored & np.isneginf(truth)).sum())
    if not count:
        return ""
    verb, each = ("has", "it") if count == 1 else ("have", "each")
    text = (
        f"{count:,} of {amount(int(scored.sum()), 'document')} {verb} probability 0: a word in {each} is in no topic."
    )
    if others.any():
        tokens = int(audit.lengths[others].sum())
        value = math.exp(min(-float(truth[others].sum()) / tokens, 700.0))
        spread = value * audit.total_error(others) / tokens
        shown = f"{perplexity(value, spread)} ± {error(spread)}" if error(spread) else perplexity(value)
        folded = math.exp(min(-float(audit.nats[FULL][others].sum()) / tokens, 700.0))
        text += f" By their likelihood the others have perplexity {shown}, by full folding-in {perplexity(folded)}."
    return f"{text} To score all of them, smooth: --smoothing 1e-6 (smoothing=1e-6) adds that to every p(w | z)."


def below_bound(audit: AuditResult) -> int:
    """Return on how many documents the truth's estimate is below the mean-field lower bound, by `FAR` errors."""
    if audit.truth_exact or MEAN_FIELD_BOUND not in audit.nats:
        return 0
    slack = ROUNDING * audit.lengths + FAR * np.nan_to_num(audit.errors[TRUTH])
    return int(((audit.nats[TRUTH] < audit.nats[MEAN_FIELD_BOUND] - slack) & (audit.lengths > 0)).sum())


def document_error(audit: AuditResult) -> float:
    """Return the root mean square over documents of the truth's errors, nats; 0 if none is stated."""
    errors = np.nan_to_num(audit.errors[TRUTH][audit.lengths > 0])
    return math.sqrt(float((errors**2).mean())) if len(errors) else 0.0


def incomplete(audit: AuditResult) -> str:
    """Return the first line of an incomplete audit; empty for a complete one."""
    if audit.complete:
        return ""
    return f"INCOMPLETE: interrupted after {audit.documents:,} documents; every number is of those alone."


def probability_rows(audit: AuditResult) -> list[tuple[str, str, str, str]]:
    """Return rows of the test on drawn documents: label, log e-value in nats, the chance of that, the answer."""
    test, rows = audit.probability, list[tuple[str, str, str, str]]()
    for name, found in test.excesses.items() if test else ():
        if name == TRUTH and audit.truth_exact:
            rows.append((TRUTH, nats(0.0, 1), "", "yes, by definition"))
        else:
            answer = "no" if test and test.refutes(name) else "not refuted"
            rows.append((_label(audit, name), signed(found.nats, 1), chance(found.log_chance), answer))
    return rows


def probability_caption(audit: AuditResult) -> str:
    """Return what the test on drawn documents is, one sentence; empty where there was none."""
    test = audit.probability
    if test is None:
        return ""
    held = "their exact likelihood" if test.exact else "an upper limit on their likelihood, unbiased as 1 / p"
    return (
        f"On {amount(test.documents, 'document')} of {amount(test.tokens, 'token')} drawn from the model: each number's"
        f" e-value, its logarithm less that of {held}, and the most that a probability's chance of that can be"
    )


def probability(audit: AuditResult) -> str:
    """Return a sentence on the numbers that are no probabilities; empty if none is refuted."""
    test = audit.probability
    if test is None:
        return ""
    refuted = [
        f"{_label(audit, name)} (log e-value {signed(found.nats, 0)} nats, chance at most {chance(found.log_chance)})"
        for name, found in test.excesses.items()
        if test.refutes(name)
    ]
    drawn = f"by {amount(test.documents, 'document')} drawn from the model"
    return f"Not a probability, {drawn}: {' and '.join(refuted)}." if refuted else ""


def _label(audit: AuditResult, evaluator: str) -> str:
    if evaluator == REPORTED:
        return clean(audit.library)
    return TRUTH if evaluator == TRUTH else clean(audit.line(evaluator).label)


def truth_behaviour(audit: AuditResult) -> str:
    """Return the behaviour of the truth's estimator, as in `heldout.evaluators.EstimatorProperties`."""
    known = ESTIMATORS.get(audit.line(TRUTH).estimator)
    return "consistent" if audit.truth_exact or known is None else known.behaviour


def rows(audit: AuditResult) -> list[Row]:
    """Return the table's rows: the library's own number, the truth, and the other evaluators in their order."""
    truth = audit.line(TRUTH)
    table = []
    if comparable(audit):
        r = audit.reported
        table.append(
            Row(
                *("reported", clean(audit.library), perplexity(r.perplexity), ""),
                *(_ratio(-r.log_perplexity, truth), nats(r.nats_per_token), "", "as printed"),
            )
        )
    for line in sorted(audit.lines, key=lambda line: line.evaluator != TRUTH):
        table.append(
            Row(
                line.evaluator,
                TRUTH if line.evaluator == TRUTH else clean(line.label),
                perplexity(line.perplexity, line.perplexity * line.error_per_token) if line.tokens else "none",
                error(line.perplexity * line.error_per_token),
                _ratio(line.nats_per_token, truth),
                nats(line.nats_per_token),
                error(line.error_per_token),
                kind(audit, line),
            )
        )
    return table


def _ratio(value: float, truth: Line) -> str:
    gap = truth.nats_per_token - value if truth.perplexity < math.inf else math.nan
    return ratio(math.exp(gap) if gap < 700.0 else math.inf if gap == gap else math.nan)


def kind(audit: AuditResult, line: Line) -> str:
    """Return a characterisation of an evaluator's number in a few words."""
    if line.evaluator == TRUTH:
        return "exact" if audit.truth_exact else BEHAVIOURS[truth_behaviour(audit)].kind
    return EVALUATORS[line.evaluator].kind


def explanation(audit: AuditResult, line: Line) -> str:
    """Return what an evaluator computes, one sentence."""
    if line.evaluator != TRUTH:
        return EVALUATORS[line.evaluator].clause
    how = "computed exactly"
    if not audit.truth_exact:
        samples = f" with {_samples(line)} a document" if line.samples else ""
        how = f"estimated by {_estimator(audit, line)}{samples}, which {BEHAVIOURS[truth_behaviour(audit)].clause}"
    given = SYMBOLS[audit.prior.name]
    return (
        f"The marginal likelihood p(w | {given}, Φ) of each document, its topic weights integrated over the model's"
        f" {audit.prior.name} prior so that no token is used twice; {how}."
    )


def counted(audit: AuditResult) -> list[str]:
    """Return clauses on what was scored and what was left out."""
    all_tokens = audit.tokens + audit.left_out
    share = f" ({100.0 * audit.left_out / all_tokens:.1f} %)" if audit.left_out else ""
    smoothing = audit.settings.get("smoothing")
    smoothed = [f"{smoothing:g} added to every p(w | z)"] if smoothing else []
    return [
        f"{amount(audit.documents, 'document')} of {amount(audit.tokens, 'token')} scored",
        f"{amount(audit.left_out, 'token')}{share} outside the vocabulary left out",
        f"{amount(audit.empty, 'document')} without a known word left out",
        *smoothed,
    ]


def model_line(audit: AuditResult) -> str:
    """Return a line that names the model and the documents."""
    library = clean(f"{audit.library} {audit.version}").strip()
    return f"{clean(audit.model)} ({library}; {audit.topics:,} topics, {audit.words:,} words) on {clean(audit.corpus)}"


def prior(audit: AuditResult) -> str:
    """Return a short description of the prior."""
    return DESCRIBED[audit.prior.name](**audit.parameters)


def _dirichlet(alpha: Floats) -> str:
    low, high = float(alpha.min()), float(alpha.max())
    each = f"{low:.4g} each" if low == high else f"{low:.4g} to {high:.4g}"
    return f"Dirichlet, {ALPHA} {each}, sum {float(alpha.sum()):.4g}"


def _logistic_normal(mean: Floats, covariance: Floats) -> str:
    widths = np.sqrt(np.diag(covariance))
    means, spreads = (f"{part.min():.4g} to {part.max():.4g}".replace("-", MINUS) for part in (mean, widths))
    return f"Logistic normal, log weights over the last topic's of means {means}, standard deviations {spreads}"


# by the kind of prior: its parameters' symbols, and the function that describes them
SYMBOLS = {DIRICHLET.name: ALPHA, LOGISTIC_NORMAL.name: "μ, Σ"}
DESCRIBED: dict[str, Callable[..., str]] = {DIRICHLET.name: _dirichlet, LOGISTIC_NORMAL.name: _logistic_normal}


def command(audit: AuditResult) -> str:
    """Return the command line that repeats the audit (settings["command"]), or else the call from Python."""
    typed = audit.settings.get("command")
    if isinstance(typed, str) and typed:
        return clean(typed)
    arguments = [f"{name}={audit.settings[name]!r}" for name in ARGUMENTS if name in audit.settings]
    return clean(f"heldout.audit({', '.join(['model', 'documents', *arguments])})")


def truth_note(audit: AuditResult) -> str:
    """Return a sentence on the truth's estimator and the reason for it; empty if the audit gives no reason."""
    line = audit.line(TRUTH)
    samples = f", {_samples(line)} a document" if line.samples else ""
    return f"The truth is by {_estimator(audit, line)}{samples}. {sentence(audit.reason)}" if audit.reason else ""


def _estimator(audit: AuditResult, line: Line) -> str:
    name = clean(audit.prior.label(line.estimator))
    return "exact computation" if name == "exact" else name


def _samples(line: Line) -> str:
    if line.estimator == REFERENCE:
        return f"at most {amount(line.samples, 'sweep')}"
    return amount(line.samples, "sample")
