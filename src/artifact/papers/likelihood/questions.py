"""Users' questions about the numbers that packages report, answered from the part `packages`: docs/questions.md.

In the answers {p:PACKAGE K QUANTITY WORDS [DOCUMENTS]} is a perplexity, {x:...} a loss in nats per token, {log:...}
the number that gensim's log prints of it, and {chosen:PACKAGE} the K that a package's number chooses, and the K that
its models' likelihood chooses.
"""

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from artifact.contrasts.inputs import Inputs
from artifact.papers.likelihood import results
from artifact.papers.likelihood.experiments.packages import REPORTED
from artifact.papers.likelihood.packages import SHOWN, all_documents
from artifact.results.reading import TRUTH, select
from artifact.typesetting import latex
from heldout.topics import perplexity

if TYPE_CHECKING:
    import pandas as pd

ASKED = ("scikit-learn", "gensim", "topicmodels-gibbs")
WIDTH = 120
TOPICS = {5, SHOWN}  # K of the answers
TEXT = """\
# Questions about held-out perplexity

Written by `make readme` from the part `packages`. Numbers are means over its splits of {corpus}; the likelihood is that
of the same model, documents and words, with the weights of topics integrated out, as a perplexity per token, too.

## Why does scikit-learn's test perplexity rise with the number of topics?

[#6777](https://github.com/scikit-learn/scikit-learn/issues/6777). It is computed from a bound in which the topics are
random, too: {p:scikit-learn 5 reported all} with 5 topics and {p:scikit-learn 100 reported all} with 100, by the
likelihood {p:scikit-learn 5 likelihood all} and {p:scikit-learn 100 likelihood all}. The topics' cost in training,
{x:scikit-learn 5 part-topics all} and {x:scikit-learn 100 part-topics all} nats per token, is charged to the test
documents, and words unseen in training, {x:scikit-learn 5 part-unseen all} and {x:scikit-learn 100 part-unseen all}.
Choose the number of topics by the likelihood.

## Why does it depend on how many documents are scored, and is the proposed mend enough?

[#20032](https://github.com/scikit-learn/scikit-learn/issues/20032). One model of 100 topics has perplexity
{p:scikit-learn 100 reported all 25} on 25 documents, {p:scikit-learn 100 reported all 100} on 100 and
{p:scikit-learn 100 reported all} on all, for the topics' cost is the same and the tokens are not; by the likelihood
{p:scikit-learn 100 likelihood all 25}, {p:scikit-learn 100 likelihood all 100} and {p:scikit-learn 100 likelihood all}.
With the line that is [proposed](https://github.com/scikit-learn/scikit-learn/pull/33363), which spreads that cost over
the training tokens, it is {p:scikit-learn 100 mended all 25}, {p:scikit-learn 100 mended all 100} and
{p:scikit-learn 100 mended all}. Without that cost and with the topics at their means the bound gives
{p:scikit-learn 100 mean-field all}.

## Why is it so much larger than other packages' numbers?

[#8943](https://github.com/scikit-learn/scikit-learn/issues/8943). Of {x:scikit-learn 100 reported all} nats per token
with 100 topics the topics' cost is {x:scikit-learn 100 part-topics all}, and words unseen in training are
{x:scikit-learn 100 part-unseen all}. Random topics in the place of their means are
{x:scikit-learn 100 part-random-topics all}, and the bound is {x:scikit-learn 100 part-bound all} from the likelihood.
Other packages leave out one or all of these.

## Why does gensim's perplexity rise with the number of topics?

[#701](https://github.com/piskvorky/gensim/issues/701), [#2521](https://github.com/piskvorky/gensim/issues/2521). It is
the same bound: {p:gensim 5 reported all} with 5 topics and {p:gensim 100 reported all} with 100, by the likelihood
{p:gensim 5 likelihood all} and {p:gensim 100 likelihood all}. The topics' cost in training is
{x:gensim 5 part-topics all} and {x:gensim 100 part-topics all} nats per token of the test documents, and on 25 of them
alone the second perplexity is {p:gensim 100 reported all 25}. Choose the number of topics by the likelihood.

## Why is gensim's `log_perplexity` negative, and lower on held-out documents?

[#951](https://github.com/piskvorky/gensim/issues/951). It is a bound of log p in nats per token, minus
{x:gensim 5 reported all} with 5 topics and minus {x:gensim 100 reported all} with 100, not the logarithm of a
perplexity. The perplexity is e to the loss; the log raises 2 to it and prints {log:gensim 5 reported all} and
{log:gensim 100 reported all}. Held-out documents are fewer than those of training, and divide the same cost of topics
by fewer tokens.

## How many topics does `perplexity(fit, newdata)` of R's topicmodels choose?

[Stack Overflow 21355156](https://stackoverflow.com/questions/21355156). After Gibbs sampling it folds in: documents are
scored at weights that were sampled given the words that are scored, {p:topicmodels-gibbs 5 reported known} with 5
topics and {p:topicmodels-gibbs 100 reported known} with 100, by the likelihood {p:topicmodels-gibbs 5 likelihood known}
and {p:topicmodels-gibbs 100 likelihood known}. {chosen:topicmodels-gibbs}. Whichever it chooses, its perplexity is too
low: score half of a document's tokens at weights sampled given the other half, or take the likelihood.
"""


@dataclass(frozen=True)
class _Numbers:
    """The numbers of one corpus, by the text that `format` is given."""

    inputs: Inputs
    corpus: str
    table: "pd.DataFrame"
    kind: str

    def __format__(self, asked: str) -> str:
        if self.kind == "chosen":
            number, truth = (
                results.best_topics(self.inputs, self.corpus, asked, name, results.PACKAGES)
                for name in (REPORTED, TRUTH)
            )
            likelihood = latex.listed([str(k) for k in truth.topics]) if truth else ""
            return f"It chooses {number.highest if number else ''} topics, the likelihood {likelihood}"
        package, k, quantity, words, *size = asked.split()
        rows = select(self.table, model=package, topics=int(k), quantity=quantity, words=words)
        rows = select(rows, documents=int(size[0])) if size else all_documents(rows)
        nats = -float(rows["value"].mean())
        if self.kind == "x":
            return f"{nats:.2f}"
        value = 2.0**nats if self.kind == "log" else perplexity(-nats, 1)
        return f"{value:,.0f}" if value < 1e6 else f"{value:.1e}"


def page(inputs: Inputs) -> str:
    """Return the page in Markdown, of the study's first corpus; empty where not all that it is about was run."""
    if inputs.measurements is None:
        return ""
    table = results.package_numbers(inputs)
    for corpus in dict.fromkeys(table["corpus"]):
        rows = select(table, corpus=corpus)
        if all(set(select(rows, model=package)["topics"]) >= TOPICS for package in ASKED):
            numbers = {kind: _Numbers(inputs, str(corpus), rows, kind) for kind in ("p", "x", "log", "chosen")}
            text = TEXT.format(corpus=latex.corpus_title(str(corpus)), **numbers)
            wrapper = textwrap.TextWrapper(WIDTH, break_long_words=False, break_on_hyphens=False)  # links stay whole
            return "\n\n".join(map(wrapper.fill, text.split("\n\n"))) + "\n"
    return ""
