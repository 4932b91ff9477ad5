"""What `reelbench review` shows on a terminal."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli import console
from reelbench.registry.text_tables import Table, interval, number

if TYPE_CHECKING:
    from reelbench.studio.review.review_kind import ReviewSummary


def show_summary(summary: "ReviewSummary") -> None:
    """Print who has done how much, the kind's tables, and its notes."""
    for name, progress in summary.document()["progress"].items():
        total = "" if progress["total"] is None else f" of {progress['total']}"
        console.note(f"{name}: {progress['marked']}{total} done in {progress['seconds'] / 60:.0f} min")
    show_tables(summary.tables())
    for line in summary.notes():
        console.note(line)


def show_tables(tables: Iterable[Table]) -> None:
    """Print tables."""
    for table in tables:
        shown = console.table(table.title, *table.columns)
        for row in table.rows:
            shown.add_row(*row)
        console.show(shown)


def show_profile_difference(difference: dict[str, Any]) -> None:
    """Print what two tag files make of one result's profile."""
    title = f"the profile of one result under both, {difference['answers']} answers: per cent right"
    table = console.table(title, "label", "#n a", "#n b", "#a", "#b", "#a - b", "#95 % interval", "weak")
    for name, label in difference["labels"].items():
        weak = " and ".join(who for who in ("a", "b") if label[f"weak_{who}"])
        table.add_row(
            name,
            str(label["n_a"]),
            str(label["n_b"]),
            number(label["a"]["value"], 1),
            number(label["b"]["value"], 1),
            number(label["difference"]["value"], 1),
            interval(label["difference"]["ci95"], 1),
            weak and f"by {weak}",
        )
    console.show(table)
    console.write(
        f"mean absolute difference {number(difference['mean_absolute'], 1)} points, largest on "
        f"{difference['largest'] or '–'}; the labels' order: Spearman's rho {number(difference['spearman'])}"
    )


def show_annotator_tests(tests: dict[str, Any]) -> None:
    """Print whether a machine's tags may stand in for people's."""
    table = console.table(
        f"alternative-annotator test, epsilon {tests['epsilon']:g}",
        "component",
        "#winning rate",
        "#advantage",
        "passes",
        "people (advantage, items)",
    )
    for component, test in tests.items():
        if component == "epsilon":
            continue
        people = ", ".join(
            f"{Path(name).stem} ({number(person['advantage_model'])}, {person['n']})"
            for name, person in test["people"].items()
        )
        known = test["winning_rate"] is not None
        table.add_row(
            component,
            number(test["winning_rate"]),
            number(test["advantage"]),
            ("yes" if test["passes"] else "no") if known else "too few items",
            people,
        )
    console.show(table)
