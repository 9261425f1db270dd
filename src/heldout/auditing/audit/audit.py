"""The audit of a topic model: its library's number on documents beside the documents' likelihood.

The values of a document of L tokens, under the model's own phi and prior:

* `mean-field-bound`, max_q E_q[log p(w, z, theta)] + S(q) <= log p(w) (`heldout.evaluators.mean_field_bound`), of a
  Dirichlet prior;
* `full-folding-in`, max_theta sum_w n(w) log sum_k theta_k phi[k, w], by EM from the uniform point to within 1e-4 nats
  per token of the maximum, for topics of any origin (Hofmann, 1999; Welling et al., 2008, section 5, "full");
* `half-folding-in`, the same for theta fitted to one half of the tokens and scored on the other ("half");
* `likelihood`, log p(w | alpha, phi) with theta integrated out (equation 4.36): exact where that costs at most `limit`,
  otherwise by the requested estimator or the reference, with its error; under a logistic-normal prior by quadrature or
  annealing (`heldout.evaluators.logistic_normal`).

Results do not depend on batches, cores or interruptions.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from heldout.auditing.audit.probability import hold, lengths_to_draw, likelihood_seconds
from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.summary import likelihood_line, summarise
from heldout.auditing.audit.wording import first_result
from heldout.auditing.blocks import COLUMNS, LIKELIHOOD, Work
from heldout.auditing.estimator import choose_estimator
from heldout.auditing.options import AuditOptions, takes
from heldout.auditing.plan import PROBABILITY, Plan, plan_of
from heldout.auditing.progress import Moved, told
from heldout.auditing.runner import Runner
from heldout.auditing.store import KEY, kept
from heldout.auditing.survey import Subject, subject_of
from heldout.errors import InputError
from heldout.evaluators import EXACT, REFERENCE
from heldout.evaluators.priors import SWEEPS, prior_of
from heldout.libraries import Reported
from heldout.libraries.priors import check_used
from heldout.typing import Floats

PATIENCE = 5.0  # seconds of estimated work; see `apart`
SMALL = 1e6  # tokens times topics up to which folding in and bound take less than a second
QUICK = 1e10  # updates of the exact likelihood; some ten seconds, as `heldout.evaluators.priors.SWEEPS` are


@takes(AuditOptions)
def audit(model: Any, documents: Any, options: AuditOptions) -> Audit:
    """Compare a topic model's reported number on documents with their likelihood.

    Args:
        model: a `Fitted`, a fitted object of a library, one of `heldout.models`, a scikit-learn `Pipeline` or search
            that ends in one, a pair (phi, alpha) or a triple (phi, mu, Sigma) (`heldout.libraries.read.fitted`); or the
            path of a saved one
            (`heldout.libraries.read.read_model`; forms that unpickle are refused here).
        documents: a `DocumentStream`, or what `heldout.corpora.stream.open_documents` opens: a path; counts (D, V) as a
            scipy sparse matrix of any format, an array or a table; a Corpus; a list of documents, each a list of words
            or of gensim's pairs (number, count); and, for a pipeline with a vectorizer, texts.
        vocabulary: the model's words, for a model that does not name them: in the model's order, or a vectorizer's
            `vocabulary_`, gensim's dictionary, or the vectorizer itself.
        announce: is called with the plan, including its cost, before anything runs, in place of printing it.
        progress: prints plan, cost and a bar on standard error; None where that is a terminal or a notebook's. Or is
            called after every block with the number of documents done and the share of the estimated work.
        first: is called with the likelihood, one line, as soon as it is known, in place of printing it with the plan.
        apart: whether an audit of more than `PATIENCE` seconds gets a process of its own even on one core. Otherwise
            Ctrl-C takes effect only between blocks, and a block may take minutes.
        options: the others, by name as well; see `heldout.auditing.options.AuditOptions`.

    Returns:
        The audit. It depends neither on `n_jobs` nor on interruptions.

    Raises:
        InputError: for bad input; names the file, line or document.
        KeyboardInterrupt: after the values so far have been written to `store`.

    Examples:
        >>> import heldout
        >>> phi = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]
        >>> result = heldout.audit((phi, 0.5), [["ape", "bear", "bear"]], vocabulary=["ape", "bear", "cat"])
        >>> round(result["likelihood"].perplexity, 2), round(result["full-folding-in"].perplexity, 2)
        (2.74, 2.0)
        >>> result.reported.note
        'arrays come from no library: nothing is reported'
    """
    with told(options.announce, options.progress, options.first) as (announce, progress, first):
        return _audited(model, documents, options, announce, progress, first)


def is_small(subject: Subject, work: Work) -> bool:
    """Return whether the likelihood is soon known, and before the kernels of the other evaluators are compiled."""
    read, tokens = subject.read, int(subject.read.lengths.sum())
    quick = read.updates <= QUICK if work.estimator == EXACT else work.samples * tokens <= 2.0 * SWEEPS
    return quick and work.estimator in (EXACT, REFERENCE) and tokens * subject.topics.n_topics <= SMALL


def _audited(
    model: Any,
    documents: Any,
    chosen: AuditOptions,
    announce: Callable[[Plan], None] | None,
    progress: Moved | None,
    first: Callable[[str], None] | None,
) -> Audit:
    """Return the audit with these options; plan, progress and first result are told to the functions given."""
    if chosen.so_far and (chosen.folder is None or not (chosen.folder / KEY).exists()):
        raise InputError(f"{chosen.store or 'store'}: nothing is kept of this audit yet; run it first, with a store")
    subject, apart = subject_of(model, documents, chosen.vocabulary, chosen), chosen.apart
    check_used([subject.own], chosen.labels, chosen.metadata)
    work = choose_estimator(subject.topics, subject.read, chosen)
    key = subject.key(work.settings())
    so_far = kept(chosen.folder, key, len(subject.read.lengths), len(COLUMNS))

    def tell(values: Floats) -> None:
        if first is not None and subject.read.lengths.any():
            line = likelihood_line(work, prior_of(subject.topics), values, subject.read.lengths)
            stand_in = str(subject.topics.provenance.get("prior", ""))
            first(first_result(line, exact=work.estimator == EXACT, stand_in=stand_in))

    if not chosen.so_far:
        if announce is not None or apart:
            drawn = lengths_to_draw(subject, work.seed) if chosen.probability else None
            # folding in and bound of few documents take less than to compile their kernels
            timed = (LIKELIHOOD,) if is_small(subject, work) else work.parts
            plan = plan_of(subject, work, so_far.done, chosen.cores, drawn=drawn, parts=timed)
            if drawn is not None:
                plan.seconds[PROBABILITY] += likelihood_seconds(subject, drawn)
            apart = apart and sum(plan.seconds.values()) > PATIENCE
            if announce is not None:
                announce(plan)
        if not so_far.done.all():
            runner = Runner(subject, work, so_far, progress)
            early = is_small(subject, work) and chosen.cores == 1 and not apart
            if early:
                tell(runner.run_likelihood())
            runner.run(chosen.cores, apart=apart)
            if not early:
                tell(so_far.values)
    reported = subject.reported(ask=chosen.reported and bool(so_far.done.all()))
    if not so_far.done.all():
        reported = Reported("", note="the audit is not complete, and the library was not asked")
    settings = {
        **work.settings(),
        "limit": chosen.limit,
        "standard_error": chosen.standard_error,
        **({"smoothing": chosen.smoothing} if chosen.smoothing else {}),
        "model_digest": key["model"],
        "documents_digest": key["documents"],
    }
    result = summarise(subject, work, so_far, reported, settings)
    if not (chosen.probability and result.complete and result.tokens):
        return result
    return replace(result, probability=hold(subject, work, ask=chosen.reported))
