"""`import reelbench`, called with whatever somebody has at hand: it gives an answer, or one line of our own."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from tools.fuzzing import commands, damage, seeds
from tools.fuzzing.holding import Finding, hold


def _circular(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value[0]["prediction"] = value
    return value


TEXTS: dict[str, dict[str, str | None]] = {
    "score": {
        "name": "rextime",
        "references": None,
        "tags": None,
        "judge": None,
        "model": "org/a",
        "about": None,
    }
    | {"split": "mini", "data": None, "id_column": None, "text_column": None},
    "evaluate": {
        "name": "rextime_mini",
        "split": None,
        "frames": "none",
        "judge": None,
        "model": None,
        "data": None,
    },
    "load": {"name": "rextime", "split": "mini"},
    "results": {"store": "results"},
    "compare": {"a": "a", "b": "b"},
    "open_result": {"folder": "a"},
    "read_option": {"text": "B"},
    "read_span": {"text": "from 3 to 5 s"},
}
"""Function -> its arguments that are texts, with honest ones."""
FORMS: dict[str, Callable[[Any], Any]] = {
    "as it is": lambda value: value,
    "frame": lambda value: _pandas().DataFrame(value),
    "series": lambda value: _pandas().Series(value),
    "tuple": tuple,
    "iterator": iter,
    "circular": _circular,
}
_HOSTILE = tuple(text for text in damage.HOSTILE_TEXTS if not text.startswith("/"))


def write(draw: Random, folder: Path) -> None:
    """Write down a call: a function, its arguments, and what its predictions are handed over as."""
    name = draw.choice(("score", "score", "score", "evaluate", *TEXTS))
    arguments: dict[str, Any] = dict(TEXTS[name])
    for key in draw.sample(sorted(arguments), draw.choice((0, 1, 1)) if name == "score" else 1):
        arguments[key] = draw.choice((*_HOSTILE, arguments[key]))
    if name == "score":
        rows = [
            {"id": row["id"], "prediction": draw.choice(seeds.ANSWERS)}
            for row in seeds.rows("rextime")
        ]
        arguments["predictions"] = damage.of_json(rows, draw)
        if draw.random() < 0.2:  # noqa: PLR2004
            arguments["about"] = damage.of_json(
                {"frames": "uniform:8", "label": "x", "parameters": 7}, draw
            )
    if name == "evaluate":
        arguments["limit"] = draw.choice((None, 1, 0, -1, 10**30, 3))
        arguments["returned"] = [draw.choice((*damage.HOSTILE_VALUES, "B")) for _ in range(12)]
    if name == "read_option":
        arguments["options"] = draw.sample((*_HOSTILE, "a", "b", "c"), 3)
    call = {"function": name, "arguments": arguments, "form": draw.choice(list(FORMS))}
    (folder / "input.json").write_text(json.dumps(call), encoding="utf-8")


def check(folder: Path) -> None:
    """Make the call: what it returns is whole, or it ends in one line of ours."""
    import reelbench

    call = json.loads((folder / "input.json").read_text(encoding="utf-8"))
    name, arguments = call["function"], call["arguments"]
    if name == "score":
        try:
            arguments["predictions"] = FORMS[call["form"]](arguments["predictions"])
        except (
            TypeError,
            ValueError,
            OverflowError,
            AttributeError,
        ):  # pandas and Python take no such value
            return
    if name == "evaluate":
        returned = iter(arguments.pop("returned"))
        arguments["fn"] = lambda *_: next(returned, "B")
    with commands.inside(commands.honest("results")):
        try:
            made = hold(lambda: getattr(reelbench, name)(**arguments))
        except OSError:  # a name that is too long for the system, say
            return
        except TypeError as error:
            if not str(error).startswith(
                "the function returned a"
            ):  # which is what its first answer may come to
                raise
            return
        if made is not None and name in ("score", "evaluate", "open_result"):
            shown = repr(made)
            if "Traceback" in shown or len(made.to_frame()) != made.counts.items:
                raise Finding(f"not whole: {shown[:300]}")
            hold(lambda: made.save(folder / "saved"))


def _pandas() -> Any:  # noqa: ANN401 - the module
    import pandas as pd

    return pd
