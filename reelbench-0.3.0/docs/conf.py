"""How `make docs` builds the site."""

import shutil
from pathlib import Path

project = "Reelbench"
copyright = "Reelbench developers"  # noqa: A001 - Sphinx' name
html_title = "Reelbench"
html_theme = "furo"
extensions = ["myst_parser", "sphinx_copybutton"]
exclude_patterns = ["_site", "**.ipynb"]
html_extra_path = ["llms.txt"]
html_copy_source = html_show_sourcelink = False
myst_heading_anchors = 3
smartquotes = False  # two dashes of an option stay two
copybutton_selector = (
    "div:not(.highlight-text) > div.highlight > pre"  # what a command prints is not for copying
)
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#4f46e5",
        "color-brand-content": "#4f46e5",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', sans-serif",  # as all our pages
    },
    "dark_css_variables": {"color-brand-primary": "#a5a8ff", "color-brand-content": "#a5a8ff"},
}
suppress_warnings = ["misc.highlighting_failure"]


def _pages_as_text(app, error):
    """Lay each page beside its HTML as it was written: that is where llms.txt points."""
    if error is None:
        for name in app.env.found_docs:
            source = Path(app.env.doc2path(name))
            shutil.copyfile(source, Path(app.outdir) / f"{name}{source.suffix}")


# What axe finds in Sphinx's and the theme's own markup: headings without a level, regions without a
# name, out of reach.
_STYLE = (
    "pre { white-space: pre-wrap }"  # a command is read whole, on a phone as well
    ".highlight-text pre { white-space: pre; font-size: 0.75rem; background: none; border-left: "
    "3px solid #a5a8ff }"
)
_MENDED = {
    "</head>": f"<style>{_STYLE}</style></head>",
    'class="caption" role="heading"': 'class="caption" role="heading" aria-level="2"',
    "<pre>": '<pre tabindex="0">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer">': '<aside class="toc-drawer" aria-label="This page">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    '<div id="search-results">': '<h1>Search</h1><div id="search-results">',
}


def _mend(app, error):
    if error is None:
        for page in Path(app.outdir).rglob("*.html"):
            text = page.read_text(encoding="utf-8")
            for found, mended in _MENDED.items():
                text = text.replace(found, mended)
            page.write_text(text, encoding="utf-8")


def setup(app):
    app.connect("build-finished", _pages_as_text)
    app.connect("build-finished", _mend)
