"""`--log`: a result's numbers where people keep the numbers of their experiments."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelbench.base.errors import InputError, ReelbenchError, first_line

if TYPE_CHECKING:
    from reelbench.registry.records import Result

Send = Callable[["Result"], None]


def sender(where: str | None) -> Send:
    """Return the function that sends results there; for None it sends them nowhere.

    Raises:
        InputError: The place is unknown, or its package is not installed.
    """
    if where is None:
        return lambda _: None
    if where != "wandb":
        raise InputError(f"--log: {where!r} is not known; there is wandb")
    from importlib.util import find_spec

    if find_spec("wandb") is None:
        raise InputError("--log wandb: wandb is not installed; pip install wandb")
    check_arguments(["--wandb_args"])
    return to_wandb


def check_arguments(arguments: list[str]) -> list[str]:
    """Return lmms-eval's arguments, where the working folder has no settings for wandb.

    That folder may be a stranger's, and what goes there begins with the user's key.

    Raises:
        InputError: They send to wandb, and a file of the working folder says to whom.
    """
    if not any(word.startswith("--wandb_args") for word in arguments):
        return arguments
    for folder in ("wandb", ".wandb"):
        path = Path(folder, "settings")
        if path.exists():
            raise InputError(
                f"{path}: wandb takes from this folder's file who gets your key and your numbers; "
                "what you want of it belongs in ~/.config/wandb/settings or WANDB_BASE_URL, "
                "WANDB_ENTITY and WANDB_PROJECT; remove it"
            )
    return arguments


def to_wandb(result: "Result") -> None:
    """Log a result to Weights & Biases.

    It goes to the process's own run where it has one, as lmms-eval does. Metrics are
    `<benchmark>/<metric>` with `.low`, `.high` and `.n` beside them. Breakdowns are one table. What
    was asked and answered stays here.

    Raises:
        ReelbenchError: wandb could not be reached, or refused.
    """
    import wandb

    benchmark = result.benchmark.id
    config = result.model_dump(
        mode="json", include={"benchmark", "model", "settings", "judge", "software"}
    )
    run_name = f"{result.model.id} {benchmark} {result.benchmark.split}"
    begins_run = wandb.run is None
    try:
        run = wandb.run or wandb.init(
            project=os.environ.get("WANDB_PROJECT", "reelbench"),
            name=os.environ.get("WANDB_NAME", run_name),
            settings=wandb.Settings(console="off"),
        )
        run.config.update({benchmark: config}, allow_val_change=True)
        columns = ["facet", "label", "metric", "value", "low", "high", "n"]
        table = wandb.Table(columns, _breakdown_rows(result))
        run.log({**_numbers_by_key(result), f"{benchmark}/breakdowns": table})
        if begins_run:
            run.finish()
    except (wandb.Error, OSError) as error:
        raise ReelbenchError(
            f"--log wandb: {first_line(error)}; the result itself is written"
        ) from None


def _numbers_by_key(result: "Result") -> dict[str, float]:
    """Return the metrics with their intervals, and the counts, by wandb's keys."""
    benchmark = result.benchmark.id
    numbers: dict[str, float] = {}
    for name, metric in result.metrics.items():
        key = f"{benchmark}/{name}"
        if metric.value is not None:
            numbers[key] = metric.value
            numbers[f"{key}.n"] = metric.n
        if metric.ci95 is not None:
            numbers[f"{key}.low"] = metric.ci95[0]
            numbers[f"{key}.high"] = metric.ci95[1]
    numbers[f"{benchmark}/items"] = result.counts.items
    numbers[f"{benchmark}/scored"] = result.counts.scored
    for reason, count in result.counts.unscored.items():
        numbers[f"{benchmark}/unscored.{reason}"] = count
    return numbers


def _breakdown_rows(result: "Result") -> list[list[Any]]:
    rows: list[list[Any]] = []
    for facet, labels in result.breakdowns.items():
        for label, metrics in labels.items():
            for name, metric in metrics.items():
                low, high = metric.ci95 or (None, None)
                rows.append([facet, label, name, metric.value, low, high, metric.n])
    return rows
