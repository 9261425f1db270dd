"""An audit's words and formatted numbers, the same for terminal and page.

With L scored tokens, log-likelihood l and its standard error s (nats), per token

    -l / L            nats,
    s / L             its standard error,
    exp(-l / L)       the perplexity, with the standard error exp(-l / L) s / L by the delta method,
    exp((l_0 - l)/L)  its ratio to the truth's, where l_0 / L is the truth per token.

A ratio below 1 flatters the model. Names of documents and words come from files and may contain anything: `clean`
removes characters that a terminal or a browser acts on.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from heldout.auditing.result import REPORTED, TRUTH, Audit, Line
from heldout.errors import printable
from heldout.evaluators import ESTIMATORS, FULL, HALF, MEAN_FIELD_BOUND, REFERENCE
from heldout.evaluators.logistic_normal import label_of
from heldout.libraries import THESE

TIMES, MINUS, ALPHA = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}", "\N{GREEK SMALL LETTER ALPHA}"
SAME = 1e-3  # nats per token: numbers closer than this count as equal
ROUNDING = 1e-9  # nats per token
FAR = 3.0  # errors of a document
ERRORS = 2.0  # standard errors: so does a number this close to the truth

ARGUMENTS = ("estimator", "samples", "standard_error", "seed", "smoothing")  # settings that `heldout.audit` takes

SHORT = {
    "consistent": "estimate",
    "low": "biased, too high",
    "high": "biased, too low",
    "biased": "biased either way",
    "another distribution": "biased either way",
    "other": "another quantity",
}
LONG = {
    "consistent": "meets the log-likelihood with enough samples",
    "low": "gives less than the log-likelihood, or is biased towards less, so that its perplexity is too high",
    "high": "gives more than the log-likelihood, or is biased towards more, so that its perplexity is too low",
    "biased": "is biased, on some documents one way and on others the other",
    "another distribution": "converges to the likelihood under another distribution over documents, too low on average "
    "over documents drawn from the model, and too low or too high on real ones",
    "other": "has another target than the log-likelihood",
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


clean = printable


def shorten(text: str, most: int) -> str:
    """Return text shortened to at most `most` characters by omitting the middle."""
    if len(text) <= most:
        return text
    head = most // 2
    return text[:head] + "…" + text[len(text) - (most - 1 - head) :]


def perplexity(value: float, spread: float = 0.0) -> str:
    """Return a perplexity, with a power of ten from ten million on, and with as many decimals as its error warrants.

    Examples:
        >>> perplexity(1234.5678), perplexity(1234.5678, 0.12), perplexity(2.5e7)
        ('1,235', '1,234.57', '2.5e7')
    """
    if not math.isfinite(value):
        return "infinite" if value > 0.0 else "none"
    if value >= 1e7:
        return _power(value)
    shown = error(spread)
    if shown and "e" not in shown:
        return f"{value:,.{len(shown.partition('.')[2])}f}"
    return f"{value:,.0f}" if value >= 1000.0 else f"{value:,.1f}"


def nats(value: float, digits: int = 3) -> str:
    """Return nats per token with a true minus sign."""
    if math.isnan(value):
        return "none"
    return f"{MINUS}∞" if value == -math.inf else f"{value:z,.{digits}f}".replace("-", MINUS)


def signed(value: float, digits: int = 3) -> str:
    """Return a difference in nats with its sign."""
    return ("+" if value > 0.0 else "") + nats(value, digits)


def ratio(value: float) -> str:
    """Return a factor with about three digits."""
    if not math.isfinite(value):
        return "infinite" if value > 0.0 else "none"
    if value < 10.0:
        return f"{value:.3f}"
    if value < 1e5:
        return f"{value:,.1f}" if value < 1000.0 else f"{value:,.0f}"
    return _power(value)


def difference(value: float, reference: float) -> str:
    """Return in words how a perplexity compares with another.

    Examples:
        >>> difference(3220.0, 100.0), difference(62.0, 100.0)
        ('32 times', '38 % below')
    """
    factor = value / reference
    if factor >= 2.0:
        number = f"{factor:.1f}".removesuffix(".0") if factor < 9.95 else f"{factor:,.0f}"
        return f"{number if factor < 1e5 else ratio(factor)} times"
    percent = abs(factor - 1.0) * 100.0
    return f"{percent:.{0 if percent >= 9.95 else 1 if percent >= 0.95 else 2}f} % {'above' if factor > 1 else 'below'}"


def error(value: float) -> str:
    """Return a standard error with two digits, or one where the first is above 3; empty where there is none.

    Examples:
        >>> error(0.1234), error(0.567), error(0.0)
        ('0.12', '0.6', '')
    """
    if not math.isfinite(value) or value <= 0.0:
        return ""
    mantissa, exponent = f"{value:.1e}".split("e")
    digits = (1 if float(mantissa) < 3.5 else 0) - int(exponent)
    return f"{value:,.{max(digits, 0)}f}" if -6 <= digits <= 6 else _power(value)


def comparable(audit: Audit) -> bool:
    """Return whether the library's number is of the audited documents."""
    return audit.reported.about == THESE and not math.isnan(audit.reported.perplexity)


