r"""Graphical models of the chapter's figures, in the gallery's notation; `plates` draws them.

    alpha > theta > z > w < phi     edges, by the names of their nodes: `>` and `<` are arrows, `-` is undirected

A place (x, y) counts in steps to the right and downwards from the model's corner. A model is drawn as the gallery
trains it: topics are latent where a prior of theirs is integrated out or sampled, and points elsewhere.
"""

import re
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import Literal


class Kind(Enum):
    """Kind of a node: a latent or observed variable, a function of its parents, or a parameter plugged in."""

    LATENT, OBSERVED, COMPUTED, POINT = range(4)


@dataclass(frozen=True)
class Node:
    """A node: its label in LaTeX's mathematics, its place in steps, its kind, and where a point has its label."""

    label: str
    x: float
    y: float
    kind: Kind = Kind.LATENT
    side: Literal["right", "above"] = "right"


@dataclass(frozen=True)
class Plate:
    """A plate: its label, the names of its nodes, and the corner of the label."""

    label: str
    nodes: str
    corner: str = "lower right"


@dataclass(frozen=True)
class Model:
    """A graphical model.

    Attributes:
        title: its name; a line break where it is long.
        figure: number of the chapter's figure, empty where the chapter has none.
        nodes: nodes by name.
        chains: paths of edges; a semicolon ends a path.
        plates: plates, inner ones before those around them.
    """

    title: str
    figure: str
    nodes: dict[str, Node]
    chains: str
    plates: tuple[Plate, ...] = ()

    @property
    def edges(self) -> list[tuple[str, str, bool]]:
        """Every edge's two ends and whether it is an arrow, from the first to the second."""
        edges = []
        for chain in self.chains.split(";"):
            parts = re.split(r"\s+([<>-])\s+", chain.strip())
            for (start, end), sign in zip(pairwise(parts[::2]), parts[1::2], strict=True):
                edges.append((end, start, True) if sign == "<" else (start, end, sign == ">"))
        return edges


def observed(label: str, x: float, y: float) -> Node:
    """Return an observed variable."""
    return Node(label, x, y, Kind.OBSERVED)


def point(label: str, x: float, y: float, side: Literal["right", "above"] = "right") -> Node:
    """Return a parameter that is plugged in."""
    return Node(label, x, y, Kind.POINT, side)


_THETA, _Z, _W = Node(r"\theta_d", 0, 1), Node("z_{dl}", 0, 2), observed("w_{dl}", 0, 3)
_ALPHA, _PHI = point(r"\alpha", 0, 0.2), point(r"\phi_k", 1, 3)
_TOPICS = {"theta": _THETA, "z": _Z, "w": _W, "phi": _PHI}
_TOKENS, _COMPONENTS = Plate("n_d", "z w"), Plate("K", "phi")
_FOUR = {
    f"{name}{d}{n}": node(f"{name}_{{{d}{n}}}", 2 * (d - 1) + n - 1, y)
    for name, node, y in (("z", Node, 1), ("w", observed, 2))
    for d in (1, 2)
    for n in (1, 2)
}
_TOKENS_UNROLLED = "; ".join(f"theta{n[0]} > z{n} > w{n} < phi" for n in ("11", "12", "21", "22"))
_SQUARE = {
    f"{name}{d}{n}": node(f"{name}_{{{d}{n}}}", 1.5 + (2 * n - 3) * (0.5 if name == "z" else 1.35), 1.7 + d - 1)
    for name, node in (("z", Node), ("w", observed))
    for d in (1, 2)
    for n in (1, 2)
}
_HIDDEN = {f"h{n}": Node(f"h_{n}", n - 0.5, 0) for n in (1, 2)}
_VISIBLE = {f"v{n}": observed(f"v_{n}", n - 1, 1.2) for n in (1, 2, 3)}
_REGRESSION = {"weights": point("W", 1, 1)}
_CLUSTERS = {"zi": Node("z_i", 0, 2), "zj": Node("z_j", 1, 1), "r": observed("R_{ij}", 1, 2)}
_PAIR = (Plate("i", "zi r", "lower left"), Plate("j", "zj r", "upper right"))
# a sweep of the machine's chain: hidden units of every state below its visible ones
_STATES = {f"v{s}": Node(f"v^{{({s})}}", 1.8 * s, 1.2, Kind.LATENT if s else Kind.OBSERVED) for s in (0, 1, 2)} | {
    f"h{s}": Node(f"h^{{({s})}}", 1.8 * s + 0.9, 0) for s in (0, 1)
}


