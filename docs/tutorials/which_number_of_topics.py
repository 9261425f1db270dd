"""
Which number of topics?
=======================

From a hundred texts to the sentence in the paper: the number of topics by the likelihood of documents that the model
has not seen, with the error of the comparison. Often several numbers are not told apart, and then the smallest of them
will do.
"""

# %%
# A hundred docstrings of NumPy, SciPy and scikit-learn stand for a hundred interviews: texts that are at hand, of some
# 60 words each.
from docstrings import docstrings
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

import heldout

texts = docstrings()
interviews = texts[:: len(texts) // 100][:100]
words = CountVectorizer(token_pattern="[a-z]{3,}", stop_words="english", min_df=2)
pipeline = Pipeline([("words", words), ("lda", LatentDirichletAllocation(max_iter=30))])

# %%
# In folds, by several seeds
# --------------------------
# :func:`heldout.choose` fits the model to all folds but one, scores the documents of that one, and repeats that until
# every document was scored, under every number of topics. So the numbers are compared on the same documents, in pairs.
# On few documents the seed of a fit may matter as much as the number of topics: ``restarts=2`` fits everything twice,
# and the error of a difference holds documents, seeds and folds, of which five say more than three. ``n_jobs`` spreads
# the fits over processes, and ``store`` keeps each of them, so that the same call goes on after an interruption.
#
# Words that only the scored documents have are left out, and which ones those are depends on the fold's vocabulary. To
# count them at a stated probability, give ``unknown=``.
choice = heldout.choose(pipeline, interviews, topics=[5, 10, 20, 40], folds=5, restarts=2, n_jobs=2)
choice

# %%
# The figure
# ----------
# Full circles are not told apart from the best; bars are intervals of the difference from it, dots single seeds.
# Beside the likelihood stand measures that ask something else: the coherence of topics' words, how far topics own
# their words, the library's own number, and how far folding in exceeds the likelihood, with the most that it may
# (dashed). The last panel is the share of topics that come again when the model is fitted with another seed.
figure = choice.plot()

# %%
# The same as a table:
choice.to_frame()[["perplexity", "low", "high", "tie", "coherence", "exclusivity", "seed_spread", "again"]]

# %%
# The sentence in the paper
# -------------------------
# The best, those that these documents do not tell apart from it, and the fewest within one standard error:
choice.n_topics, choice.not_told_apart, choice.one_standard_error

# %%
# The sentence says the number, the set, and how the comparison was made. Where the best is the last of the numbers,
# take larger ones, too.
low, high = choice.interval(choice.best)
ties = [K for K in choice.not_told_apart if choice.n_topics != K]
print(
    f"By the likelihood of held-out documents, in {choice.settings['folds']} folds and with {choice.restarts} seeds"
    f" ({choice.documents} texts, {choice.tokens:,} tokens), LDA is best at {choice.n_topics} topics (perplexity"
    f" {choice.to_frame().loc[choice.n_topics, 'perplexity']:.0f}, 95 % interval {low:.0f} to {high:.0f});"
    f" the numbers that are not told apart from it are {', '.join(map(str, ties)) or 'none'} (paired differences, 5 %"
    f" over all pairs), and we report {choice.one_standard_error}, the fewest within one standard error of the best."
)

# %%
# On the command line it is ``heldout choose interviews.csv --topics 5,10,20,40 --restarts 2 --html choice.html``.

# %%
# As in a search of scikit-learn
# ------------------------------
# :func:`heldout.log_likelihood` is a scorer, so that other settings can be searched along with the number of topics.
# ``refit=heldout.one_standard_error`` takes the fewest topics within one standard error of the best. These documents
# are in the order of their libraries, so the folds are shuffled: documents of a library that the model was never shown
# are refused, as unlike its own.
pipeline = clone(pipeline).set_params(words__min_df=5, lda__max_iter=10, lda__random_state=0)
grid = {"lda__n_components": [5, 20], "lda__doc_topic_prior": [0.05, 0.2]}
search = GridSearchCV(
    pipeline,
    grid,
    scoring=heldout.log_likelihood,
    refit=heldout.one_standard_error,
    cv=KFold(3, shuffle=True, random_state=0),
)
search.fit(texts).best_params_

# %%
# What the library would have chosen
# ----------------------------------
# scikit-learn's own ``perplexity`` charges the held-out documents with the topics' divergence from their prior, which
# was paid in training and grows with the number of topics. A ranking of fitted models says where the two disagree.
train, test = texts[::2], texts[1::2]
models = [clone(pipeline).set_params(lda__n_components=K).fit(train) for K in (5, 10, 20)]
ranking = heldout.rank(models, test)
print(ranking)

# %%
# The same as a table, with the intervals over documents:
ranking.to_frame()
