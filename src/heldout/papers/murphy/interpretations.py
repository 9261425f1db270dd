"""Where Murphy's chapter leaves something open."""

import math

from heldout.inputs import Inputs
from heldout.papers.murphy.members.data import ERROR, SLOWER
from heldout.papers.murphy.results import (
    BANK,
    EVIDENCE,
    GALLERY,
    HALVES,
    LDA,
    MIXTURE,
    ONLINE,
    PERPLEXITY,
    POLYSEMY,
    RECORDS,
    SAMPLERS,
    UNIGRAM,
    corpora,
    curve,
    per_document,
)
from heldout.typesetting import latex
from heldout.typesetting.interpretations import Interpretation, from_settings, median_and_range


def _weighting(inputs: Inputs) -> list[str]:
    """Return by how much equation 27.29 changes perplexities."""
    lines = []
    for corpus in corpora(inputs, PERPLEXITY):
        for name, of in (("unigram", UNIGRAM), ("mixture", MIXTURE), ("LDA", LDA)):
            points, by_document = curve(inputs, corpus, of), per_document(inputs, corpus, of)
            changes = [
                by_document[K] / points[K].perplexity - 1.0 for K in points if math.isfinite(points[K].perplexity)
            ]
            if changes:
                change = median_and_range(changes, latex.signed_percent)
                lines.append(f"{latex.corpus_name(corpus)}, {name}: by equation 27.29 {change}")
    return lines


