"""Make an empty table of predictions for a split: its questions, to be filled in and scored."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reelbench.base.errors import InputError
from reelbench.base.files import write_json, write_jsonl, write_text, written_aside
from reelbench.base.text_tables import csv_text, spreadsheet_cell
from reelbench.data.loading import locate
from reelbench.tasks.prompting import lettered_options

COLUMNS: tuple[str, ...] = ("id", "video", "question", "options", "prediction")

Row = dict[str, Any]


def rows(name: str, split: str | None = None, data: Path | None = None) -> list[Row]:
    """Return the questions of a benchmark or a task as rows of `COLUMNS`.

    `options` has a line each. `prediction` is None, as there is no answer yet. Nothing is fetched.
    DataUnavailableError where the split is not here.
    """
    return [
        {
            "id": row["id"],
            "video": row["video"],
            "question": row["question"],
            "options": lettered_options(row.get("options", ())),
            "prediction": None,
        }
        for row in locate(name, split, data, fetch=False).read()
    ]


def as_csv(table: Sequence[Row], delimiter: str = ",") -> str:
    """Return rows as CSV with a header."""
    values = [row.values() for row in _for_spreadsheets(table)]
    return csv_text([COLUMNS, *values], delimiter)


def _for_spreadsheets(table: Sequence[Row]) -> list[Row]:
    """Return rows with texts that no spreadsheet runs.

    Raises:
        InputError: An id is a formula. It must stay as it is, to be read again.
    """
    safe_rows: list[Row] = []
    for row in table:
        name = row["id"]
        is_plain = re.fullmatch(r"[\w-]*", name)  # YouTube's ids may begin with a hyphen
        if not is_plain and spreadsheet_cell(name) != name:
            raise InputError(
                f"the id {name!r} is a formula to a spreadsheet; write the table as .json or .jsonl"
            )
        cells = {column: text and spreadsheet_cell(text) for column, text in row.items()}
        cells["id"] = name
        safe_rows.append(cells)
    return safe_rows


def write(table: Sequence[Row], path: Path) -> None:
    """Write rows to a file of the kind that its suffix names.

    Raises:
        InputError: No kind of table has this suffix.
    """
    match path.suffix.lower():
        case ".csv":
            write_text(path, as_csv(table))
        case ".tsv":
            write_text(path, as_csv(table, "\t"))
        case ".json":
            write_json(path, table)
        case ".jsonl":
            write_jsonl(path, table)
        case ".xlsx" | ".parquet" as suffix:
            import pandas as pd

            rows = table
            if suffix == ".xlsx":
                rows = _for_spreadsheets(table)
            frame = pd.DataFrame(rows, columns=list(COLUMNS), dtype="string")
            with written_aside(path) as aside, aside.open("wb") as file:
                if suffix == ".xlsx":
                    frame.to_excel(file, index=False, engine="openpyxl")
                else:
                    frame.to_parquet(file, index=False)
        case suffix:
            raise InputError(
                f"{path}: {suffix or 'no suffix'} is not a kind of table; end it in .csv, .tsv, "
                ".json, .jsonl, .xlsx or .parquet"
            )
