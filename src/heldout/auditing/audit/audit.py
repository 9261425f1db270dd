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

Results do not depend on cores or interruptions.
"""

from dataclasses import replace
from typing import Any

from heldout.auditing.audit.probability import probability_test
from heldout.auditing.audit.report import Audit
from heldout.auditing.audit.summary import summarise
from heldout.auditing.blocks import COLUMNS
from heldout.auditing.estimator import choose_estimator
from heldout.auditing.options import AuditOptions, takes
from heldout.auditing.plan import Plan
from heldout.auditing.progress import reporting
from heldout.auditing.runner import Task, run
from heldout.auditing.store import Values
from heldout.auditing.survey import subject_of
from heldout.libraries.priors import check_used


@takes(AuditOptions)
def audit(model: Any, documents: Any, options: AuditOptions) -> Audit:
    """Compare a topic model's reported number on documents with their likelihood.

    Args:
        model: a `Fitted`, a fitted object of a library, one of `heldout.models`, a scikit-learn `Pipeline` or search
            that ends in one, a pair (phi, alpha) or a triple (phi, mu, Sigma) (`heldout.libraries.read.fitted`); or the
            path of a saved one
            (`heldout.libraries.read.read_model`; forms that unpickle are refused here).
        documents: in any form that `heldout.corpora.documents.read_documents` reads: a path; counts (D, V) as a scipy
            sparse matrix of any format, an array or a table; a Corpus; a list of documents, each a list of words or of
            gensim's pairs (number, count); and, for a pipeline with a vectorizer, texts.
        vocabulary: the model's words, for a model that does not name them: in the model's order, or a vectorizer's
            `vocabulary_`, gensim's dictionary, or the vectorizer itself.
        announce: is called with the plan before anything runs, in place of printing it.
        progress: prints plan and a bar on standard error; None where that is a terminal or a notebook's. Or is
            called after every block with the number of documents done and the share of the estimated work.
        options: the others, by name as well; see `heldout.auditing.options.AuditOptions`.

    Returns:
        The audit. It depends neither on `n_jobs` nor on interruptions.

    Raises:
        InputError: for bad input; names the file, line or document.
        KeyboardInterrupt: finished blocks are in `store`, from which the same call goes on.

    Examples:
        >>> import heldout
        >>> phi = [[0.5, 0.5, 0.0], [0.0, 0.25, 0.75]]
        >>> result = heldout.audit((phi, 0.5), [["ape", "bear", "bear"]], vocabulary=["ape", "bear", "cat"])
        >>> round(result["likelihood"].perplexity, 2), round(result["full-folding-in"].perplexity, 2)
        (2.74, 2.0)
        >>> result.reported.note
        'arrays come from no library: nothing is reported'
    """
    subject = subject_of(model, documents, options.vocabulary, options)
    check_used([subject.own], options.labels, options.metadata)
    work = choose_estimator(subject.topics, subject.read, options)
    key = subject.key(work.settings())
    kept = Values(len(subject.read.lengths), len(COLUMNS), options.folder, key)
    task = Task(subject, work, kept)
    with reporting(options.announce, options.progress) as (announce, moved):
        if announce is not None:
            announce(Plan.of([task]))
        run([task], options.cores, moved)
    settings = {
        **work.settings(),
        "limit": options.limit,
        "standard_error": options.standard_error,
        **({"smoothing": options.smoothing} if options.smoothing else {}),
        "model_digest": key["model"],
        "documents_digest": key["documents"],
    }
    result = summarise(subject, work, kept.values, subject.reported(ask=options.reported), settings)
    if not (options.probability and result.tokens):
        return result
    return replace(result, probability=probability_test(subject, work, ask=options.reported))
