"""Spark ML's LDA (Apache-2.0), by online variational Bayes; its defaults but for K, the iterations and the seed.

`logPerplexity` is minus the bound per token, with the topics' divergence from their prior. `topicsMatrix` holds the
parameters lambda of q(topics), not probabilities; eta is 1 / K where it is not set.
"""

import numpy as np
import scipy.sparse as sp
from interface import Folder, drive
from pyspark.ml.clustering import LDA
from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame, SparkSession


def frame(spark: SparkSession, counts: sp.csr_matrix) -> DataFrame:
    """Return documents as Spark takes them, in one partition: the sums' order then is the documents'."""
    rows = []
    for d in range(counts.shape[0]):
        row = slice(counts.indptr[d], counts.indptr[d + 1])
        rows.append((d, Vectors.sparse(counts.shape[1], counts.indices[row].tolist(), counts.data[row].tolist())))
    return spark.createDataFrame(rows, ["id", "features"]).coalesce(1).cache()


def driver(folder: Folder) -> tuple[str, dict[str, float]]:
    """Fit and score."""
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.driver.memory", "2g").config("spark.driver.host", "localhost").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    lda = LDA(k=folder.topics, maxIter=folder.rounds, seed=folder.seed)
    model = lda.fit(frame(spark, folder.counts("training")))
    folder.write("topics", model.topicsMatrix().toArray().T)
    folder.write("alpha", model.estimatedDocConcentration().toArray())
    folder.write("eta", np.array([1.0 / folder.topics]))
    values = {name: float(model.logPerplexity(frame(spark, counts))) for name, counts in folder.tests()}
    version = str(spark.version)
    spark.stop()
    return version, values


if __name__ == "__main__":
    drive(driver)
