"""`reelbench power`: what a number of videos can tell of two models."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from reelbench.base.errors import InputError
from reelbench.cli.compare import same_benchmark
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json
from reelbench.terminal.read_results import read_one

if TYPE_CHECKING:
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.scoring.pilots import Assumed
    from reelbench.stats.power import Pilot


def power(
    of: Annotated[
        str,
        typer.Argument(
            metavar="NAME|RESULT", help="A result's folder; or a benchmark, with --icc."
        ),
    ],
    *,
    effect: Annotated[
        float | None,
        typer.Option("--effect", metavar="POINTS", help="True difference, in the metric's unit."),
    ] = None,
    videos: Annotated[
        int | None,
        typer.Option(
            "--videos", min=2, help="Number of videos; default: as many as the result has."
        ),
    ] = None,
    paired: Annotated[
        Path | None,
        typer.Option(
            "--paired", metavar="RESULT", help="Another model's result on the same questions."
        ),
    ] = None,
    icc: Annotated[
        float | None,
        typer.Option(
            "--icc",
            min=0,
            max=1,
            help="Correlation of questions within a video.",
            rich_help_panel="Without a result",
        ),
    ] = None,
    score: Annotated[
        float | None,
        typer.Option(
            "--score",
            help="The model's score; default: the median of published ones.",
            rich_help_panel="Without a result",
        ),
    ] = None,
    questions: Annotated[
        float | None,
        typer.Option(
            "--questions",
            min=1,
            help="Questions per video; default: the data's.",
            rich_help_panel="Without a result",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the smallest detectable difference for N videos.

    With --effect: how many videos a difference needs.

    By t tests over videos, at a power of 80 %.

    A result says how far its own videos differ. Two models on the same questions (--paired) need
    far fewer.
    """
    from reelbench.stats import power as powers

    path = Path(of)
    assumed = None
    if path.exists():
        if not (icc is score is questions is None):
            raise InputError(
                "--icc, --score and --questions are for a benchmark's name; a result has its own"
            )
        spec, pilot = _pilot_of_results(path, paired)
    else:
        spec, assumed, pilot = _assumed_pilot(
            of, paired, videos, icc=icc, score=score, questions=questions
        )
    if effect is not None and not effect:
        raise InputError("--effect: no number of videos shows a difference of 0")
    number = videos or pilot.videos
    assumptions = None
    if assumed is not None:
        assumptions = {
            "score": assumed.score,
            "icc": assumed.icc,
            "questions": assumed.questions,
        }
    document: dict[str, Any] = {
        "benchmark": spec.id,
        "version": spec.version,
        "metric": spec.primary.name,
        "unit": spec.primary.unit,
        "paired": pilot.paired,
        "assumed": assumptions,
        "pilot": {"value": pilot.value, "error": pilot.error, "videos": pilot.videos},
        "videos": number,
        "promised": powers.not_promised(pilot, number) is None,
        "smallest_difference": powers.smallest_difference(pilot, number),
    }
    if effect is not None:
        document |= {
            "effect": effect,
            "power": powers.power(pilot, effect, number),
            "videos_needed": powers.videos_needed(pilot, effect),
        }
    if as_json:
        console.write_json(document)
    else:
        _print_power(spec, pilot, assumed, document)


def _pilot_of_results(path: Path, paired: Path | None) -> "tuple[BenchmarkSpec, Pilot]":
    """Return the benchmark and the spread of a result, or of a pair."""
    from reelbench.registry import discovery
    from reelbench.scoring import pilots

    first = read_one(path)
    if paired is None:
        spec = discovery.spec_of(first.result.benchmark)
        return spec, pilots.of_result(spec, first.samples)
    second = read_one(paired)
    spec = same_benchmark(first.result, second.result, path, paired)
    return spec, pilots.of_two(spec, first.samples, second.samples)


class _AssumedPilot(NamedTuple):
    """A spread that is assumed of a benchmark, with its assumptions."""

    spec: "BenchmarkSpec"
    assumed: "Assumed"
    pilot: "Pilot"


def _assumed_pilot(
    name: str,
    paired: Path | None,
    videos: int | None,
    *,
    icc: float | None,
    score: float | None,
    questions: float | None,
) -> _AssumedPilot:
    from reelbench.data.loading import find_split
    from reelbench.scoring import pilots

    spec, _, _ = find_split(name)
    if paired is not None:
        raise InputError(
            "--paired: belongs to a result; name a result's folder in place of the benchmark"
        )
    if icc is None:
        raise InputError(
            f"{name}: how far its videos differ is unknown: give a result's folder, or assume it, "
            "as in --icc 0.1"
        )
    split = spec.splits[spec.default_split]
    if questions is None and split.rows and split.videos:
        questions = split.rows / split.videos
    videos = videos or split.videos
    if score is None:
        score = _published_score(spec)
    for option, value in (("--videos", videos), ("--questions", questions), ("--score", score)):
        if value is None:
            raise InputError(
                f"{name}: {option} is missing, which split {spec.default_split} doesn't state"
            )
    assert videos is not None and questions is not None and score is not None  # noqa: S101, PT018 - said above
    assumed = pilots.Assumed(score, icc, videos, questions)
    return _AssumedPilot(spec, assumed, pilots.assumed_pilot(spec.primary, assumed))


def _published_score(spec: "BenchmarkSpec") -> float | None:
    """Return the median of models' published scores. None where there are none."""
    from statistics import median

    scores: list[float] = []
    for row in spec.published:
        is_of_model = row.split == spec.default_split and row.setting != "human"
        if is_of_model and spec.primary.name in row.metrics:
            scores.append(row.metrics[spec.primary.name])
    if not scores:
        return None
    return median(scores)


def _print_power(
    spec: "BenchmarkSpec", pilot: "Pilot", assumed: "Assumed | None", document: dict[str, Any]
) -> None:
    from reelbench.stats.power import not_promised

    unit = spec.primary.in_unit.label
    if assumed is not None:
        console.write(
            f"assumed: a score of {assumed.score:g}, {assumed.questions:g} questions to a video, "
            f"icc {assumed.icc:g}; answers right or wrong, the most that they can vary"
        )
    quantity = "difference" if pilot.paired else "score"
    console.write(
        f"{spec.id} {spec.primary.name} ({unit}): {quantity} {pilot.value:.2f}, "
        f"standard error {pilot.error:.2f} over {pilot.videos} videos"
    )
    models = "on the same videos" if pilot.paired else "each on its own videos"
    console.write(
        f"two models {models}, {document['videos']} videos: a true difference of "
        f"{document['smallest_difference']:.2f} is found with 80 % power"
    )
    if "effect" in document:
        videos_needed = document["videos_needed"] or "more than ten million"
        console.write(
            f"a true difference of {document['effect']:g}: found with "
            f"{100 * document['power']:.0f} % by {document['videos']} videos; "
            f"with 80 % by {videos_needed}"
        )
    problem = not_promised(pilot, document["videos"])
    if problem is not None:
        console.note(f"unreliable, {problem}")
