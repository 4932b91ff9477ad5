"""What a discussion adds over a single pass, for the page of a chain: `comparison.json` as a table and a sentence."""

from collections.abc import Mapping
from typing import Any

from reelbench.registry.errors import number_of
from reelbench.studio.chain_text import named

_MEASURES = {
    "flesch_kincaid": "Reading grade (Flesch-Kincaid) of {}",
    "words": "Words of {}",
    "specificity": "Names and numbers in {}",
    "parse_depth": "Depth of the parse tree of {}",
    "bloom": "Bloom’s level (1 to 6) of {}",
    "higher_order": "Higher-order {}s, %",
}
_SIDES = {"question": "a question", "answer": "an answer"}


def section(compared: Mapping[str, Any]) -> str:
    """Return the part of the page, as HTML, on what `comparison.json` says of all videos."""
    rows = "".join(_row(_named(name), measure) for name, measure in compared["measures"].items())
    heads = ("Mean", "Single pass", "Discussion", "Difference", "95 % interval")
    head = "".join(f"<th scope='col'{' colspan=2' if text == heads[-1] else ''}>{text}</th>" for text in heads)
    return (
        "<section id='compared' aria-labelledby='h-compared'>"
        "<h2 id='h-compared'>What the discussion adds, over all videos</h2>"
        f"{_preferred(compared['win_rate'])}"
        "<section class='card scroll' tabindex='0' aria-label='Both sets compared'><table>"
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></section></section>"
    )


def _preferred(win: Mapping[str, Any] | None) -> str:
    if win is None:
        return ""
    ends = f" (95 % interval {100 * win['ci95'][0]:.0f} to {_percent(win['ci95'][1])})" if win["ci95"] else ""
    return (
        f"<p>The judge prefers the discussion’s questions on {_percent(win['value'])} of "
        f"{number_of(win['videos'], 'video')}{ends}, a tie counting half; the same in both orders on "
        f"{_percent(win['same_in_both_orders'])}.</p>"
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


def _named(name: str) -> str:
    measure, _, side = name.rpartition("_")
    if measure not in _MEASURES or side not in _SIDES:
        return named(name)
    return _MEASURES[measure].format(side if measure == "higher_order" else _SIDES[side])


def _row(name: str, measure: Mapping[str, Any]) -> str:
    means = "".join(f"<td class='n'>{_number(measure[side])}</td>" for side in ("single_pass", "discussion"))
    by, ends = measure["difference"], measure["ci95"]
    if by is None:
        return f"<tr><th scope='row'>{name}</th>{means}<td>–</td><td colspan='2'>–</td></tr>"
    drawn = f"<td class='axis-cell'>{_track(by, ends)}</td><td class='n'>" if ends else "<td colspan='2'>"
    words = f"{_signed(ends[0])} to {_signed(ends[1])}" if ends else "no interval"
    return f"<tr><th scope='row'>{name}</th>{means}<td class='n'>{_signed(by)}</td>{drawn}{words}</td></tr>"


def _track(by: float, ends: tuple[float, float]) -> str:
    """Return a difference with its interval on an axis of its own, as long to both sides of zero."""
    reach = max(abs(by), *map(abs, ends)) or 1.0
    place, low, high = (100 * (value + reach) / (2 * reach) for value in (by, *ends))
    return (
        "<span class='lane' aria-hidden='true'><i class='rule zero' style='left:50%'></i>"
        f"<i class='ends' style='left:{low:.2f}%;right:{100 - high:.2f}%'></i>"
        f"<i class='dot' style='left:{place:.2f}%' data-value='{by:g}' data-ci-low='{ends[0]:g}' "
        f"data-ci-high='{ends[1]:g}'></i></span>"
    )


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−") if round(value, 1) else "0.0"
