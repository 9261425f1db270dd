// How far the likelihood can be from folding in, and how far the law expects it: docs/folded-in.md. Nats throughout.
// The mathematics is that of src/heldout/evaluators/excess.py and expected_excess.py; tests/test_folded_in.py compares them.
"use strict"

const CONVEX = 1 / 2 // least alpha at which the largest excess has all tokens in one topic
const CONCAVE = 1 / 3 // largest alpha at which its tokens are as even as they can be
const LONGEST = 2000 // tokens up to which the recurrence between the two is worked out here
const FIELDS = {
  perplexity: { label: "Perplexity", least: 1, most: 1e6, whole: false },
  tokens: { label: "Tokens per document", least: 1, most: 1e5, whole: false },
  topics: { label: "Topics", least: 1, most: 1e5, whole: true },
  alpha: { label: "Alpha", least: 0.001, most: 1000, whole: false, blank: 1 },
}

// Return g(N) = N log N - N - log Gamma(alpha + N) / Gamma(alpha), of N = 0 to n. It grows slowly, and is summed by its
// steps. The excess of counts N_k is sum_k g(N_k) under alpha_k, less g(n) under the sum of alpha.
function parts(n, alpha) {
  const g = new Float64Array(n + 1)
  for (let N = 0; N < n; N += 1) {
    g[N + 1] = g[N] + Math.log((N + 1) / (alpha + N)) + (N > 0 ? N * Math.log1p(1 / N) : 0) - 1
  }
  return g
}

// Return the largest excess of a document of n tokens, n whole, under alpha for each of K topics: theorem 1.
function largestExcess(n, K, alpha) {
  const g = parts(n, alpha)
  const rest = parts(n, K * alpha)[n]
  if (K === 1 || alpha >= CONVEX) return g[n] - rest
  if (alpha > CONCAVE) return recurrence(g, K) - rest
  const fewer = Math.floor(n / K)
  const more = n % K // topics with a token more
  return (more > 0 ? more * g[fewer + 1] : 0) + (K - more) * g[fewer] - rest
}

// Return the largest sum of g(N_k) over counts of K topics: a q-th topic has at most as many tokens as those before it.
function recurrence(g, K) {
  const n = g.length - 1
  const best = g.slice()
  for (let q = 2; q <= Math.min(K, n); q += 1) {
    const before = best.slice()
    for (let r = 1; r <= Math.floor(n / q); r += 1) {
      for (let m = q * r; m <= n; m += 1) best[m] = Math.max(best[m], before[m - r] + g[r])
    }
  }
  return best[n]
}

// Return the law L(n, alpha) of n tokens, n whole: a topic's tokens N have a beta-binomial distribution.
function expectedExcess(n, K, alpha) {
  if (K === 1) return 0
  const g = parts(n, alpha)
  const others = (K - 1) * alpha
  let logP = 0 // of N = 0, then of each N in turn
  for (let i = 0; i < n; i += 1) logP += Math.log1p(-alpha / (K * alpha + i))
  let mean = 0
  for (let N = 1; N <= n; N += 1) {
    logP += Math.log(((n - N + 1) / N) * ((alpha + N - 1) / (others + n - N)))
    mean += Math.exp(logP) * g[N]
  }
  return K * mean - parts(n, K * alpha)[n]
}

// Return a function of whole numbers at a mean n, on the straight line between its neighbours.
function atMean(excess, n, K, alpha) {
  const below = Math.floor(n)
  const share = n - below
  const value = excess(below, K, alpha)
  return share > 0 ? (1 - share) * value + share * excess(below + 1, K, alpha) : value
}

// Return whether the largest excess is concave in n, so that at a mean length it is at least its mean.
function isConcave(K, alpha) {
  return K === 1 || alpha >= CONVEX || (alpha <= CONCAVE && K * alpha >= 1 / 2)
}

// Return the number in a field's text, or throw a line that says which number to give.
function read(name, text) {
  const { label, least, most, whole, blank } = FIELDS[name]
  const typed = text.trim()
  if (typed === "" && blank !== undefined) return blank
  const value = /^(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(typed) ? Number(typed) : NaN
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value
  const number = `${whole ? "a whole number" : "a number"} from ${least} to ${most}, without commas`
  throw new RangeError(`${label}: give ${number}${typed === "" ? "." : `, not ${typed}.`}`)
}

// Return both excesses, nats per document, and the perplexities of the likelihood that belong to them.
function answer(P, n, K, alpha) {
  if (alpha > CONCAVE && alpha < CONVEX && n > LONGEST) {
    throw new RangeError(`Tokens per document: with alpha between 1/3 and 1/2, give at most ${LONGEST}, not ${n}.`)
  }
  const rows = {}
  for (const [name, excess] of Object.entries({ law: expectedExcess, largest: largestExcess })) {
    const nats = atMean(excess, n, K, alpha)
    rows[name] = { document: nats, token: nats / n, perplexity: P * Math.exp(nats / n) }
  }
  return rows
}

// Return a number to four digits.
function shown(value) {
  return value < 1e7 ? value.toLocaleString("en-US", { maximumSignificantDigits: 4 }) : value.toExponential(3)
}

function show() {
  const page = document.getElementById("folded-in")
  const [line, note, table] = [".line", ".note", "table"].map((selector) => page.querySelector(selector))
  const values = {}
  for (const name of Object.keys(FIELDS)) page.elements[name].removeAttribute("aria-invalid")
  let wrong = null // the field that is read, or that the last check is about
  try {
    for (const name of Object.keys(FIELDS)) {
      wrong = page.elements[name]
      values[name] = read(name, wrong.value)
    }
    wrong = page.elements.tokens
    const { perplexity: P, tokens: n, topics: K, alpha } = values
    const rows = answer(P, n, K, alpha)
    for (const [name, row] of Object.entries(rows)) {
      for (const [column, value] of Object.entries(row)) {
        table.querySelector(`.${name} .${column}`).textContent = shown(value)
      }
    }
    table.querySelector(".folded .perplexity").textContent = shown(P)
    const range = `between ${shown(P)} and ${shown(rows.largest.perplexity)}`
    line.textContent = `The likelihood's perplexity lies ${range}; the law expects ${shown(rows.law.perplexity)}.`
    note.hidden = isConcave(K, alpha)
    table.hidden = false
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    wrong.setAttribute("aria-invalid", "true")
    line.textContent = error.message
    note.hidden = table.hidden = true
  }
}

if (typeof document === "undefined") {
  module.exports = { largestExcess, expectedExcess, isConcave, answer, read, shown }
} else {
  document.getElementById("folded-in").addEventListener("input", show)
  show()
}
