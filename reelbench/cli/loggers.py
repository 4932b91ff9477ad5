"""`--log`: a result's numbers where people keep the numbers of their experiments."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.base.errors import InputError, ReelbenchError, first_line

if TYPE_CHECKING:
    from reelbench.registry.records import Result

Send = Callable[["Result"], None]


def sender(where: str | None) -> Send:
    """Return the sender of results there, or nowhere for None.

    InputError where it is unknown or not installed.
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
    """Return lmms-eval's arguments; InputError where they send to wandb, and to whom is said by the working folder.

    That may be a stranger's, and what goes there begins with the user's key.
    """
    for path in (Path(name, "settings") for name in ("wandb", ".wandb")):
        if path.exists() and any(word.startswith("--wandb_args") for word in arguments):
            raise InputError(
                f"{path}: wandb takes from this folder's file who gets your key and your "
                "numbers; what you want of it "
                "belongs in ~/.config/wandb/settings or WANDB_BASE_URL, WANDB_ENTITY and "
                "WANDB_PROJECT; remove it"
            )
    return arguments


def to_wandb(result: "Result") -> None:
    """Log a result to Weights & Biases, to the process's own run where it has one, as lmms-eval does.

    Metrics are `<benchmark>/<metric>` with `.low`, `.high` and `.n` beside them; breakdowns are one
    table. What was asked and answered stays here. ReelbenchError where wandb could not be reached,
    or refused.
    """
    import wandb

    benchmark = result.benchmark.id
    config = result.model_dump(
        mode="json", include={"benchmark", "model", "settings", "judge", "software"}
    )
    own = wandb.run is None
    try:
        run = wandb.run or wandb.init(
            project=os.environ.get("WANDB_PROJECT", "reelbench"),
            name=os.environ.get(
                "WANDB_NAME", f"{result.model.id} {benchmark} {result.benchmark.split}"
            ),
            settings=wandb.Settings(console="off"),
        )
        run.config.update({benchmark: config}, allow_val_change=True)
        rows = [
            [facet, label, name, metric.value, *(metric.ci95 or (None, None)), metric.n]
            for facet, labels in result.breakdowns.items()
            for label, metrics in labels.items()
            for name, metric in metrics.items()
        ]
        columns = ["facet", "label", "metric", "value", "low", "high", "n"]
        numbers: dict[str, float] = {}
        for name, metric in result.metrics.items():
            if metric.value is not None:
                numbers |= {f"{benchmark}/{name}": metric.value, f"{benchmark}/{name}.n": metric.n}
            if metric.ci95 is not None:
                numbers |= {
                    f"{benchmark}/{name}.low": metric.ci95[0],
                    f"{benchmark}/{name}.high": metric.ci95[1],
                }
        counts = result.counts
        run.log(
            {
                **numbers,
                f"{benchmark}/items": counts.items,
                f"{benchmark}/scored": counts.scored,
                **{
                    f"{benchmark}/unscored.{reason}": number
                    for reason, number in counts.unscored.items()
                },
                f"{benchmark}/breakdowns": wandb.Table(columns, rows),
            }
        )
        if own:
            run.finish()
    except (wandb.Error, OSError) as error:
        raise ReelbenchError(
            f"--log wandb: {first_line(error)}; the result itself is written"
        ) from None