def truth_text(audit: Audit) -> str:
    """Return the truth's perplexity with its standard error, or "exactly" and the number."""
    line = audit.line(TRUTH)
    if audit.truth_exact:
        return f"exactly {perplexity(line.perplexity)}"
    spread = line.perplexity * line.error_per_token
    text = perplexity(line.perplexity, spread)
    return f"{text} ± {error(spread)}" if error(spread) else f"about {text}"


def growing(audit: Audit) -> tuple[str, float, float] | None:
    """Return the growing terms of the reported number: names, cost, and all terms' cost, nats per token."""
    terms = audit.reported.terms
    grow = [term for term in terms if term.grows]
    if not grow or not per_term(audit):
        return None
    costs = dict(zip((term.name for term in terms), per_term(audit), strict=True))
    return " and ".join(clean(t.name) for t in grow), sum(costs[t.name] for t in grow), sum(costs.values())


def per_term(audit: Audit) -> list[float]:
    """Return the cost of every term of the reported number, nats per token; a positive cost raises the perplexity.

    The library divides the terms' sum by its number of tokens, which is inferred from its own number.
    """
    reported = audit.reported
    total = sum(term.nats for term in reported.terms)
    tokens = total / reported.nats_per_token if math.isfinite(reported.nats_per_token) and total else audit.tokens
    return [-term.nats / tokens for term in reported.terms] if tokens else []


def headline(audit: Audit) -> str:
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


def _relation(audit: Audit) -> str:
    truth, reported = audit.line(TRUTH), audit.reported
    if not (math.isfinite(truth.perplexity) and math.isfinite(reported.perplexity)):
        return ""
    spread = 0.0 if math.isnan(truth.error_per_token) else truth.error_per_token
    if abs(reported.nats_per_token - truth.nats_per_token) <= max(SAME, ERRORS * spread):
        return ", and rightly"
    return f", {difference(reported.perplexity, truth.perplexity)} the truth"


def reasons(audit: Audit) -> Iterator[str]:
    """Yield the sentences below the verdict: the growing term, folding-in, how far to trust the truth."""
    growing_term = growing(audit)
    if growing_term is not None:
        name, cost, total = growing_term
        without = perplexity(math.exp(min(total - cost, 700.0)))
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
            f"On {missed:,} of {_count(audit.documents, 'document')} the estimate is below the bound, which the "
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
        yield f"What stands for the truth here is an approximation: {label} {LONG[behaviour]}."


def impossible(audit: Audit) -> str:
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
        f"{count:,} of {_count(int(scored.sum()), 'document')} {verb} probability 0: a word in {each} is in no topic."
    )
    if others.any():
        tokens = int(audit.lengths[others].sum())
        value = math.exp(min(-float(truth[others].sum()) / tokens, 700.0))
        spread = value * audit.total_error(others) / tokens
        shown = f"{perplexity(value, spread)} ± {error(spread)}" if error(spread) else perplexity(value)
        folded = math.exp(min(-float(audit.nats[FULL][others].sum()) / tokens, 700.0))
        text += f" By their likelihood the others have perplexity {shown}, by full folding-in {perplexity(folded)}."
    return f"{text} To score all of them, smooth the topics: --smoothing 1e-6 adds that to every p(w | z)."


def below_bound(audit: Audit) -> int:
    """Return on how many documents the truth's estimate is below the mean-field lower bound, by `FAR` errors."""
    if audit.truth_exact or MEAN_FIELD_BOUND not in audit.nats:
        return 0
    slack = ROUNDING * audit.lengths + FAR * np.nan_to_num(audit.errors[TRUTH])
    return int(((audit.nats[TRUTH] < audit.nats[MEAN_FIELD_BOUND] - slack) & (audit.lengths > 0)).sum())


