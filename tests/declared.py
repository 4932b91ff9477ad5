"""A benchmark that a test declares by a file."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def declared(folder: Path, text: str, rows: Iterable[Any], file: str = "rows.jsonl") -> Path:
    """Write a benchmark's folder: the text of its `benchmark.yaml`, and the file of its rows."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "benchmark.yaml").write_text(text, encoding="utf-8")
    content = json.dumps(list(rows))
    if file.endswith(".jsonl"):
        content = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / file).write_text(content, encoding="utf-8")
    return folder
