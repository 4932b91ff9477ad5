"""Damaging bytes, texts and JSON values; all chance comes from the `random.Random` that is handed in."""

import copy
import json
from random import Random
from typing import Any

HOSTILE_TEXTS = (
    "",
    " " * 5000,
    "\x00",
    "\ud800",
    "\u202etxet",
    "\ufeff",
    "é" * 3000,
    "../../x",
    "/etc/passwd",
    "<script>alert(1)</script>",
    "| a | b |\n|---|---|",
    "<!-- reelbench:end statistics -->",
    "</answer>",
    "{" * 3000,
    "9" * 5000,
    "[0, " * 400,
    "2001-02-30",
    "NaN",
    "=1+1",
    "(A) (B) (C)",
    "__proto__",
    "a" * 300,
)
HOSTILE_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -1,
    10**400,
    2**63,
    1e308,
    float("nan"),
    float("inf"),
    -0.0,
    [],
    {},
    [[]],
    [None],
    {"a": {"b": []}},
    *HOSTILE_TEXTS,
)
_DEEP = 3000
_LARGE = 1e300


def of_bytes(data: bytes, draw: Random, *, edges: int = 2000) -> bytes:  # noqa: C901, PLR0912 - a way each
    """Damage bytes: cut, overwrite, insert, drop, repeat, swap; often near the beginning or the end."""
    made = bytearray(data) or bytearray(b"\0")
    for _ in range(draw.choice((1, 1, 1, 2, 5))):
        at = draw.randrange(len(made))
        length = draw.randrange(1, max(2, len(made) // draw.choice((2, 10, 100))))
        match draw.randrange(9):
            case 0:
                del made[at:]
            case 1:
                for _ in range(draw.choice((1, 10, 100, 1000))):
                    made[draw.randrange(len(made))] = draw.randrange(256)
            case 2:
                for _ in range(draw.choice((1, 5, 20))):
                    made[draw.randrange(min(edges, len(made)))] = draw.randrange(256)
            case 3:
                for _ in range(draw.choice((1, 5, 20))):
                    made[-1 - draw.randrange(min(edges, len(made)))] = draw.randrange(256)
            case 4:
                made[at : at + length] = bytes(len(made[at : at + length]))
            case 5:
                del made[at : at + length]
            case 6:
                made[at:at] = made[at : at + length]
            case 7:
                made[at : at + 4] = draw.choice(
                    (b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\1")
                )
            case _:
                other = draw.randrange(len(made))
                made[at : at + length], made[other : other + length] = (
                    made[other : other + length],
                    made[at : at + length],
                )
        if not made:
            return b""
    return bytes(made)


def of_json(value: Any, draw: Random) -> Any:  # noqa: ANN401 - any JSON value
    """Change some places of a JSON value: a value to another kind, a key dropped, renamed or added, a list's order."""
    made = copy.deepcopy(value)
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        holder, key = _place(made, draw)
        if holder is None:
            return copy.deepcopy(draw.choice(HOSTILE_VALUES))
        match draw.randrange(8):
            case 0:
                del holder[key]
            case 1 if isinstance(holder, dict):
                holder[draw.choice((*HOSTILE_TEXTS, key + " ", key.upper()))] = holder.pop(key)
            case 2 if isinstance(holder, list):
                draw.shuffle(holder)
            case 3 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case 4:
                other, place = _place(made, draw)
                holder[key] = copy.deepcopy(other[place]) if other is not None else None
            case 5 if type(holder[key]) in (int, float) and abs(holder[key]) < _LARGE:
                holder[key] += draw.choice((1, -1, 0.5, 1e9))
            case 6 if isinstance(holder[key], str):
                holder[key] = holder[key][: draw.randrange(len(holder[key]) + 1)] + draw.choice(
                    HOSTILE_TEXTS
                )
            case _:
                holder[key] = copy.deepcopy(draw.choice(HOSTILE_VALUES))
    return made


def _place(value: Any, draw: Random) -> tuple[Any, Any]:  # noqa: ANN401 - any JSON value
    """Return a container in `value` and one of its keys, drawn; (None, None) where there is none."""
    places: tuple[Any, Any] = (None, None)
    while isinstance(value, dict | list) and value:
        key = draw.choice(list(value)) if isinstance(value, dict) else draw.randrange(len(value))
        places = (value, key)
        value = value[key]
        if draw.random() < 0.3:  # noqa: PLR2004 - not always a leaf
            break
    return places


def json_text(value: Any, draw: Random, *, lines: bool) -> bytes:  # noqa: ANN401 - any JSON value
    """Return a JSON value written down, damaged as a value, as text, or both; `lines` writes a list as JSON Lines."""
    changed = of_json(value, draw) if draw.random() < 0.8 else value  # noqa: PLR2004
    if lines and isinstance(changed, list):
        text = "".join(json.dumps(entry) + "\n" for entry in changed)
    else:
        text = json.dumps(changed)
    data = text.encode(
        draw.choice(("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16")), "surrogatepass"
    )
    match draw.randrange(8):
        case 0:
            return of_bytes(data, draw)
        case 1:
            at = draw.randrange(len(data) + 1)
            deep = draw.choice((b"[", b'{"a":', b"9", b'"', b"\\", b"\n", b" "))
            return data[:at] + deep * draw.choice((1, 20, _DEEP)) + data[at:]
        case _:
            return data


def of_text(text: str, draw: Random) -> str:
    """Damage a text: hostile pieces put in, lines dropped, repeated, swapped or cut."""
    made = text.split("\n")
    for _ in range(draw.choice((1, 1, 2, 5, 20))):
        at = draw.randrange(len(made))
        match draw.randrange(6):
            case 0:
                made[at] = made[at][: draw.randrange(len(made[at]) + 1)]
            case 1:
                made.insert(at, draw.choice(HOSTILE_TEXTS))
            case 2:
                place = draw.randrange(len(made[at]) + 1)
                made[at] = made[at][:place] + draw.choice(HOSTILE_TEXTS) + made[at][place:]
            case 3 if len(made) > 1:
                del made[at]
            case 4:
                made[at:at] = made[at : at + draw.choice((1, 10))] * draw.choice((1, 50))
            case _:
                other = draw.randrange(len(made))
                made[at], made[other] = made[other], made[at]
    return "\n".join(made)