def document_error(audit: Audit) -> float:
    """Return the root mean square over documents of the truth's errors, nats; 0 if none is stated."""
    errors = np.nan_to_num(audit.errors[TRUTH][audit.lengths > 0])
    return math.sqrt(float((errors**2).mean())) if len(errors) else 0.0


def incomplete(audit: Audit) -> str:
    """Return the first line of an incomplete audit; empty for a complete one."""
    if audit.complete:
        return ""
    return f"INCOMPLETE: interrupted after {audit.documents:,} documents; every number is of those alone."


def probability_rows(audit: Audit) -> list[tuple[str, str, str, str]]:
    """Return rows of the test on drawn documents: label, nats above the truth, the chance of that, the answer."""
    test, rows = audit.probability, list[tuple[str, str, str, str]]()
    for name, found in test.excesses.items() if test else ():
        if name == TRUTH and audit.truth_exact:
            rows.append((TRUTH, nats(0.0, 1), "", "yes, by definition"))
        else:
            answer = "no" if test and test.refutes(name) else "not refuted"
            rows.append((_label(audit, name), signed(found.nats, 1), chance(found.log_chance), answer))
    return rows


def probability_caption(audit: Audit) -> str:
    """Return what the test on drawn documents is, one sentence; empty where there was none."""
    test = audit.probability
    if test is None:
        return ""
    held = "their exact likelihood" if test.exact else "their likelihood, estimated without bias in 1 / p"
    return (
        f"On {_count(test.documents, 'document')} of {_count(test.tokens, 'token')} drawn from the model: how far each"
        f" number's logarithm lies above {held}, and the most that a probability's chance of that can be"
    )


def probability(audit: Audit) -> str:
    """Return a sentence on the numbers that are no probabilities; empty if none is refuted."""
    test = audit.probability
    if test is None:
        return ""
    refuted = [
        f"{_label(audit, name)} ({signed(found.nats, 0)} nats above the truth,"
        f" chance at most {chance(found.log_chance)})"
        for name, found in test.excesses.items()
        if test.refutes(name)
    ]
    drawn = f"by {_count(test.documents, 'document')} drawn from the model"
    return f"Not a probability, {drawn}: {' and '.join(refuted)}." if refuted else ""


def chance(log_chance: float) -> str:
    """Return a chance from its logarithm, nats.

    Examples:
        >>> chance(0.0), chance(-1.0), chance(-1234.5)
        ('1', '0.37', '1e-536')
    """
    if log_chance > math.log(0.005):
        return f"{math.exp(log_chance):.2g}"
    if log_chance == -math.inf:
        return "0"
    return f"1e{math.ceil(log_chance / math.log(10.0) - ROUNDING)}"


def _label(audit: Audit, evaluator: str) -> str:
    if evaluator == REPORTED:
        return clean(audit.library)
    return TRUTH if evaluator == TRUTH else clean(audit.line(evaluator).label)


def truth_behaviour(audit: Audit) -> str:
    """Return the behaviour of the truth's estimator, as in `heldout.evaluators.EstimatorProperties`."""
    known = ESTIMATORS.get(audit.line(TRUTH).estimator)
    return "consistent" if audit.truth_exact or known is None else known.behaviour


