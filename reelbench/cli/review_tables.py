"""What `reelbench review summarize` shows on a terminal."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.cli import console

if TYPE_CHECKING:
    from reelbench.making.review.merging import Summary
    from reelbench.making.review.ratings import Summary as Ratings

_SHOWN = 10


def show(summary: "Summary") -> None:
    """Print a table, and who has done how much."""
    document = summary.document()
    for name, progress in document["progress"].items():
        total = "" if progress["total"] is None else f" of {progress['total']}"
        console.note(f"{name}: {progress['marked']}{total} done in {progress['seconds'] / 60:.0f} min")
    kind = document["kind"]
    if kind == "ratings":
        _ratings(summary)  # type: ignore[arg-type]
    elif kind in ("spans", "question-spans"):
        _spans(document)
    elif kind == "tags":
        _tags(document)
    elif kind == "answers":
        _answers(document)
    else:
        _scores(document)


def number(value: float | None, digits: int = 2) -> str:
    """Return a number as text, a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def interval(ends: Any, digits: int = 2) -> str:  # noqa: ANN401 - two numbers or None
    """Return an interval as text, "" where there is none."""
    return "" if ends is None else f"{ends[0]:.{digits}f} to {ends[1]:.{digits}f}"


def _spans(document: dict[str, Any]) -> None:
    title = f"{document['benchmark']} {document['split']}, {len(document['reviewers'])} reviewers"
    table = console.table(title, "quantity", "#value", "#95 % interval", "#n")
    items = document["items"].values()
    table.add_row("mean pairwise IoU", number(document["mean_pairwise_iou"], 3), "", str(len(items)))
    table.add_row("rejected, share", number(document["rejected_share"], 3), "", str(sum(i["rejected"] for i in items)))
    for name, said in (("certificate_length", "certificate length, s"), ("qa_miou", "QA-mIoU")):
        if name in document:
            found = document[name]
            table.add_row(said, number(found["value"], 3), interval(found["ci95"], 3), str(found["n"]))
    console.show(table)


def _tags(document: dict[str, Any]) -> None:
    for pair in document["agreement"]:
        show_agreement(f"{pair['a']} and {pair['b']}, before consensus", pair)
    console.write(f"{document['consensus']} of {document['items']} items are settled")
    if document["disagreements"]:
        console.note(
            f"{len(document['disagreements'])} are open; settle them on a page: reelbench review page "
            f"{document['benchmark']} --ask tags --consensus FILE --consensus FILE"
        )


def show_agreement(title: str, found: dict[str, Any]) -> None:
    """Print how far two taggers agree, as `review agree --json` gives it."""
    table = console.table(title, "label", "#n a", "#n b", "#exact", "#kappa", "#95 % interval", "#F1", "#AC1")
    for name, label in found["labels"].items():
        if not label["n_a"] and not label["n_b"]:
            continue
        kappa = label["kappa"]
        table.add_row(
            name,
            str(label["n_a"]),
            str(label["n_b"]),
            number(label["exact"]["value"]),
            number(kappa["value"]),
            interval(kappa["ci95"]),
            number(label["f1"]["value"]),
            number(label["ac1"]["value"]),
        )
    console.show(table)
    table = console.table("whole answers", "quantity", "#value", "#95 % interval")
    for name, measures in (*found["sets"].items(), ("thinking", found["thinking"])):
        for measure, one in measures.items():
            table.add_row(f"{name}: {measure}", number(one["value"], 3), interval(one["ci95"], 3))
    console.show(table)


def show_profile_difference(found: dict[str, Any]) -> None:
    """Print what two tag files make of one result's profile."""
    title = f"the profile of one result under both, {found['answers']} answers: per cent right"
    table = console.table(title, "label", "#n a", "#n b", "#a", "#b", "#a - b", "#95 % interval", "weak")
    for name, label in found["labels"].items():
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
        f"mean absolute difference {number(found['mean_absolute'], 1)} points, largest on {found['largest'] or '–'}; "
        f"the labels' order: Spearman's rho {number(found['spearman'])}"
    )


def show_annotator_tests(found: dict[str, Any]) -> None:
    """Print whether a machine's tags may stand in for people's."""
    table = console.table(
        f"alternative-annotator test, epsilon {found['epsilon']:g}",
        "component",
        "#winning rate",
        "#advantage",
        "passes",
        "people (advantage, items)",
    )
    for component, test in found.items():
        if component == "epsilon":
            continue
        people = ", ".join(
            f"{Path(name).stem} ({number(one['advantage_model'])}, {one['n']})" for name, one in test["people"].items()
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


def _answers(document: dict[str, Any]) -> None:
    title = f"{document['benchmark']} {document['split']}, setting human, {len(document['people'])} people"
    table = console.table(title, "metric", "#value", "#95 % interval", "#answers")
    for name, found in document["metrics"].items():
        table.add_row(name, number(found["value"]), interval(found["ci95"]), str(found["n"]))
    console.show(table)


def _scores(document: dict[str, Any]) -> None:
    title = (
        f"{document['benchmark']} {document['split']}, {len(document['reviewers'])} people, {document['items']} answers"
    )
    table = console.table(title, "criterion", "#mean", "#n", "#Krippendorff's alpha")
    for name, found in document["criteria"].items():
        table.add_row(name, number(found["mean"]), str(found["n"]), number(found["alpha"]))
    console.show(table)


def _ratings(summary: "Ratings") -> None:
    reviews = summary.reviews
    title = f"{reviews.benchmark} {reviews.split}, {len(reviews.reviewers)} reviewers: mean (Krippendorff's alpha)"
    table = console.table(title, "dimension", "#captions", "#questions", "#answers")
    for dimension, cells in summary.table.items():
        shown = []
        for part in ("caption", "question", "answer"):
            cell = cells.get(part)
            alpha = "" if cell is None or cell.alpha is None else f" ({cell.alpha:.2f})"
            shown.append("–" if cell is None else f"{cell.mean:.1f}{alpha}")
        table.add_row(dimension, *shown)
    console.show(table)
    for part, identifier, dimension, mean in summary.low[:_SHOWN]:
        console.note(f"rated low: {part} {identifier}, {dimension} {mean:.1f}")
    if len(summary.low) > _SHOWN:
        console.note(f"and {len(summary.low) - _SHOWN} more rated low; --json lists all")
