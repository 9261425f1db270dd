"""The chapter's claims, section by section (Murphy, 2012, chapter 27), judged by likelihoods."""

from gallery.extensions.science import EXTENSIONS
from gallery.graphs.science import GRAPHS
from gallery.priors.science import PRIORS
from gallery.ratings.science import RATINGS_CLAIMS
from gallery.tokens.science import TOKENS
from gallery.undirected.science import UNDIRECTED

CLAIMS = (*TOKENS, *UNDIRECTED, *PRIORS, *GRAPHS, *RATINGS_CLAIMS, *EXTENSIONS)
