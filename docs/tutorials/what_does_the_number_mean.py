"""
What does my library's number mean?
===================================

One model each of scikit-learn, gensim and tomotopy on the same documents: three numbers that are called likelihood or
perplexity, and the one number that they could have agreed on.
"""

# %%
# Three models
# ------------
# All three get the same training documents, as lists of words.
import tomotopy
from docstrings import docstrings
from gensim.corpora import Dictionary
from gensim.models import LdaModel
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer

import heldout

vectorizer = CountVectorizer(stop_words="english", min_df=5, max_df=0.2, token_pattern="[a-z]{3,}")
texts = docstrings()
X = vectorizer.fit_transform(texts)
analyse = vectorizer.build_analyzer()
lists = [[word for word in analyse(text) if word in vectorizer.vocabulary_] for text in texts]
K = 20

of_scikit_learn = LatentDirichletAllocation(K, random_state=0).fit(X[::2])

words = Dictionary(lists)
bags = [words.doc2bow(document) for document in lists]
of_gensim = LdaModel(bags[::2], num_topics=K, id2word=words, passes=10, random_state=0)

of_tomotopy = tomotopy.LDAModel(k=K, seed=0)
for document in lists[::2]:
    of_tomotopy.add_doc(document)
of_tomotopy.train(300, workers=1)

# %%
# Three numbers
# -------------
# What each of them says, of the held-out documents where it can:
numbers = of_scikit_learn.perplexity(X[1::2]), 2 ** -of_gensim.log_perplexity(bags[1::2]), of_tomotopy.perplexity
[round(float(number), 1) for number in numbers]

# %%
# The first is exp of minus a bound per token, with the topics' cost in training charged to these documents. The second
# is a bound of the same kind to whose negative gensim raises 2, though the bound is in nats. The third is not of these
# documents at all: it is of the training documents together with the topics that were sampled for their words.
# None of them compares with another.
#
# One number
# ----------
# An audit computes the likelihood of the held-out documents under each model's own topics and prior.
audit = heldout.audit(of_scikit_learn, X[1::2], vocabulary=vectorizer)
print(audit)

# %%
# The numbers side by side, each joined to the likelihood:
axes = audit.plot()

# %%
# What scikit-learn's number is made of, nats per token:
[(term.name, round(-term.nats / audit.tokens, 3)) for term in audit.reported.terms]

# %%
# The other two. gensim's model reads bags of words, tomotopy's lists of words; words that a model has not are left out
# and counted:
audits = [audit, heldout.audit(of_gensim, bags[1::2]), heldout.audit(of_tomotopy, lists[1::2])]
for each in audits:
    low, high = each["likelihood"].interval
    print(f"{each.library:12} {each['likelihood'].perplexity:6.1f} ({low:.1f} to {high:.1f}), {each.left_out} left out")

# %%
# The topics of one of them, by their share of the held-out tokens:
audits[2].to_frame("topics").head(8)
