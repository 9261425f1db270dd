"""The numbers that the text on undirected models uses."""

from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.murphy import results_undirected as results
from heldout.papers.murphy.experiments import boltzmann, replicated_softmax
from heldout.papers.murphy.manifest_undirected import BOLTZMANN, SOFTMAX, UNITS
from heldout.typesetting import latex
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN

SEEN = 3.0  # stated errors within which annealing has to lie of an exact value


def undirected(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    found: Macros = {}
    for name, experiment in (("Boltzmann", BOLTZMANN), ("Softmax", SOFTMAX), ("Units", UNITS)):
        of = results.corpora(inputs, experiment)
        found[f"{name}Corpus"] = latex.corpus_name(of[0]) if of else NOT_RUN
        asked = inputs.settings.experiment(experiment).get("settings", {})
        hidden = asked.get("hidden", 0)
        found[f"{name}Hidden"] = latex.integer(hidden) if isinstance(hidden, int) and hidden else NOT_RUN
    for name, quantity in (("Pseudo", boltzmann.PSEUDO), ("Squares", boltzmann.RECONSTRUCTION)):
        for model, called in ((boltzmann.PERSISTENT, "Persistent"), (boltzmann.FIELD, "Field")):
            points = results.trace(inputs, quantity, model)
            value = points[max(points)] if points else None
            shown = latex.decimal if quantity == boltzmann.RECONSTRUCTION else latex.signed
            found[f"Boltzmann{name}{called}"] = NOT_RUN if value is None else shown(value, 4)
    gaps = [row.pseudo - row.likelihood.value for row in results.machines(inputs) if row.pseudo is not None]
    found["BoltzmannGap"] = latex.signed(gaps[0], 4) if gaps else NOT_RUN
    for name, experiment in (("Boltzmann", BOLTZMANN), ("Softmax", SOFTMAX)):
        both = results.checked(inputs, experiment)
        within = sum(abs(one.value - one.exact) <= SEEN * one.error for one in both)
        found[f"{name}Within"] = f"{latex.integer(within)} of {latex.integer(len(both))}" if both else NOT_RUN
        apart = max((abs(one.value - one.exact) for one in both), default=None)
        found[f"{name}Apart"] = latex.decimal(apart, 2) if apart is not None else NOT_RUN
    unigram = results.unigram_of_all(inputs, "newsgroups")
    found["SoftmaxUnigram"] = latex.perplexity(unigram) if unigram is not None else NOT_RUN
    found["SoftmaxUnigramPublished"] = latex.perplexity(results.PUBLISHED["newsgroups"].unigram)
    news, ours = results.PUBLISHED["newsgroups"], results.perplexities(inputs, "newsgroups")
    hidden = max((K for model, K in ours if model == replicated_softmax.SOFTMAX), default=0)
    for name, model, value in (("", replicated_softmax.SOFTMAX, news.softmax), ("Lda", LDA, news.lda.get(hidden))):
        own = ours.get((model, hidden))
        found[f"SoftmaxNews{name}"] = NOT_RUN if own is None else latex.perplexity(own.documents)
        found[f"SoftmaxNews{name}Published"] = NOT_RUN if value is None else latex.perplexity(value)
    reuters = results.perplexities(inputs, "reuters")
    units = sorted(K for model, K in reuters if model == replicated_softmax.SOFTMAX)
    for name, key in (("Few", 0), ("More", -1)):
        own = reuters.get((replicated_softmax.SOFTMAX, units[key])) if units else None
        found[f"SoftmaxReuters{name}"] = NOT_RUN if own is None else latex.perplexity(own.tokens)
        found[f"SoftmaxUnits{name}"] = latex.integer(units[key]) if units else NOT_RUN
    own = reuters.get((replicated_softmax.UNIGRAM, 1))
    found["SoftmaxReutersUnigram"] = NOT_RUN if own is None else latex.perplexity(own.tokens)
    asked = inputs.settings.experiment(SOFTMAX).get("settings", {})
    for name, quantity in (("Training", "training_documents"), ("Words", "words")):
        value = asked.get(quantity, {}).get("newsgroups")
        found[f"Softmax{name}"] = latex.integer(value) if value else NOT_RUN
    found["SoftmaxReuters"], found["SoftmaxReutersChapter"] = latex.corpus_name("reuters"), "RCV1"
    for name, corpus in (("Nips", "nips-volumes"), ("Reuters", "reuters")):
        found[f"SoftmaxWords{name}"] = latex.integer(results.PUBLISHED[corpus].words)
    published = results.PUBLISHED["nips-volumes"]
    found["SoftmaxNipsPublished"] = latex.perplexity(published.softmax)
    found["SoftmaxNipsLdaPublished"] = latex.perplexity(min(published.lda.values()))
    return found
