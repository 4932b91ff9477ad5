"""A profile as files: its numbers, a table in the shape of MovieCORE's Table 1, plots, and word clouds."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reelbench.registry.files import write_text, written_aside
from reelbench.registry.plot_radar import radars
from reelbench.registry.plots import bars, histogram
from reelbench.scoring.cognitive_profile import COMPONENTS

if TYPE_CHECKING:
    from reelbench.making.profile import Measure, Profile

_MEASURES = {
    "flesch_kincaid": ("Flesch-Kincaid grade", "grade"),
    "parse_depth": ("Depth of the parse tree", "steps"),
    "bloom": ("Level of Bloom's taxonomy", "level"),
    "words": ("Words", "words"),
}
_COLUMNS = ("parse_depth", "flesch_kincaid", "bloom", "higher_order")
_CLOUD_WORDS = 120


def write(folder: Path, profiles: "Sequence[Profile]") -> Iterator[str]:
    """Write all files to `folder`; yield a line for each thing that could not be made."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = [profile.document() for profile in profiles]
    document = documents[0] if len(documents) == 1 else documents
    write_text(folder / "profile.json", json.dumps(document, ensure_ascii=False, indent=1) + "\n")
    write_text(folder / "profile.md", table(profiles))
    for name, svg in plots(profiles).items():
        write_text(folder / f"{name}.svg", svg)
    for profile in profiles:
        yield from _word_cloud(folder, profile)


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
            cells += ["–" if value is None else f"{value:.2f}" for value in values]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def plots(profiles: "Sequence[Profile]") -> dict[str, str]:
    """Return file name -> SVG: a histogram per measure and side, bars per facet of labels."""
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
        made[f"labels-{_safe(facet)}"] = bars(f"Questions by {facet.replace('_', ' ')}", _shares(profiles, facet))
        for profile in profiles:
            # Frequency against rate, the rarest first: CogME's weak labels stand at the top (Figure 4).
            known = {name: label for name, label in profile.labels.get(facet, {}).items() if label.accuracy is not None}
            rare = sorted(known.items(), key=lambda pair: pair[1].n)
            if rare:
                rates = {
                    "share of questions": {name: label.share for name, label in rare},
                    "answered right": {name: label.accuracy or 0.0 for name, label in rare},
                }
                made[f"rates-{_safe(facet)}"] = bars(f"{profile.name}: {facet.replace('_', ' ')}, %", rates)
    for profile in profiles:
        if any(label.accuracy is not None for facet in COMPONENTS for label in profile.labels.get(facet, {}).values()):
            made["radars"] = _radars(profile)
    return made


def _radars(profile: "Profile") -> str:
    """Draw what a model understood, by CogME's labels (Figure 3)."""
    panels: dict[str, dict[str, tuple[float | None]]] = {}
    for component, names in COMPONENTS.items():
        known = profile.labels.get(component, {})
        panels[component.upper()] = {name: (known[name].accuracy if name in known else None,) for name in names}
    return radars(f"{profile.name}: what was understood", [""], panels, unit="answered right, %", high=100, digits=1)


def _shares(profiles: "Sequence[Profile]", facet: str) -> Mapping[str, Mapping[str, float]]:
    return {
        profile.name: {name: label.share for name, label in profile.labels[facet].items()}
        for profile in profiles
        if facet in profile.labels
    }


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]+", "_", name)


def _word_cloud(folder: Path, profile: "Profile") -> Iterator[str]:
    try:
        from wordcloud import STOPWORDS, WordCloud
    except ImportError:
        yield "the word cloud is left out: to have it: pip install 'reelbench[profile]'"
        return
    # Its font has Latin letters only; a cloud of empty boxes tells nothing.
    words = {
        word: n for word, n in profile.vocabulary.items() if word not in STOPWORDS and word.isascii() and len(word) > 1
    }
    if not words:
        yield f"{profile.name}: no word cloud: it has no words in Latin letters"
        return
    # Seeded: the same rows give the same picture.
    cloud = WordCloud(width=1200, height=700, background_color="white", max_words=_CLOUD_WORDS, random_state=0)
    with written_aside(folder / f"wordcloud-{_safe(profile.name)}.png") as aside:
        cloud.generate_from_frequencies(words).to_image().save(aside, format="PNG")
