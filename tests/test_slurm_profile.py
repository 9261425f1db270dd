"""profiles/slurm asks for memory and time for every rule, and for more than the reference run took."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROFILE: dict[str, Any] = yaml.safe_load((ROOT / "profiles/slurm/profile.yaml").read_text(encoding="utf-8"))
WORKFLOW = "\n".join(
    path.read_text(encoding="utf-8") for path in (ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk"))
)
NOW = {"verdicts": "effects", "fit_first_chain": "fit_unscored"}  # rules by their names when the reference was run
TIMINGS = ROOT / "data/reference/paper/timings.csv"


def submitted_rules() -> set[str]:
    """Return the rules that have jobs and are not run where Snakemake itself runs."""
    rules = set(re.findall(r"^(?:rule|checkpoint) (\w+):", WORKFLOW, flags=re.MULTILINE))
    local = {
        name
        for block in re.findall(r"^localrules:\n((?: +\w+,?\n)+)", WORKFLOW, flags=re.MULTILINE)
        for name in re.findall(r"\w+", block)
    }
    assert {"fit", "write_study"} <= rules
    assert local <= rules
    return rules - local - {"all"}


def asked(rule: str, resource: str, attempt: int, wildcards: dict[str, str]) -> int:
    """Return what a job asks for; the profile's expressions are Python, as Snakemake reads them."""
    expression = str(PROFILE["set-resources"][rule][resource])
    value = eval(expression, {"wildcards": SimpleNamespace(**wildcards), "attempt": attempt})
    assert isinstance(value, int), f"{rule}: {resource}: {expression} is no whole number"
    return value


def jobs() -> Iterator[dict[str, str]]:
    """Yield the jobs of the reference run, each with its wildcards, without parts of jobs that are timed as well."""
    with TIMINGS.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["rule"] not in ("training", "prose"):
                yield {**row, "name": row["variant"] or row["corpus"]}


def test_every_submitted_rule_is_given_memory_and_run_time_and_no_other_rule_is_named() -> None:
    named = PROFILE["set-resources"]
    assert set(named) == submitted_rules(), "profiles/slurm/profile.yaml: set-resources has to name the submitted rules"
    for rule, resources in named.items():
        assert set(resources) == {"mem_mb", "runtime"}, rule
    assert set(PROFILE["default-resources"]) == {"mem_mb", "runtime"}


def test_groups_are_of_submitted_rules_and_every_group_has_a_size() -> None:
    assert set(PROFILE["groups"]) <= submitted_rules()
    assert set(PROFILE["group-components"]) == set(PROFILE["groups"].values())
    # without it, the jobs of a group would ask for a core each, and for the sum of their memory
    assert PROFILE["cores"] == 1


def test_snakemake_reads_every_expression() -> None:
    from snakemake.resources import Resources

    for rule, resources in {**PROFILE["set-resources"], "default": PROFILE["default-resources"]}.items():
        parsed = Resources.parse([f"{name}={value}" for name, value in resources.items()], allow_expressions=True)
        assert {"mem_mb", "runtime"} <= set(dict(parsed.items())), rule


@pytest.mark.parametrize("rule", sorted(PROFILE["set-resources"]))
def test_a_second_attempt_asks_for_twice_as_much_and_more_topics_for_no_less(rule: str) -> None:
    wildcards = {"corpus": "nips", "model": "lda", "variant": "collapsed-gibbs", "name": "model-selection", "seed": "0"}
    for resource in ("mem_mb", "runtime"):
        few, many = (asked(rule, resource, 1, {**wildcards, "topics": topics}) for topics in ("5", "800"))
        assert 0 < few <= many
        assert asked(rule, resource, 2, {**wildcards, "topics": "5"}) == 2 * few


def test_every_job_of_the_reference_run_would_have_had_twice_its_memory_and_five_times_its_time() -> None:
    short = []
    for job in jobs():
        rule = NOW.get(job["rule"], job["rule"])
        memory, minutes = (asked(rule, resource, 1, job) for resource in ("mem_mb", "runtime"))
        # a job that ended before it was looked at has no figure of memory
        if memory < 2 * float(job["memory_mb"] or 0) or 60 * minutes < 5 * float(job["seconds"]):
            short.append(f"{'/'.join(job[key] for key in ('rule', 'corpus', 'model', 'variant', 'topics'))}")
    assert not short, f"profiles/slurm/profile.yaml asks for too little, by {TIMINGS.name}, for {short}"
