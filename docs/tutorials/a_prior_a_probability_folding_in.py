"""
A prior, a probability, folding in
==================================

A topic model says how probable a document is if it says, before any word is seen, how probable every mixture of its
topics is: that is its prior. This page goes through the smallest case by hand.
"""

# %%
# Two topics over three words
# ---------------------------
# A document's weights on the topics are drawn from the prior, here uniform, and every word from the mixture.
import itertools

import matplotlib.pyplot as plt
import numpy as np

import heldout

phi = np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])  # a topic per row
document = ["cat", "cat", "mat"]
words = ["cat", "mat", "sat"]
at = [words.index(word) for word in document]


def given(theta):
    """Return the probability of the document for the weight theta of the first topic."""
    return np.prod([theta * phi[0, w] + (1 - theta) * phi[1, w] for w in at], axis=0)


theta = np.linspace(0, 1, 201)
figure, axes = plt.subplots()
axes.plot(theta, given(theta))
axes.axhline(given(theta).mean(), linestyle="--", label="its average over the prior: the likelihood")
axes.axhline(given(theta).max(), linestyle=":", label="its peak: folding in")
axes.set(xlabel="weight of the first topic", ylabel="probability of the document")
figure.legend(loc="lower right", bbox_to_anchor=(0.9, 0.12))

# %%
# The likelihood is the average of this curve over the prior. *Folding in* fits the weight to the document first, and
# so takes the curve's peak. An audit has both:
audit = heldout.audit((phi, 1.0), [document], vocabulary=words)
{line.evaluator: np.exp(line.log_likelihood) for line in audit.lines}

# %%
# Is it a probability?
# --------------------
# The probabilities of all documents of three words add up to one. So do the likelihoods. The scores by folding in add
# up to more: each is above its likelihood, and no probability of anything.
everything = [list(each) for each in itertools.product(words, repeat=3)]
every = heldout.audit((phi, 1.0), everything, vocabulary=words, other_corpus=True)
{name: np.exp(every.nats[name]).sum() for name in ("likelihood", "full-folding-in")}

# %%
# An audit of any model tests that for each number, on documents that it draws from the model: on average p / q of a
# document drawn from q is at most one if p is a probability. That average is an e-value, and a large one refutes:
for name, excess in every.probability.excesses.items():
    print(f"{name}: log e-value {excess.nats:.2f}, chance at most {np.exp(excess.log_chance):.2g}")

# %%
# More topics, more to fit
# ------------------------
# The more topics, the more there is to fit a document's weights to, and the further folding in is from the likelihood,
# although the words are drawn from the same distribution throughout. Topics here are drawn at random, around one.
rng = np.random.default_rng(0)
V, documents = 200, rng.multinomial(50, np.full(200, 1 / 200), size=40)
for K in (2, 10, 50):
    topics = rng.dirichlet(np.full(V, 5.0), size=K)
    audit = heldout.audit((topics, 0.1), documents, vocabulary=[f"w{w}" for w in range(V)], other_corpus=True)
    print(K, *(round(audit[name].perplexity, 1) for name in ("likelihood", "full-folding-in")))
