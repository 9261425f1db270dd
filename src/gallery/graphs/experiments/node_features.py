"""Section 27.5.1, equation 27.76: hidden pairs predicted by blocks with and without features of the nodes.

A share of the pairs is hidden, with all relations between the two. The features are principal components of the nodes'
own features, in which hidden pairs play no part. Measured of "blocks-none", "blocks-concatenation" and
"blocks-product" at K, by how the features of two nodes are combined, are log losses and areas as
`gallery.graphs.experiments.links` names them, "one" and "plugged" being of the most probable of all partitions,
and "average" of their sum; and of the observed cells, on the axis "topics", nats,

    evidence                log p(R), the weights integrated out by importance sampling, with its error
    laplace                 log p(R), the weights integrated out by Laplace's approximation alone
    effective-sample-size   the least of a regression's weights under the most probable partition
    profile                 log p(R | q, w), the most probable partition and its weights plugged in
"""

import numpy as np

from artifact.results.recorder import Results
from artifact.study.job import Job
from gallery.graphs.evaluators.link_prediction import area_under_curve, log_loss
from gallery.graphs.experiments.links import AUC, AVERAGE, DENSITY, LOG_LOSS, ONE, PLUGGED
from gallery.graphs.models.blocks import ClusterPrior
from gallery.graphs.models.sbm_features import COMBINATIONS, FeatureBlocks, node_features, pair_features
from gallery.graphs.spec import NodeFeatures
from gallery.member import PLUGGED_IN, Family
from heldout.corpora.relations.relation import relations_of
from heldout.errors import InputError

EVIDENCE, LAPLACE, EFFECTIVE, PROFILE = "evidence", "laplace", "effective-sample-size", "profile"
MODEL = {combination: f"blocks-{combination}" for combination in COMBINATIONS}
FAMILIES = (Family("blocks with features", tuple(MODEL.values()), PLUGGED_IN),)


def experiment(job: Job, settings: NodeFeatures) -> Results:
    """Hide pairs and predict them; raises InputError for a corpus without nodes' features."""
    whole = relations_of(job.corpus)
    if len(whole.relations) != 2:
        raise InputError(f"corpus {job.corpus.name}: {len(whole.relations)} relations; expected one and features")
    relation, features = whole.relations
    random = job.generator("node-features-hidden")
    seen, (hidden,) = whole.only(relation.name).without_pairs(settings.hidden, random)
    values, observed = relation.values[hidden], seen.relations[0]
    components = node_features(features, settings.components)
    densities = np.full(len(values), observed.values.sum() / observed.mask.sum())
    recorder = job.recorder(smoothing=settings.precision)
    for combination, model in MODEL.items():
        blocks = FeatureBlocks(observed, pair_features(components, combination), settings.precision)
        for K in settings.topics:
            draws = job.generator("node-features", model=model, topics=K)
            found = blocks.predict(ClusterPrior(settings.alpha, K), hidden, settings.samples, draws)
            row = recorder.at(model=model, topics=K)
            predictions = {ONE: found.one, AVERAGE: found.average, PLUGGED: found.plugged, DENSITY: densities}
            for name, probabilities in predictions.items():
                row.measure(f"{name}-{LOG_LOSS}", log_loss(values, probabilities))
                row.measure(f"{name}-{AUC}", area_under_curve(values, probabilities))
            row.measure(EVIDENCE, found.log_evidence, error=found.error)
            row.measure(LAPLACE, found.log_laplace)
            row.measure(EFFECTIVE, found.effective)
            row.measure(PROFILE, found.log_profile)
    return recorder.results
