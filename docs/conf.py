"""How Sphinx makes the site: `make docs`. Pictures and tutorials are made each time; a warning fails."""

import logging
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # the tutorials' documents, and the pictures

import exhibits  # noqa: E402
import pictures  # noqa: E402

import heldout  # noqa: E402

project, author, release = "heldout", "The heldout authors", heldout.__version__
copyright = author
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["site", "tutorials", "**/sg_execution_times.rst", "sg_execution_times.rst"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

default_role = "code"  # docstrings have names between single backticks
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # they stand in the text
napoleon_numpy_docstring = False
myst_enable_extensions = ["colon_fence", "attrs_block", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"heldout {release}"
html_static_path = ["made/pictures", "static"]
html_css_files = ["site.css"]
html_show_sourcelink = False

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "made/tutorials",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
}


logging.getLogger("gensim").setLevel(logging.WARNING)  # Sphinx shows what libraries log


def setup(app: Any) -> None:
    """Make the landing page's pictures, the tables and the exhibits before anything is read."""
    pictures.make(HERE / "made" / "pictures")
    exhibits.make(HERE / "made" / "exhibits")
    app.add_css_file("site.css")
