# R's topicmodels (Gruen and Hornik, GPL-2): Rscript topicmodels.R METHOD FOLDER, METHOD Gibbs or VEM. README.md has the interface.
#
# Gibbs: perplexity(fit, newdata) runs a chain on the new documents, as many sweeps as the fit's, and scores their own
# words at theta of its last state, which is written, too. VEM: exp(- sum_d L_d / N), L_d the mean-field bound.
suppressPackageStartupMessages({
  library(slam)
  library(topicmodels)
})
arguments <- commandArgs(trailingOnly = TRUE)
method <- arguments[1]
folder <- arguments[2]

settings <- utils::read.csv(file.path(folder, "settings.csv"))
counts <- function(name) {
  numbers <- matrix(scan(file.path(folder, name), comment.char = "%", quiet = TRUE), ncol = 3, byrow = TRUE)
  entries <- numbers[-1, , drop = FALSE]
  simple_triplet_matrix(entries[, 1], entries[, 2], entries[, 3], numbers[1, 1], numbers[1, 2])
}
write <- function(values, name) {
  file <- file(file.path(folder, name), "wb")
  writeBin(as.double(values), file, endian = "little")
  close(file)
}

control <- if (method == "Gibbs") {
  list(seed = settings$seed, iter = settings$rounds)
} else {
  list(seed = settings$seed, em = list(iter.max = settings$rounds))
}
fit <- LDA(counts("training.mtx"), k = settings$topics, method = method, control = control)
write(t(exp(fit@beta)), "topics.f64") # a topic's words one after the other
write(rep(fit@alpha, settings$topics), "alpha.f64")

tests <- list.files(folder, "^test-.*[.]mtx$")
values <- vapply(tests, function(test) {
  documents <- counts(test)
  # what perplexity(fit, documents) does, in two steps, for it keeps theta to itself
  control <- fit@control
  control@estimate.beta <- FALSE
  folded <- LDA(documents, model = fit, control = control)
  if (method == "VEM") return(perplexity(folded))
  write(t(folded@gamma), sub("mtx$", "f64", sub("^test", "theta", test)))
  perplexity(folded, newdata = documents, estimate_theta = FALSE)
}, numeric(1))
utils::write.csv(data.frame(test = sub("^test-(.*)[.]mtx$", "\\1", tests), value = sprintf("%.17g", values)),
                 file.path(folder, "reported.csv"), row.names = FALSE, quote = FALSE)
cat(as.character(utils::packageVersion("topicmodels")), file = file.path(folder, "version.txt"))
