"""
Which number of topics?
=======================

By the likelihood of documents that the model has not seen, with the error of the comparison: often several numbers of
topics are not told apart, and then the smallest of them will do.
"""

# %%
# The documents are the docstrings of NumPy, SciPy and scikit-learn, as real texts that are at hand.
from docstrings import docstrings
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline

import heldout

texts = docstrings()
words = CountVectorizer(token_pattern="[a-z]{3,}", stop_words="english", min_df=5, max_df=0.2)
pipeline = Pipeline([("words", words), ("lda", LatentDirichletAllocation(random_state=0))])
len(texts)

# %%
# In folds
# --------
# :func:`heldout.choose` fits the model to all folds but one, scores the documents of that one, and repeats that until
# every document was scored, under every number of topics. So the numbers are compared on the same documents, in pairs.
#
# Words that only the scored documents have are left out, and which ones those are depends on the fold's vocabulary. To
# count them at a stated probability, give ``unknown=``.
choice = heldout.choose(pipeline, texts, topics=[5, 10, 20, 40, 80], folds=3)
choice

# %%
# The best, those that these documents do not tell apart from it, and the smallest within one standard error:
choice.n_topics, choice.not_told_apart, choice.one_standard_error

# %%
# As in a search of scikit-learn
# ------------------------------
# :func:`heldout.log_likelihood` is a scorer, so that other settings can be searched along with the number of topics.
# ``refit=heldout.one_standard_error`` takes the fewest topics within one standard error of the best. These documents
# are in the order of their libraries, so the folds are shuffled: documents of a library that the model was never shown
# are refused, as unlike its own.
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