def rows(audit: Audit) -> list[Row]:
    """Return the table's rows: the library's own number, the truth, and the other evaluators in their order."""
    truth = audit.line(TRUTH)
    table = []
    if comparable(audit):
        r = audit.reported
        table.append(
            Row(
                *("reported", clean(audit.library), perplexity(r.perplexity), ""),
                *(_ratio(r.nats_per_token, truth), nats(r.nats_per_token), "", "as printed"),
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


def kind(audit: Audit, line: Line) -> str:
    """Return a characterisation of an evaluator's number in a few words."""
    if line.evaluator == TRUTH:
        if audit.truth_exact:
            return "exact"
        return SHORT[truth_behaviour(audit)]
    if line.evaluator == FULL:
        return "optimistic"
    if line.evaluator == HALF:
        return "half given half"
    if line.evaluator == MEAN_FIELD_BOUND:
        return "never below truth"
    return SHORT[ESTIMATORS[line.evaluator].behaviour] if line.evaluator in ESTIMATORS else ""


def explanation(audit: Audit, line: Line) -> str:
    """Return what an evaluator computes, one sentence."""
    if line.evaluator == TRUTH:
        how = "computed exactly"
        if not audit.truth_exact:
            samples = f" with {_samples(line)} a document" if line.samples else ""
            how = f"estimated by {_estimator(audit, line)}{samples}, which {LONG[truth_behaviour(audit)]}"
        given, of_kind = (ALPHA, "Dirichlet") if audit.covariance is None else ("μ, Σ", "logistic-normal")
        return (
            f"The marginal likelihood p(w | {given}, Φ) of each document, its topic weights integrated over the "
            f"model's {of_kind} prior so that no token is used twice; {how}."
        )
    if line.evaluator == FULL:
        return (
            "Each document's topic weights are fitted to it by maximum likelihood and then score the same tokens, "
            "which they have seen: too good, and the better the more topics there are to fit with."
        )
    if line.evaluator == HALF:
        return (
            "Topic weights are fitted to one half of a document's tokens and score the other half: nothing is used "
            "twice, but it is the likelihood of half a document given the rest, and not of the document."
        )
    if line.evaluator == MEAN_FIELD_BOUND:
        return (
            "The variational lower bound on the same log-likelihood under a mean-field posterior: its perplexity is "
            "never below the truth's, and how far above differs between models."
        )
    if line.evaluator in ESTIMATORS:
        known = ESTIMATORS[line.evaluator]
        return f"{sentence(known.label)[:-1]} ({known.source}) {LONG[known.behaviour]}."
    return f"{sentence(clean(line.label))}"


def counted(audit: Audit) -> list[str]:
    """Return clauses on what was scored and what was left out."""
    all_tokens = audit.tokens + audit.left_out
    share = f" ({100.0 * audit.left_out / all_tokens:.1f} %)" if audit.left_out else ""
    smoothing = audit.settings.get("smoothing")
    smoothed = [f"{smoothing:g} added to every p(w | z)"] if smoothing else []
    return [
        f"{_count(audit.documents, 'document')} of {_count(audit.tokens, 'token')} scored",
        f"{_count(audit.left_out, 'token')}{share} outside the vocabulary left out",
        f"{_count(audit.empty, 'document')} without a known word left out",
        *smoothed,
    ]


def model_line(audit: Audit) -> str:
    """Return a line that names the model and the documents."""
    library = clean(f"{audit.library} {audit.version}").strip()
    return f"{clean(audit.model)} ({library}; {audit.topics:,} topics, {audit.words:,} words) on {clean(audit.corpus)}"


def prior(audit: Audit) -> str:
    """Return a short description of the prior."""
    if audit.mean is not None and audit.covariance is not None:
        widths = np.sqrt(np.diag(audit.covariance))
        means, spreads = (f"{part.min():.4g} to {part.max():.4g}".replace("-", MINUS) for part in (audit.mean, widths))
        return f"Logistic normal, log weights over the last topic's of means {means}, standard deviations {spreads}"
    if audit.alpha is None:
        return "No prior"
    low, high = float(audit.alpha.min()), float(audit.alpha.max())
    each = f"{low:.4g} each" if low == high else f"{low:.4g} to {high:.4g}"
    return f"Dirichlet, {ALPHA} {each}, sum {float(audit.alpha.sum()):.4g}"


def flat_settings(settings: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings as (dotted name, value as JSON), sorted by name, without the command."""
    for name in sorted(settings):
        value = settings[name]
        if isinstance(value, dict):
            yield from flat_settings(value, f"{before}{name}.")
        elif before or name != "command":
            yield clean(before + name), clean(value if isinstance(value, str) else json.dumps(value))


def command(audit: Audit) -> str:
    """Return the command line that repeats the audit (settings["command"]), or else the call from Python."""
    typed = audit.settings.get("command")
    if isinstance(typed, str) and typed:
        return clean(typed)
    arguments = [f"{name}={audit.settings[name]!r}" for name in ARGUMENTS if name in audit.settings]
    return clean(f"heldout.audit({', '.join(['model', 'documents', *arguments])})")


def truth_note(audit: Audit) -> str:
    """Return a sentence on the truth's estimator and the reason for it; empty if the audit gives no reason."""
    line = audit.line(TRUTH)
    samples = f", {_samples(line)} a document" if line.samples else ""
    return f"The truth is by {_estimator(audit, line)}{samples}. {sentence(audit.reason)}" if audit.reason else ""


def _estimator(audit: Audit, line: Line) -> str:
    name = clean(label_of(line.estimator, dirichlet=audit.covariance is None))
    return "exact computation" if name == "exact" else name


def _samples(line: Line) -> str:
    if line.estimator == REFERENCE:
        return f"at most {_count(line.samples, 'sweep')}"
    return _count(line.samples, "sample")


def _power(value: float) -> str:
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def sentence(text: str) -> str:
    """Return text as one sentence: a capital, and a full stop."""
    text = clean(text).strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
