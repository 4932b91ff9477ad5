"""Each pattern that reads what others wrote takes time in step with its text."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools import linear_patterns

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"\s*[,;]\s*", "split"),  # searched from each blank anew
        (r"^[ \t]*#{0,4}[ \t]*(A)", "search"),  # two runs of the same sign
        (r"\d+(?::\d+)+", "findall"),
    ],
)
def test_a_pattern_that_is_not_linear_is_named(pattern, method, monkeypatch):
    monkeypatch.setattr(linear_patterns, "SECONDS", 0.2)  # it would take more than 5
    written = linear_patterns.Written("here:it", re.compile(pattern), (method,))
    assert len(list(linear_patterns.slow_ones([written]))) == 1


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"(?:(?<!\s)\s++)?[,;]\s*", "split"),
        (r"(?<!\d)\d++(?::\d++)+", "findall"),
        (r"[a-z]+\d*", "fullmatch"),
    ],
)
def test_a_linear_one_is_not(pattern, method):
    written = linear_patterns.Written("here:it", re.compile(pattern), (method,))
    assert list(linear_patterns.slow_ones([written])) == []


@pytest.mark.slow
def test_all_patterns_of_the_product_are_linear():
    done = subprocess.run(
        [sys.executable, "-m", "tools.linear_patterns"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    patterns = int(done.stderr.split(" patterns")[0])
    assert patterns > 350
