"""The numbers that the text on undirected models uses."""

from heldout.effects import per_token
from heldout.inputs import Inputs
from heldout.models import LDA
from heldout.papers.murphy import results_undirected as results
from heldout.papers.murphy.experiments import boltzmann, replicated_softmax
from heldout.papers.murphy.gaps import gaps
from heldout.papers.murphy.manifest_undirected import BOLTZMANN, SOFTMAX
from heldout.papers.murphy.members.member import LIKELIHOOD
from heldout.papers.murphy.results import corpora
from heldout.points import select
from heldout.typesetting import latex, over_seeds
from heldout.typesetting.macros import Macros
from heldout.verdicts import NOT_RUN

SEEN = 3.0  # stated errors within which annealing has to lie of an exact value


def undirected(inputs: Inputs) -> Macros:
    """Return the numbers by name; the same names for every study."""
    found: Macros = {}
    for name, experiment in (("Boltzmann", BOLTZMANN), ("Softmax", SOFTMAX)):
        of = corpora(inputs, experiment)
        found[f"{name}Corpus"] = latex.corpus_name(of[0]) if of else NOT_RUN
    hidden = inputs.settings.experiment(BOLTZMANN).get("settings", {}).get("hidden", 0)
    found["BoltzmannHidden"] = latex.integer(hidden) if isinstance(hidden, int) and hidden else NOT_RUN
    for name, model in (("Persistent", boltzmann.PERSISTENT), ("Field", boltzmann.FIELD)):
        rows = results.trained(inputs, boltzmann.RECONSTRUCTION, model)
        rows = rows[rows["corpus"].isin(corpora(inputs, BOLTZMANN)[:1])]
        values = rows[rows["at"] == rows["at"].max()]["value"].tolist()
        found[f"BoltzmannSquares{name}"] = over_seeds.decimal(values, 4)
    scores = select(inputs.scores, variant=BOLTZMANN, corpus=corpora(inputs, BOLTZMANN)[:1])
    scores = select(scores, model=boltzmann.PERSISTENT)
    found["BoltzmannGap"] = over_seeds.signed(gaps(select(scores, topics=scores["topics"].min())), 4)
    for name, experiment in (("Boltzmann", BOLTZMANN), ("Softmax", SOFTMAX)):
        both = results.checked(inputs, experiment)
        within = sum(abs(one.value - one.exact) <= SEEN * one.error for one in both)
        found[f"{name}Within"] = f"{latex.integer(within)} of {latex.integer(len(both))}" if both else NOT_RUN
        apart = max((abs(one.value - one.exact) for one in both), default=None)
        found[f"{name}Apart"] = latex.decimal(apart, 2) if apart is not None else NOT_RUN
    found["SoftmaxUnigram"] = over_seeds.perplexity(results.unigram_of_all(inputs, "newsgroups"))
    found["SoftmaxUnigramPublished"] = latex.perplexity(results.PUBLISHED["newsgroups"].unigram)
    news, quantity = results.PUBLISHED["newsgroups"], replicated_softmax.PER_DOCUMENT
    by_document = select(inputs.measurements, variant=SOFTMAX, corpus="newsgroups", quantity=quantity)
    hidden = max(select(by_document, model=replicated_softmax.SOFTMAX)["topics"], default=0)
    for name, model, value in (("", replicated_softmax.SOFTMAX, news.softmax), ("Lda", LDA, news.lda.get(hidden))):
        found[f"SoftmaxNews{name}"] = over_seeds.perplexity(
            select(by_document, model=model, topics=hidden)["value"].tolist()
        )
        found[f"SoftmaxNews{name}Published"] = NOT_RUN if value is None else latex.perplexity(value)
    reuters = per_token(select(inputs.scores, variant=SOFTMAX, corpus="reuters", evaluator=LIKELIHOOD))
    units = sorted(set(select(reuters, model=replicated_softmax.SOFTMAX)["topics"]))
    for name, key in (("Few", 0), ("More", -1)):
        own = select(reuters, model=replicated_softmax.SOFTMAX, topics=units[key] if units else 0)
        found[f"SoftmaxReuters{name}"] = over_seeds.perplexity(own["value"].tolist())
        found[f"SoftmaxUnits{name}"] = latex.integer(units[key]) if units else NOT_RUN
    unigram = select(reuters, model=replicated_softmax.UNIGRAM)
    found["SoftmaxReutersUnigram"] = over_seeds.perplexity(unigram["value"].tolist())
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