INTERPRETATIONS = (
    Interpretation(
        "Murphy, 27.2: the score that is usually reported of each model",
        "of mixtures the best component (hard assignment), of models that are sampled or fitted with points full"
        " folding-in, of variational ones their bound",
        "half folding-in, which the paper's study has for pLSI and LDA",
        measure=GALLERY,
    ),
    Interpretation(
        "Murphy, 27.2: likelihoods with more components than the exact kernels take",
        from_settings(
            RECORDS,
            "by annealing: LDA's and GaP's by the reference; those of the conditional GaP, the user rating profile and"
            " categorical PCA by {chains} chains of {temperatures} and, of records, {component_temperatures} steps, a"
            f" case whose standard error is above {ERROR:g} nats anew with {SLOWER} times as many",
        ),
        "a bound, whose gap is what the table is to show",
        measure=RECORDS,
    ),
    Interpretation(
        "Murphy, 27.2.1 and 27.2.4: models of counts beside models of tokens",
        r"every likelihood is of the sequence of tokens: \(p(n)\) is divided by \(L! / \prod_v n_v!\). Poisson models,"
        " GaP and NMF also pay for the length, which the others are given",
        "all given the length, by which GaP becomes LDA",
        measure=GALLERY,
    ),
    Interpretation(
        "Murphy, 27.2.2: the prior of W, without which degenerate EM has no maximum",
        from_settings(GALLERY, "a Gaussian of precision {penalty}, for every kind of EM"),
        "none, and an end of the iterations in its place",
        measure=GALLERY,
    ),
    Interpretation(
        "Murphy, 27.2.2: EM whose E step is exact, and degenerate EM",
        from_settings(
            GALLERY,
            "the maxima that they lead to, by {iterations} steps of L-BFGS at most: of the penalised likelihood by"
            " quadrature, and of the joint probability with a point for every case",
        ),
        r"steps of B\"ohning's bound, whose curvature is so far above that of a softmax over many words that the"
        " weights go to zero, or hardly move",
        measure=GALLERY,
    ),
    Interpretation(
        "Murphy, 27.2: whether a score can be a probability",
        "the sum over all documents of one token, given the length, or over all records of one response: exact, and"
        " not one of a score that is none",
        "sums over longer documents, which can be estimated on documents drawn from the model",
        measure=GALLERY,
    ),
    Interpretation(
        "Murphy, 27.2.4: the rates of GaP",
        r"\(\beta_k\) equal, such that the model's mean length is the documents'",
        "fitted, or one to a component, by which GaP is no longer LDA given the length",
        measure=GALLERY,
    ),
    Interpretation(
        "Murphy, 27.2.1: votes that a member did not cast",
        "a gap, integrated out as if it were missing at random",
        "a third value of the vote",
        measure=RECORDS,
    ),
    Interpretation(
        "Murphy, 27.3.3: what pLSI says of a document that it was not trained on",
        "three scores: folded in on all of the document, which is no probability; folded in on one half, the other"
        " scored; the mixture over training documents, which is the only distribution that its parameters hold",
        r"a Dirichlet prior fitted to the training documents' weights, by which pLSI becomes LDA",
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.3.3: LDA by halves, beside pLSI's half folding-in",
        from_settings(
            HALVES,
            "on the same halves: with the weights of one sample after {fold_in_sweeps} sweeps over the observed half,"
            " and with the weights integrated out over {samples} states",
        ),
        "LDA scored on whole documents, which have twice the tokens to learn the weights from",
        measure=HALVES,
    ),
    Interpretation(
        "Murphy, 27.3.4: ``better performance'' of collapsed Gibbs sampling",
        from_settings(
            SAMPLERS,
            "what the state after as many sweeps gives held-out documents, up to {sweeps} sweeps; of the uncollapsed"
            " chain too by the means of its topics given the assignments, which favours it over its own draw of them",
        ),
        "seconds, which depend on the code",
        measure=SAMPLERS,
    ),
    Interpretation(
        "Murphy, 27.3.3: ``the same Dirichlet prior on B''",
        from_settings(
            PERPLEXITY,
            r"\(b_{{vk}} \propto {gamma} + c_{{vk}}\) from the counts that the fitted model assigns to topics, of every"
            " model; LDA's are those of the last of {sweeps} sweeps of collapsed Gibbs sampling",
        ),
        "the constant in every M step",
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.23: the base of the logarithm",
        r"natural, and \(e^H\), as in 27.29",
        r"2, and \(2^H\), as in 27.23 to 27.27, which is the same perplexity",
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.29: documents or tokens weighted alike",
        "tokens, as Blei et al. and equation 27.27 have it",
        "documents, as in equation 27.29",
        effect=_weighting,
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.3.3: the temperature of pLSI",
        from_settings(PERPLEXITY, r"none, and \(\beta = {beta}\), in training and folding in"),
        "chosen on validation documents",
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.3.3: the 16,333 articles of AP, which are not public",
        "the 2,246 that come with LDA-C, a tenth of them held out: perplexities are not comparable with the figure's",
        "other news",
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.3.3: the curves of Figure 27.6, which are drawn",
        "the numbers that Murphy drew them from, in pmtk3's demonstration of that figure, at commit 68788ecb",
        "read off Figure 9 of Blei et al.",
        measure=PERPLEXITY,
    ),
    Interpretation(
        "Murphy, 27.3.1: TASA, which is not public, and its word ``play''",
        from_settings(
            POLYSEMY,
            "AP with {topics} topics; of the {frequent} most frequent words the one that is most characteristic of"
            " three topics and whose topics are most unlike. AP comes as counts, so that a document's words are in the"
            " order of the vocabulary",
        ),
        "a word chosen by eye",
        measure=POLYSEMY,
    ),
    Interpretation(
        "Murphy, 27.3.5: the lengths of the documents of Figure 27.8, and its priors",
        from_settings(
            BANK,
            r"Poisson with a mean of {tokens}, short enough for the exact posterior; \(\alpha = {alpha}\),"
            r" \(\gamma = {gamma}\)",
        ),
        "longer documents, which the exact sum over counts by word has no room for",
        measure=BANK,
    ),
    Interpretation(
        "Murphy, 27.3.5: which topic is the first",
        "the one with more tokens of ``money'': the posterior is symmetric, and without a rule both have the same mean",
        "relabelling by hand",
        measure=BANK,
    ),
    Interpretation(
        "Murphy, 27.3.7: Wikipedia, and the axis of Figure 27.9",
        from_settings(
            ONLINE,
            "{documents} stories of Reuters-21578; the axis counts documents analysed, every visit, as the figure's"
            " does: seconds would not be the same in another run",
        ),
        "time",
        measure=ONLINE,
    ),
    Interpretation(
        "Murphy, 27.3.8: documents on which the number of topics is known",
        from_settings(
            EVIDENCE,
            "{documents} drawn from LDA with {true_topics} topics and its own priors, by which the model is right at"
            " one K alone; annealing in {temperatures} steps",
        ),
        "real documents, whose number of topics is not known",
        measure=EVIDENCE,
    ),
)
