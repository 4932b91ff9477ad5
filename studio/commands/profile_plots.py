"""A profile as files: its numbers, a table in the shape of MovieCORE's Table 1, and plots."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.pages.figures import radars
from reelbench.pages.plots import bars, histogram
from reelbench.registry.files import write_json, write_text
from reelbench.registry.text_tables import number
from reelbench.scoring.cognitive_profile import COMPONENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reelbench.studio.profile import Measure, Profile

_MEASURES = {
    "flesch_kincaid": ("Flesch-Kincaid grade", "grade"),
    "parse_depth": ("Depth of the parse tree", "steps"),
    "bloom": ("Level of Bloom's taxonomy", "level"),
    "words": ("Words", "words"),
}
_COLUMNS = ("parse_depth", "flesch_kincaid", "bloom", "higher_order")
_TERMS = 25
_JOINING = """
    a about after all also an and any are as at be because been before being but by can could did do does doing during
    each for from had has have having he her here hers him his how if in into is it its itself just like made make may
    me might more most my no nor not of off on one only or other our out over own same she should so some such than that
    the their them then there these they this those through to too two under until up very was we were what when where
    which while who whom why will with would you your
"""
"""Words of English that only join others; what a data set in another language has most of stands as it is."""


def write(folder: Path, profiles: "Sequence[Profile]") -> None:
    """Write all files to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = [profile.document() for profile in profiles]
    document = documents[0] if len(documents) == 1 else documents
    write_json(folder / "profile.json", document)
    write_text(folder / "profile.md", table(profiles))
    for name, svg in plots(profiles).items():
        write_text(folder / f"{name}.svg", svg)


def table(profiles: "Sequence[Profile]") -> str:
    """Return the datasets side by side as a Markdown table."""
    heads = ["Dataset", "Rows"]
    heads += [
        f"{what} {side}" for what in ("Parse depth", "F-K grade", "Bloom", "HO-QA %") for side in ("Q", "A", "avg")
    ]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for profile in profiles:
        cells = [profile.name, str(profile.rows)]
        for name in _COLUMNS:
            measure: Measure | None = getattr(profile, name)
            values = [None] * 3 if measure is None else list(measure.document().values())
            cells += map(number, values)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plots(profiles: "Sequence[Profile]") -> dict[str, str]:
    """Return file name -> SVG: a histogram per measure and side, bars per facet of labels, and of the top terms."""
    made = {}
    for name, (title, unit) in _MEASURES.items():
        for side in ("question", "answer"):
            series: dict[str, list[float]] = {}
            for profile in profiles:
                measure: Measure | None = getattr(profile, name)
                values = () if measure is None else measure.values.get(side, ())
                if known := sorted(value for value in values if value is not None):
                    series[profile.name] = known
            if any(values[0] < values[-1] for values in series.values()):
                made[f"{name}-{side}"] = histogram(f"{title}, {side}s", series, unit)
    for facet in dict.fromkeys(facet for profile in profiles for facet in profile.labels):
        titled, safe = facet.replace("_", " "), _safe(facet)
        known = {profile.name: profile.labels[facet] for profile in profiles if facet in profile.labels}
        shares = {name: {label: found.share for label, found in labels.items()} for name, labels in known.items()}
        # Of how many questions a profile knows the facet: what its shares are of.
        largest = {name: max(labels.values(), key=lambda label: label.n) for name, labels in known.items()}
        of = {name: round(100 * label.n / label.share) for name, label in largest.items()}
        made[f"labels-{safe}"] = bars(f"Questions by {titled}", shares, n=of)
        for name, labels in known.items():
            # Frequency against rate, the rarest first: CogME's weak labels stand at the top (Figure 4).
            judged = [(label, found) for label, found in labels.items() if found.accuracy is not None]
            if rare := sorted(judged, key=lambda pair: pair[1].n):
                rates = {
                    "share of questions": {label: found.share for label, found in rare},
                    "answered right": {label: found.accuracy or 0.0 for label, found in rare},
                }
                made[f"rates-{safe}"] = bars(f"{name}: {titled}, %", rates)
    joining = set(_JOINING.split())
    for profile in profiles:
        words = {word: n for word, n in profile.vocabulary.items() if len(word) > 1 and word not in joining}
        if terms := dict(sorted(words.items(), key=lambda pair: (-pair[1], pair[0]))[:_TERMS]):
            title = f"{profile.name}: the {len(terms)} most frequent words"
            made[f"terms-{_safe(profile.name)}"] = bars(title, {"": terms}, counts=True)
        if (drawn := _radars(profile)) is not None:
            made["radars"] = drawn
    return made


def _radars(profile: "Profile") -> str | None:
    """Draw what a model understood, by CogME's labels (Figure 3); None where nothing is known of it."""
    panels: dict[str, dict[str, tuple[float | None]]] = {}
    for component, names in COMPONENTS.items():
        known = profile.labels.get(component, {})
        panels[component.upper()] = {name: (known[name].accuracy if name in known else None,) for name in names}
    if all(accuracy is None for panel in panels.values() for (accuracy,) in panel.values()):
        return None
    return radars(f"{profile.name}: what was understood", [""], panels, unit="answered right, %", high=100, digits=1)


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)
