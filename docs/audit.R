# From an R object to an audit in two lines, of which this file is the first:
#
#   source("audit.R")
#   audit(fit, documents)
#
# fit: of topicmodels (LDA, CTM), lda, seededlda, keyATM or stm; or a list of phi (K, V), its columns named, and alpha.
# documents: held out, counts of documents by words with the words as column names: a DocumentTermMatrix, a matrix, a
# Matrix or a dfm. Words that the model has not are left out and counted. X: of an stm with prevalence covariates, the
# documents' design matrix, with the columns of fit$settings$covariates$X (stm's makeDesignMatrix). More arguments are
# those of the command, such as audit(fit, documents, "--html", "audit.html"); `heldout audit --help` lists them. It takes
# the command heldout.

audit <- function(fit, documents, ..., X = NULL, folder = tempfile("audit-")) {
  dir.create(folder, showWarnings = FALSE)
  model <- file.path(folder, "phi.csv")
  write_prior <- function(values, name) {
    utils::write.table(values, file.path(folder, paste0("phi.", name, ".csv")), sep = ",", row.names = FALSE, col.names = FALSE)
  }
  if (inherits(fit, "CTM_VEM")) { # topicmodels
    phi <- exp(fit@beta)
    colnames(phi) <- fit@terms
    write_prior(fit@mu, "mean")
    write_prior(fit@Sigma, "covariance")
  } else if (inherits(fit, c("LDA_VEM", "LDA_Gibbs"))) { # topicmodels, one alpha
    phi <- exp(fit@beta)
    colnames(phi) <- fit@terms
    write_prior(fit@alpha, "alpha")
  } else if (inherits(fit, "STM")) {
    if (length(fit$beta$logbeta) > 1) {
      stop("the model has topics for each value of a content covariate: keep one in fit$beta$logbeta, and its documents")
    }
    own_means <- !is.null(fit$mu$gamma)
    if (own_means && is.null(X)) {
      stop("the model has prevalence covariates, and so a mean for every document: give X, the documents' design matrix")
    }
    phi <- exp(fit$beta$logbeta[[1]])
    colnames(phi) <- fit$vocab
    write_prior(if (own_means) t(as.matrix(X %*% fit$mu$gamma)) else fit$mu$mu, "mean")
    write_prior(fit$sigma, "covariance")
  } else if (inherits(fit, "keyATM_output")) {
    phi <- fit$phi
    alpha <- fit$values_iter$alpha_iter
    write_prior(if (is.null(alpha)) fit$priors$alpha else alpha$alpha[alpha$Iteration == max(alpha$Iteration)], "alpha")
  } else if (!is.null(fit$topics) && !is.null(fit$topic_sums)) { # lda keeps counts, and neither alpha nor eta
    if (is.null(fit$alpha) || is.null(fit$eta)) stop("name the priors that lda was given: fit$alpha <- 0.1; fit$eta <- 0.1")
    phi <- fit$topics + fit$eta
    write_prior(fit$alpha, "alpha")
  } else if (!is.null(fit$phi)) { # seededlda, and any list
    phi <- fit$phi
    write_prior(fit$alpha, "alpha")
  } else {
    stop("no model that is known here: give list(phi = a matrix of topics by words, alpha = the prior)")
  }
  utils::write.csv(phi / rowSums(phi), model, row.names = FALSE)
  if (inherits(documents, "simple_triplet_matrix")) { # slam, tm
    cells <- data.frame(row = documents$i, column = documents$j, count = documents$v)
  } else {
    at <- which(as.matrix(documents) > 0, arr.ind = TRUE)
    cells <- data.frame(row = at[, 1], column = at[, 2], count = as.matrix(documents)[at])
  }
  words <- file.path(folder, "words.txt")
  con <- file(words, encoding = "UTF-8")
  writeLines(colnames(documents), con)
  close(con)
  pairs <- split(paste0(cells$column - 1, ":", cells$count), factor(cells$row, levels = seq_len(nrow(documents))))
  corpus <- file.path(folder, "test.ldac")
  writeLines(vapply(pairs, function(of) trimws(paste(length(of), paste(of, collapse = " "))), ""), corpus)
  typed <- c("audit", model, corpus, "--documents-vocabulary", words, "--format", "ldac", ...)
  invisible(system2("heldout", shQuote(typed)))
}
