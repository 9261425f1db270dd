"""The contrasts of the gallery, section by section (Murphy, 2012, chapter 27): estimates, by likelihoods."""

from gallery.extensions.science import EXTENSIONS
from gallery.graphs.science import GRAPHS
from gallery.priors.science import PRIORS
from gallery.ratings.science import FACTORISATION
from gallery.tokens.science import TOKENS
from gallery.undirected.science import UNDIRECTED

CONTRASTS = (*TOKENS, *UNDIRECTED, *PRIORS, *GRAPHS, *FACTORISATION, *EXTENSIONS)
