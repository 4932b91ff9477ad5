"""How `make docs` builds the site."""

import shutil
from pathlib import Path

project = "Reelbench"
copyright = "Reelbench developers"  # noqa: A001 - Sphinx' name
html_title = "Reelbench"
html_theme = "furo"
extensions = ["myst_parser"]
exclude_patterns = ["_site", "**.ipynb"]
html_extra_path = ["llms.txt"]
html_copy_source = html_show_sourcelink = False
myst_heading_anchors = 3
suppress_warnings = ["misc.highlighting_failure"]


def _pages_as_text(app, error):
    """Lay each page beside its HTML as it was written: that is where llms.txt points."""
    if error is None:
        for name in app.env.found_docs:
            source = Path(app.env.doc2path(name))
            shutil.copyfile(source, Path(app.outdir) / f"{name}{source.suffix}")


def setup(app):
    app.connect("build-finished", _pages_as_text)