def _at_a_time(t: int, document: str) -> dict[str, Node]:
    """Return a document's nodes and its topics', at the first or second of two times."""
    x, time = 2.0 * t, ("t{-}1", "t")[t]
    return {
        "theta": Node(rf"\theta_{document}", x, 0.3),
        "z": Node(f"z_{{{document}l}}", x, 1.3),
        "w": observed(f"w_{{{document}l}}", x, 2.3),
        "eta": Node(rf"\eta_{{{time}}}", x, 3.6),
    }


def _linked(document: str) -> dict[str, Node]:
    """Return the nodes of one of two documents that may be linked."""
    x = 2.0 * (document == "j")
    return {
        "theta": Node(rf"\theta_{document}", x, 0.6),
        "z": Node(f"z_{{{document}l}}", x, 1.6),
        "w": observed(f"w_{{{document}l}}", x, 2.6),
    }


FAMILIES: tuple[dict[str, tuple[Model, ...]], ...] = (  # by title, a dictionary for each row of the page
    {
        "Documents, counts and records": (
            Model(
                "mixture",
                "",
                {"theta": point(r"\theta", 0, 1.2), "z": Node("z_d", 0, 2), "w": _W, "phi": _PHI},
                "theta > z > w < phi",
                (Plate("n_d", "w"), Plate("D", "z w"), _COMPONENTS),
            ),
            Model(
                "categorical\nPCA",
                "27.1(a)",
                {"h": Node("h_d", 0, 2), "y": observed("y_{dr}", 0, 3), "w": point("W_r, b_r", 1, 3)},
                "h > y < w",
                (Plate("R", "y w"), Plate("D", "h y", "upper left")),
            ),
            Model(
                "multinomial\nPCA",
                "27.1(b)",
                {"alpha": point(r"\alpha", 0, 1.2), "theta": Node(r"\theta_d", 0, 2)}
                | {"n": observed(r"n_{d{\cdot}}", 0, 3), "phi": _PHI},
                "alpha > theta > n < phi",
                (Plate("D", "theta n"), _COMPONENTS),
            ),
            Model(
                "GaP",
                "27.2(a)",
                {"prior": point(r"\alpha_k, \delta_k", 0, 1.2), "h": Node("h_{dk}", 0, 2)}
                | {"n": observed("n_{dv}", 0, 3), "phi": point(r"\phi_k", 0.9, 2)},
                "prior > h > n < phi",
                (Plate("V", "n"), Plate("D", "h n"), Plate("K", "prior h phi", "upper right")),
            ),
            Model(
                "LDA",
                "27.2(b)",
                _TOPICS | {"alpha": _ALPHA, "phi": Node(r"\phi_k", 1, 3), "beta": point(r"\beta", 1, 2.2)},
                "alpha > theta > z > w < phi < beta",
                (_TOKENS, Plate("D", "theta z w"), _COMPONENTS),
            ),
            Model(
                "LDA unrolled",
                "27.7(a)",
                {"alpha": _ALPHA, "theta1": Node(r"\theta_1", 0.5, 0), "theta2": Node(r"\theta_2", 2.5, 0)}
                | {**_FOUR, "alpha": point(r"\alpha", 1.5, 0, "above"), "phi": Node(r"\phi_k", 1.5, 3)}
                | {"beta": point(r"\beta", 2.5, 3)},
                f"theta1 < alpha > theta2; {_TOKENS_UNROLLED}; beta > phi",
                (_COMPONENTS,),
            ),
            Model(
                "collapsed,\ngiven the words",
                "27.7(b)",
                _SQUARE,
                "w11 - z11 - z12 - w12; w21 - z21 - z22 - w22; z21 - z11 - z22 - z12 - z21",
            ),
        ),
    },
    {
        "Priors that differ between documents": (
            Model(
                "correlated\ntopics",
                "",
                {"prior": point(r"\mu, \Sigma", 0, 0.2), "h": Node("h_d", 0, 1), "z": _Z, "w": _W, "phi": _PHI},
                "prior > h > z > w < phi",
                (_TOKENS, Plate("D", "h z w"), _COMPONENTS),
            ),
            Model(
                "MR-LDA",
                "27.16(a)",
                _TOPICS | {"theta": Node(r"\theta_d", 0, 1, Kind.COMPUTED), "x": observed("x_d", 0, 0), **_REGRESSION},
                "x > theta > z > w < phi; weights > theta",
                (_TOKENS, Plate("D", "x theta z w"), _COMPONENTS),
            ),
            Model(
                "random effects",
                "27.16(b)",
                _TOPICS
                | {"theta": Node(r"\theta_d", 0, 1, Kind.COMPUTED), "x": observed("x_d", 0, 0)}
                | {"weights": Node("W_d", 1, 1), "prior": point(r"\Sigma", 2, 1)}
                | {"phi": point(r"\phi_k", 2, 3)},
                "x > theta > z > w < phi; prior > weights > theta",
                (_TOKENS, Plate("D", "x theta z w weights"), _COMPONENTS),
            ),
            Model(
                "DMR",
                "27.16(c)",
                _TOPICS | {"x": observed("x_d", 0, 0), **_REGRESSION},
                "x > theta > z > w < phi; weights > theta",
                (_TOKENS, Plate("D", "x theta z w"), _COMPONENTS),
            ),
            Model(
                "categorical PCA\nwith inputs",
                "27.17(a)",
                {"x": observed("x_d", 0, 1), "h": Node("h_d", 0, 2), "w": _W}
                | {"u": point("U", 1, 2), "weights": point("W, b", 1, 3)},
                "x > h > w; u > h; weights > w",
                (Plate("n_d", "w"), Plate("D", "x h w")),
            ),
            Model(
                "the same,\nunrolled",
                "27.17(b)",
                {f"x{n}": observed(f"x_{{d{n}}}", n - 1, 1) for n in (1, 2, 3)}
                | {f"h{n}": Node(f"h_{{d{n}}}", n - 0.5, 2) for n in (1, 2)}
                | {f"w{n}": observed(f"w_{{d{n}}}", n - 1, 3) for n in (1, 2, 3)},
                "; ".join(f"x{n} > h{k} > w{n}" for k in (1, 2) for n in (1, 2, 3)),
            ),
        ),
    },
    {
        "Order, time, labels and links": (
            Model(
                "dynamic topics",
                "27.11",
                {f"{name}{t}": node for t, sub in ((0, "d"), (1, "e")) for name, node in _at_a_time(t, sub).items()}
                | {"alpha": point(r"\alpha", 1, 0.3, "above"), "variance": point(r"\sigma^2", 0.8, 2.8)},
                "theta0 < alpha > theta1; theta0 > z0 > w0 < eta0 > eta1 > w1 < z1 < theta1; variance > eta1",
                (
                    *(Plate("n_d", "z0 w0"), Plate("D_{t{-}1}", "theta0 z0 w0", "upper right"), Plate("n_e", "z1 w1")),
                    *(Plate("D_t", "theta1 z1 w1", "upper right"), Plate("K", "eta0 eta1")),
                ),
            ),
            Model(
                "LDA-HMM",
                "27.13",
                {"alpha": point(r"\alpha", 1.75, 0), "theta": Node(r"\theta_d", 0.5, 0)}
                | {f"z{n}": Node(f"z_{{d{n}}}", n - 1, 1) for n in (1, 2)}
                | {f"w{n}": observed(f"w_{{d{n}}}", n - 1, 2) for n in (1, 2)}
                | {f"s{n}": Node(f"s_{{d{n}}}", n - 1, 3) for n in (1, 2)}
                | {"phi": point(r"\phi_k", 2.1, 1), "states": point(r"\phi^{(c)}", 2.1, 3), "A": point("A", 1, 3.9)},
                "alpha > theta; theta > z1 > w1 < s1 > s2; theta > z2 > w2 < s2; w1 < phi > w2; w1 < states > w2; "
                "s1 < A > s2",
                (Plate("D", "theta z1 z2 w1 w2 s1 s2", "upper left"), _COMPONENTS, Plate("C", "states")),
            ),
            Model(
                "supervised LDA",
                "27.15(a)",
                _TOPICS | {"alpha": _ALPHA, "c": observed("c_d", -1, 1.5), "omega": point(r"\omega", -1, 0.2)},
                "alpha > theta > z > w < phi; z > c < omega",
                (_TOKENS, Plate("D", "theta z w c"), _COMPONENTS),
            ),
            Model(
                "DiscLDA",
                "27.15(b)",
                _TOPICS | {"alpha": _ALPHA, "c": observed("c_d", -1, 1.5), "A": point("A_c", 1, 1.7)},
                "alpha > theta > z > w < phi; c > z < A",
                (_TOKENS, Plate("D", "theta z w c"), _COMPONENTS, Plate("C", "A")),
            ),
            Model(
                "relational topics",
                "27.23",
                {f"{name}{i}": node for i in "ij" for name, node in _linked(i).items()}
                | {"alpha": point(r"\alpha", 1, 0.6, "above"), "r": observed("R_{ij}", 1, 1.6)}
                | {"omega": point(r"\omega", 1, 2.4), "phi": point(r"\phi_k", 1, 3.75)},
                "thetai < alpha > thetaj; thetai > zi > wi < phi; thetaj > zj > wj < phi; zi > r < zj; omega > r",
                (Plate("n_i", "zi wi", "lower left"), Plate("n_j", "zj wj"), _COMPONENTS),
            ),
        ),
    },
    {
        "Graphs": (
            Model(
                "stochastic blocks",
                "27.21(a)",
                {"alpha": point(r"\alpha", 0, 0, "above"), "theta": Node(r"\theta", 0, 1), **_CLUSTERS}
                | {"eta": Node(r"\eta_{ab}", 2.2, 2), "beta": point(r"\beta", 2.2, 1.2)},
                "alpha > theta > zi > r < zj < theta; r < eta < beta",
                (*_PAIR, Plate("K^2", "eta")),
            ),
            Model(
                "mixed membership",
                "27.21(b)",
                {"alpha": point(r"\alpha", 0, 0.6, "above"), "ti": Node(r"\theta_i", 0, 1.4)}
                | {"tj": Node(r"\theta_j", 2, 0.4), "zi": Node(r"z_{i{\to}j}", 1, 1.4)}
                | {"zj": Node(r"z_{i{\leftarrow}j}", 2, 1.4), "r": observed("R_{ij}", 1.5, 2.3)}
                | {"eta": Node(r"\eta_{ab}", 3.2, 2.3), "beta": point(r"\beta", 3.2, 1.5)},
                "alpha > ti > zi > r < zj < tj < alpha; r < eta < beta",
                (Plate("i", "ti zi zj r", "lower left"), Plate("j", "tj zi zj r", "upper right"), Plate("K^2", "eta")),
            ),
        ),
        "Ratings": (
            Model(
                "co-clusters",
                "",
                {"ti": point(r"\theta^u", 0, 1, "above"), "tj": point(r"\theta^v", 1, 0, "above"), **_CLUSTERS}
                | {"zi": Node("z_i^u", 0, 2), "zj": Node("z_j^v", 1, 1), "mu": point(r"\mu_{ab}", 2.2, 2)}
                | {"sigma": point(r"\sigma", 2.2, 1.2)},
                "ti > zi > r < zj < tj; mu > r < sigma",
                (*_PAIR, Plate("K^2", "mu")),
            ),
            Model(
                "matrix\nfactorisation",
                "27.28(a)",
                {"ti": point(r"\Sigma_u", 0, 1, "above"), "tj": point(r"\Sigma_v", 1, 0, "above"), **_CLUSTERS}
                | {"zi": Node("u_i", 0, 2), "zj": Node("v_j", 1, 1), "sigma": point(r"\sigma", 2.2, 2)},
                "ti > zi > r < zj < tj; sigma > r",
                _PAIR,
            ),
        ),
    },
    {
        "Undirected": (
            Model(
                "Boltzmann\nmachine",
                "27.30(a)",
                {**_VISIBLE, **_HIDDEN},
                "h1 - h2; v1 - v2 - v3; h1 - v1 - h2 - v3; v2 - h1",
            ),
            Model(
                "restricted",
                "27.30(b)",
                {**_VISIBLE, **_HIDDEN},
                "; ".join(f"h{k} - v{n}" for k in (1, 2) for n in (1, 2, 3)),
            ),
            Model(
                "Gibbs sampling",
                "27.31",
                _STATES,
                "v0 > h0 > v1 > h1 > v2",
            ),
            Model(
                "replicated\nsoftmax",
                "",
                {**_HIDDEN, "w": observed("w_l", 1, 1.2)},
                "h1 - w - h2",
                (Plate("n", "w"),),
            ),
        ),
    },
)
