"""What a study may say."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dlvm.errors import InputError

NO_CORPUS = "none"  # the corpus of a measurement that draws its own documents
DRAWS = ("calibration", "convergence-to-exact", "precision")  # these measurements do
PEERS = {"scikit-learn": "sklearn", "gensim": "gensim", "tomotopy": "tomotopy"}  # the extra `peers`: what is imported


def installed() -> list[str]:
    """Return the libraries of the measurement `peers` that can be imported, without importing them."""
    return [library for library, module in PEERS.items() if find_spec(module) is not None]


def without_missing(study: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """Return the study without the libraries that are not installed, and a notice; empty where there are all."""
    asked = study["measures"].get("peers")
    missing = [] if asked is None else [library for library in asked["models"] if library not in installed()]
    if asked is None or not missing:
        return study, ""
    measures = {kind: settings for kind, settings in study["measures"].items() if kind != "peers"}
    if len(missing) < len(asked["models"]):
        measures["peers"] = {**asked, "models": [model for model in asked["models"] if model not in missing]}
    notice = f"{', '.join(missing)} not installed: left out of the peers; pip install '.[peers]' brings them in"
    return {**study, "measures": measures}, notice


def load_study(path: Path, schema: Path, data: Path) -> dict[str, Any]:
    """Read and check a study's YAML file; see `check_study`."""
    import yaml

    try:
        study = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: not a readable study ({error})") from error
    if not isinstance(study, dict):
        raise InputError(f"{path}: a study is a mapping of settings; see workflow/studies/paper.yaml")
    return check_study(study, schema, data)


def check_study(study: dict[str, Any], schema: Path, data: Path) -> dict[str, Any]:
    """Return the study with its optional parts filled in, or say in one line what is wrong with it.

    Args:
        study: the settings.
        schema: the JSON schema (as YAML).
        data: the project's data folder, where imported corpora are looked for.

    Raises:
        InputError: naming the key (as models/lda/train/sweeps), what it holds and what it must hold.
    """
    import jsonschema
    import yaml

    from dlvm.corpora.prepare import RECIPES, SYNTHETIC

    strict = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )  # 5.0 is an integer to JSON, but would name other files than 5
    validate = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=strict)
    rules = yaml.safe_load(schema.read_text(encoding="utf-8"))
    validator = validate(rules)
    # a misspelt key is also a missing one: name the misspelling
    order = {"additionalProperties": 0, "required": 2}
    errors = sorted(validator.iter_errors(study), key=lambda error: order.get(str(error.validator), 1))
    if errors:
        key = "/".join(str(part) for part in errors[0].absolute_path) or "the top level"
        raise InputError(f"study: at {key}: {errors[0].message}; see {schema}")
    for corpus in [*study["corpora"], *study["table_1_also"], *study["alternatives"]["corpora"]]:
        imported = (data / "corpora" / f"{corpus}.npz").exists()
        if corpus.removesuffix(SYNTHETIC) not in RECIPES and not imported:
            raise InputError(
                f"study: at corpora/{corpus}: neither a corpus of data/corpora.csv nor an imported one;"
                f" import it with `dlvm import ... --output data/corpora/{corpus}.npz`"
            )
    for key, others in (
        ("table_1_also", study["table_1_also"]),
        ("alternatives/corpora", study["alternatives"]["corpora"]),
    ):
        for corpus in others:
            if corpus.removesuffix("-unstemmed") not in study["corpora"]:
                raise InputError(
                    f"study: at {key}: {corpus} is no other preprocessing of one of the corpora"
                    f" {', '.join(study['corpora'])}, whose number of test documents it would share"
                )
    for key in ("beyond_vocabulary", "alternatives"):
        if study[key]["corpus"] not in study["corpora"]:
            raise InputError(
                f"study: at {key}/corpus: {study[key]['corpus']} is not among the corpora {', '.join(study['corpora'])}"
            )
    realistic = study["realistic"]
    if realistic["source"].removesuffix(SYNTHETIC) not in RECIPES:
        raise InputError(f"study: at realistic/source: {realistic['source']} is no corpus of data/corpora.csv")
    chosen = study["measures"]["model-selection"]["settings"]["training_documents"]
    if max(chosen) + realistic["test_documents"] > realistic["documents"]:
        raise InputError(
            f"study: at measures/model-selection/settings/training_documents: {max(chosen)} training and"
            f" {realistic['test_documents']} held-out documents do not fit into the {realistic['documents']} of"
            " realistic/documents"
        )
    if realistic["train"]["chains"] != 1:
        raise InputError("study: at realistic/train/chains: the corpora are drawn from one chain's topics; give 1")
    for kind, asked in study["measures"].items():
        corpora = (
            (NO_CORPUS,) if kind in DRAWS else realistic["corpora"] if kind == "model-selection" else study["corpora"]
        )
        for key, known in (("corpora", corpora), ("models", PEERS if kind == "peers" else study["models"])):
            for name in asked.get(key, ()):
                if name not in known:
                    raise InputError(f"study: at measures/{kind}/{key}: {name} is not among {', '.join(known)}")
    for model, settings in study["models"].items():
        taken = {settings["variant"], "smoothed-in-m-step", *study["measures"]}
        for name in settings.get("also", {}):
            if name in taken or name.startswith("alternative-"):
                raise InputError(f"study: at models/{model}/also: the name {name} is taken; choose another")
        values = settings.get("sweep", {}).get("values", [1.0])
        if 1.0 not in values or any(value != round(value, 2) for value in values):
            raise InputError(f"study: at models/{model}/sweep/values: give 1.0 and values of two decimals at most")
    changed = [(f"alternatives/variants/{m}", m, named) for m, named in study["alternatives"]["variants"].items()]
    changed += [(f"models/{m}/also", m, settings.get("also", {})) for m, settings in study["models"].items()]
    for place, model, variants in changed:
        if model not in study["models"]:
            raise InputError(f"study: at {place}: {model} is not among the models {', '.join(study['models'])}")
        for name, changes in variants.items():
            for part, change in changes.items():
                where = f"{place}/{name}/{part}"
                for setting in change:
                    if setting not in study["models"][model][part]:
                        raise InputError(
                            f"study: at {where}: there is no setting {setting};"
                            f" there are {', '.join(study['models'][model][part])}"
                        )
                    if setting == "chains":
                        raise InputError(f"study: at {where}/chains: every variant has the main variant's chains")
                merged = {**study, "models": {**study["models"]}}
                merged["models"][model] = {**study["models"][model], part: {**study["models"][model][part], **change}}
                for error in validator.iter_errors(merged):
                    raise InputError(f"study: at {where}/{error.absolute_path[-1]}: {error.message}; see {schema}")
    return study
