"""How `make docs` builds the site."""

import shutil
from pathlib import Path

from sphinx.search.en import SearchEnglish

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


class _WordsAndNumbers(SearchEnglish):
    """Finds numbers too, such as a server's 429. Sphinx leaves them out."""

    def word_filter(self, word):
        return word not in self.stopwords


_SKIPPED_NUMBERS = r" || queryTerm.match(/^\d+$/)"


def _search_numbers(app, error):
    """Let the page's script search the numbers that are in the index."""
    if error is None:
        script = Path(app.outdir) / "_static" / "searchtools.js"
        text = script.read_text(encoding="utf-8")
        if _SKIPPED_NUMBERS not in text:
            raise ValueError(f"{script}: does not skip numbers as it did; look at conf.py")
        script.write_text(text.replace(_SKIPPED_NUMBERS, ""), encoding="utf-8")


def setup(app):
    app.add_search_language(_WordsAndNumbers)
    app.connect("build-finished", _search_numbers)
    app.connect("build-finished", _pages_as_text)
    app.connect("build-finished", _mend)
