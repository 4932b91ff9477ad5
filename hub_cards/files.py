"""A rendered card as files: README.md, eval.yaml, the plots, and the rows where they are asked for."""

from collections.abc import Mapping
from pathlib import Path

from reelbench.hub_cards import card as cards
from reelbench.hub_cards import merge
from reelbench.hub_cards.material import Material, data_path
from reelbench.registry import rows
from reelbench.registry.data.loading import SplitData, rows_to_columns
from reelbench.registry.errors import InputError
from reelbench.registry.files import open_aside, written_aside

README = "README.md"
EVAL = "eval.yaml"


def texts(material: Material, existing: str | None, where: str = README) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return a card's text files (path -> text) and notes for the user; `existing` is the README.md to merge with.

    Raises:
        InputError: The README named `where` can't be merged with.
    """
    rendered = cards.render(material)
    made = merge.merged(rendered, existing, where)
    beside = {} if rendered.eval_yaml is None else {EVAL: rendered.eval_yaml}
    return {README: made.text, **beside, **rendered.plots}, made.notes


def write(material: Material, folder: Path) -> tuple[str, ...]:
    """Render a card into a folder, which may be a clone of the dataset's repository; return notes for the user.

    A README.md that is there already is merged with: people's text and metadata stay. InputError where `folder` is a
    file, or the README there can't be merged with.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, expected a folder to write the card to")
    readme = folder / README
    files, notes = texts(material, decoded(readme.read_bytes(), str(readme)) if readme.is_file() else None, str(readme))
    for path, text in files.items():
        write_bytes(folder / path, text.encode())
    return notes


def decoded(data: bytes, where: str) -> str:
    """Return a README's text, its line ends as they are; InputError where it isn't UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{where}: not UTF-8 text (byte {error.start}); save it as UTF-8") from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes in one step (text mode would change the line ends of a README that has its own)."""
    with open_aside(path, "wb") as file:
        file.write(data)


def write_rows(data: Mapping[str, SplitData], folder: Path) -> list[str]:
    """Write splits as Parquet in the normalised schema; return their paths inside `folder`."""
    from datasets import Dataset

    written = []
    for split, split_data in data.items():
        table = Dataset.from_dict(
            rows_to_columns(split_data.spec, split_data.read()), features=rows.features(split_data.spec)
        )
        with written_aside(folder / data_path(split)) as aside:
            table.to_parquet(aside)
        written.append(data_path(split))
    return written
