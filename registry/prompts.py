"""The prompt files of a benchmark: `str.format` templates over a row's columns, in its package."""

import json
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files

from reelbench.registry.spec import BenchmarkSpec


def prompt_template(spec: BenchmarkSpec, file: str | None = None, language: str = "en") -> str:
    """Return a prompt of the benchmark: a `str.format` template over the row's columns.

    Args:
        spec: The benchmark.
        file: The prompt file; by default the benchmark's own.
        language: BCP-47 tag of the question. A .json file has a template per language; where it lacks one, that of
            the tag's first part is taken, and else the English one.
    """
    text = _text(spec.package, file or spec.prompt)
    if not (file or spec.prompt).endswith(".json"):
        return text
    templates = json.loads(text)
    return templates.get(language) or templates.get(language.partition("-")[0]) or templates["en"]


def prompt_sha256(spec: BenchmarkSpec, file: str | None = None) -> str:
    """Return the hash of a prompt file, as results record it."""
    return sha256(_text(spec.package, file or spec.prompt).encode()).hexdigest()


@lru_cache(maxsize=32)
def _text(package: str, file: str) -> str:
    return files(package).joinpath(file).read_text(encoding="utf-8").rstrip("\n")
