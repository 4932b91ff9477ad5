"""The texts of a board's page that follow from the board: how to submit, what to cite."""

from reelbench.base.errors import installing
from reelbench.leaderboard.board import Board
from reelbench.pages.shell_page import page_asset


def how_to_submit(board: Board, dataset: str | None) -> str:
    """Return the steps of handing a result in, as Markdown.

    Args:
        board: The board.
        dataset: The results dataset to which it is handed in, `ORG/NAME`. None where it has none.
    """
    about_dataset = "ORG/RESULTS is the results dataset of the leaderboard that you submit to."
    if dataset is not None:
        about_dataset = f"{dataset} is the results dataset of this leaderboard."
    text = page_asset("submit.md", "leaderboard").rstrip("\n")
    return text.format(
        install=installing("lmms-eval"),
        judges=_judges(board),
        dataset=dataset or "ORG/RESULTS",
        about_dataset=about_dataset,
    )


def bibtex(newest: str | None) -> str:
    """Return the citation of the board itself.

    `newest` is the date of its newest result.
    """
    fields = [
        "title = {{Reelbench: one hub for evaluating video-language models on story and culture}}",
        "author = {{Reelbench developers}}",
    ]
    if newest is not None:
        fields.append(f"note = {{Leaderboard with runs up to {newest[:10]}}}")
        fields.append(f"year = {{{newest[:4]}}}")
    lines = ",\n  ".join(["@software{reelbench", *fields])
    return f"{lines}\n}}"


def _judges(board: Board) -> str:
    """Return the sentence on the authors' judges. Empty where no benchmark has one."""
    judges: list[str] = []
    for spec in board.specs.values():
        if spec.judge is not None:
            judges.append(f"{spec.title}: {spec.judge.default_model}")
    if not judges:
        return ""
    return f"The authors’ judges: {'; '.join(judges)}."
