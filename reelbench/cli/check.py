"""`reelbench check`: the state of a benchmark that a file declares, as it would be asked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from reelbench.base.credentials import without_credentials
from reelbench.base.errors import InputError, cut_in_the_middle, first_of, number_of, visible
from reelbench.registry.rows import LETTERS
from reelbench.terminal import console
from reelbench.terminal.option_groups import Json

if TYPE_CHECKING:
    from reelbench.data.declared_check import CheckedSplit
    from reelbench.registry.rows import Row
    from reelbench.registry.spec import BenchmarkSpec
    from reelbench.tasks.round_trip import RoundTrip

_SHOWN_PROBLEMS = 20
_SHOWN_LABELS = 40
_LONGEST = 300  # characters of a question, or of its options, in a row that is shown


def check(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="A benchmark.yaml, its folder, or the id of one.")
    ],
    *,
    outside: Annotated[
        list[Path] | None,
        typer.Option(
            "--allow-outside",
            metavar="DIR",
            help="Permanently allow it to read files in DIR (repeat).",
        ),
    ] = None,
    token: Annotated[
        bool,
        typer.Option(
            "--allow-token",
            help="Permanently allow your token of the Hub for the data that it names.",
        ),
    ] = False,
    media: Annotated[
        bool, typer.Option("--media/--no-media", help="Look for the videos too; without, as in CI.")
    ] = True,
    show: Annotated[
        bool,
        typer.Option("--show", help="Show right answers; without, as in public logs of CI."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Check a benchmark's file, rows, prompts and videos.

    Shows a prompt as it is sent, to whom, every file that is read, three rows as they are asked,
    and the scores of a perfect and of an empty answer file; then one line for each problem.
    Faults in the rows themselves (equal options, odd spans, answers that are given away) are for
    `reelbench data lint`.
    """
    from reelbench.data import declared_check
    from reelbench.registry import discovery

    if outside or token:
        _allow_folder_to_read(path, outside or (), token=token)
    spec = discovery.find(path)
    if spec.mapping is None:
        raise InputError(
            f"{path}: no benchmark.yaml declares it; its data: reelbench data check {path}"
        )
    reports = [_check_split(spec, split) for split in declared_check.check(spec, media=media)]
    splits = [report.split for report in reports]
    asked_rows = _asked_rows(spec, splits, show=show)
    if as_json:
        console.write_json(
            {
                "benchmark": spec.id,
                "splits": {report.split.name: report.fields() for report in reports},
                "judge": _judge_fields(spec),
                **_what_is_sent(spec, splits),
                "rows": [asdict(row) for row in asked_rows],
            }
        )
    else:
        for split in splits:
            _show_counts(spec, split)
        _show_judge(spec)
        _show_sent(_what_is_sent(spec, splits))
        _show_rows(asked_rows)
        for report in reports:
            _show_trip(spec, report)
    for split in splits:
        for note in split.notes:
            console.note(note)
    for note in _notes_on_judge(spec):
        console.note(note)
    problems: list[str] = []
    for report in reports:
        problems += report.problems
    if problems:
        _show_problems(problems)
        raise typer.Exit(InputError.exit_code)


def _allow_folder_to_read(path: str, outside: Sequence[Path], *, token: bool) -> None:
    """Allow a benchmark's folder to read more, from now on."""
    from reelbench.base import containment
    from reelbench.registry import discovery
    from reelbench.registry.benchmark_file import declaration_file

    if Path(path).exists():
        benchmark_folder = declaration_file(path).parent
    else:
        benchmark_folder = discovery.find(path).folder
    for folder in outside:
        containment.allow_outside_folder(benchmark_folder, folder)
    if token:
        containment.allow_token(benchmark_folder)


@dataclass(frozen=True, slots=True)
class _SplitReport:
    """A checked split, what right and empty answers score, and all that is wrong."""

    split: "CheckedSplit"
    trip: "RoundTrip | None"
    problems: list[str]

    def fields(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        fields: dict[str, Any] = {
            "rows": self.split.row_count,
            "problems": self.problems,
            "round_trip": None,
        }
        if self.split.label_counts:
            fields["labels"] = self.split.label_counts
        if self.trip is not None:
            fields["round_trip"] = {
                "metric": self.trip.metric.name,
                "perfect": self.trip.perfect,
                "empty": self.trip.empty,
                "questions": self.trip.scored,
                "misread": list(self.trip.misread),
            }
        return fields


def _check_split(spec: "BenchmarkSpec", split: "CheckedSplit") -> _SplitReport:
    """Answer a split's questions. Return it with all that is wrong."""
    from reelbench.tasks.round_trip import round_trip

    problems = list(split.problems)
    trip: RoundTrip | None = None
    try:
        trip = round_trip(spec, split.name, split.rows)
    except InputError as error:
        problems.append(f"{spec.id} {split.name}: {error}")
    if trip is not None and not trip.is_sound:
        problems.append(_unsound_line(spec, split, trip))
    return _SplitReport(split, trip, problems)


def _unsound_line(spec: "BenchmarkSpec", split: "CheckedSplit", trip: "RoundTrip") -> str:
    line = (
        f"{spec.id} {split.name}: a perfect answer file scores {_rounded(trip, trip.perfect)} in "
        f"{trip.metric.name}, not {_rounded(trip, trip.metric.bounds[1])}"
    )
    if trip.misread:
        names = first_of([repr(name) for name in trip.misread])
        count = number_of(len(trip.misread), "question")
        line += f": the right answers of {count} don't score as right ({names})"
    return line


def _rounded(trip: "RoundTrip", value: float | None) -> str:
    if value is None:
        return "nothing"
    return f"{value:.{trip.metric.in_unit.digits}f}"


def _show_trip(spec: "BenchmarkSpec", report: _SplitReport) -> None:
    """Print the scores of a perfect and of an empty answer file."""
    trip = report.trip
    if trip is None:
        return
    split = report.split
    line = (
        f"{spec.id} {split.name}: a perfect answer file scores {_rounded(trip, trip.perfect)}, an "
        f"empty one {_rounded(trip, trip.empty)} ({trip.metric.name})"
    )
    if trip.scored < split.row_count:
        line += f"; tried on {trip.scored:,} of {split.row_count:,} questions, evenly spread"
    console.write(line)


@dataclass(frozen=True, slots=True)
class _AskedRow:
    """A row as it is asked."""

    id: str
    videos: list[str]
    """Each with its length, as far as that is known."""
    question: str
    options: list[str]
    right: str | None
    """The right answer, where it is shown."""


def _asked_rows(
    spec: "BenchmarkSpec", splits: "Sequence[CheckedSplit]", *, show: bool
) -> list[_AskedRow]:
    """Return the first, the middle and the last row of a split with rows."""
    from reelbench.tasks.round_trip import right_answer
    from reelbench.tasks.submissions import has_hidden_answers, reference_of

    for split in splits:
        if not split.rows:
            continue
        places = dict.fromkeys((0, len(split.rows) // 2, len(split.rows) - 1))
        asked_rows: list[_AskedRow] = []
        for row in [split.rows[place] for place in places]:
            right = None
            if show and not has_hidden_answers(spec, split.name):
                right = right_answer(spec, reference_of(spec, row))
            options = list(row.get("options", ()))
            videos = _videos_with_lengths(split, row)
            asked_rows.append(_AskedRow(row["id"], videos, row["question"], options, right))
        return asked_rows
    return []


def _videos_with_lengths(split: "CheckedSplit", row: "Row") -> list[str]:
    """Return a row's videos with their lengths, the part that is shown, and its pictures."""
    from reelbench.data.declared_check import lengths_of
    from reelbench.registry.rows import videos

    parts: list[str] = []
    for video in videos(row):
        part = video
        video_row = {**row, "video": video}
        length = lengths_of([video_row], split.files_of_videos).get(row["id"])
        if length is not None:
            part += f" ({length:,.1f} s)"
        parts.append(part)
    clip = row.get("clip")
    if clip:
        start, end = clip
        parts[-1] += f", from {start:g} to {end:g} s"
    for picture in row.get("pictures", ()):
        parts.append(f"then the picture {picture}")
    return parts


def _show_rows(asked_rows: Sequence[_AskedRow]) -> None:
    if asked_rows:
        console.write(f"{number_of(len(asked_rows), 'row')} as asked:")
    for row in asked_rows:
        console.write(f"  {visible(row.id)}")
        fields = {"video": "; ".join(row.videos), "question": row.question}
        lettered = zip(LETTERS, row.options, strict=False)
        options = [f"({letter}) {option}" for letter, option in lettered]
        if options:
            fields["options"] = " ".join(options)
        if row.right is not None:
            fields["right answer"] = row.right
        for name, text in fields.items():
            console.write(f"    {name}: {visible(cut_in_the_middle(text, _LONGEST))}")


def _show_problems(problems: Sequence[str]) -> None:
    for problem in problems[:_SHOWN_PROBLEMS]:
        console.note(problem)
    if len(problems) > _SHOWN_PROBLEMS:
        console.note(f"and {len(problems) - _SHOWN_PROBLEMS} more; --json has all")


def _show_counts(spec: "BenchmarkSpec", split: "CheckedSplit") -> None:
    """Print how many questions a split has, and on how many videos."""
    questions = number_of(split.row_count, "question")
    videos = number_of(split.video_count, "video")
    console.write(f"{spec.id} {split.name}: {questions} on {videos}")
    if split.label_counts:
        console.write(visible(_line_of_labels(spec, split.label_counts)))


def _line_of_labels(spec: "BenchmarkSpec", label_counts: Mapping[str, int]) -> str:
    """Return a line on the labels whose mean ranks, where a typo shows."""
    labels = [f"{label} {count:,}" for label, count in label_counts.items() if label]
    line = f"{spec.primary.name} ranks, the mean over {number_of(len(labels), 'label')}: "
    line += first_of(labels, _SHOWN_LABELS)
    if "" in label_counts:
        line += f"; {number_of(label_counts[''], 'question')} without a label count in none"
    return line


def _show_judge(spec: "BenchmarkSpec") -> None:
    """Print the judge's criteria and scale, and the metric that ranks."""
    from reelbench.registry.benchmark_judge import judge_in_words

    if spec.judge is not None:
        console.write(visible(judge_in_words(spec, spec.judge)))


def _judge_fields(spec: "BenchmarkSpec") -> dict[str, Any] | None:
    """Return the judge as JSON has it. None where there is none."""
    judge = spec.judge
    if judge is None:
        return None
    return {
        "criteria": judge.criteria,
        "scale": [judge.low, judge.high],
        "ranks_by": spec.primary.name,
        "unit": spec.primary.unit,
    }


def _notes_on_judge(spec: "BenchmarkSpec") -> list[str]:
    """Return a note for each thing that the judge is not shown."""
    from reelbench.registry import prompts

    shown_as = {
        "question": "the question",
        "reference": "the right answer",
        "answer": "the answer that it marks",
    }
    notes: list[str] = []
    for name in prompts.places_lacking(spec):
        notes.append(
            f"{spec.id}: the judge's user.txt has no {{{name}}}: it doesn't see {shown_as[name]}"
        )
    return notes


def _what_is_sent(spec: "BenchmarkSpec", splits: "Sequence[CheckedSplit]") -> dict[str, Any]:
    """Return the prompts as they are sent, the servers, and the files that are read.

    The servers are those that are asked where no option says.
    """
    from reelbench.base import settings
    from reelbench.llm.ask_options import OPENAI_URL
    from reelbench.registry import prompts

    files = [spec.file, spec.folder / spec.prompt]
    judge_url = None
    if spec.judge:
        folder = prompts.judge_folder(spec, spec.judge)
        files += [folder / f"{name}.txt" for name in sorted([*spec.judge.criteria, "user"])]
        server = settings.first(settings.JUDGE_URL, settings.OPENAI_BASE_URL) or OPENAI_URL
        judge_url = without_credentials(server)
    url = settings.first(settings.LLM_URL, settings.OPENAI_BASE_URL) or OPENAI_URL
    videos: list[Path] = []
    for split in splits:
        files += split.files
        videos += split.videos
    return {
        "prompts": _distinct_prompts(spec, splits),
        "server": without_credentials(url),
        "judge_server": judge_url,
        "files": list(dict.fromkeys(map(str, files))),
        "videos": list(dict.fromkeys(map(str, videos))),
    }


def _distinct_prompts(
    spec: "BenchmarkSpec", splits: "Sequence[CheckedSplit]"
) -> list[dict[str, str]]:
    """Return each prompt for the first row that has it.

    Languages and kinds of questions may have one prompt.
    """
    from reelbench.registry import prompts
    from reelbench.tasks.prompting import prompt_of

    first_row: dict[tuple[str, bool], Row] = {}
    for split in splits:
        for row in split.first_rows:
            template = prompts.prompt_template(spec, language=row["language"])
            first_row.setdefault((template, bool(row.get("options"))), row)
    prompts_by_language: list[dict[str, str]] = []
    for row in first_row.values():
        prompt = {"language": row["language"], "prompt": prompt_of(spec, row)}
        prompts_by_language.append(prompt)
    return prompts_by_language


_MOST_SENT = 100_000  # characters of a question that a terminal is shown; --json has all


def _show_sent(sent: Mapping[str, Any]) -> None:
    for number, prompt in enumerate(sent["prompts"]):
        which = ""
        if number:
            which = visible(f" in {prompt['language']} that is asked otherwise")
        console.write(f"a question as it is sent, for the first row{which}:")
        for line in cut_in_the_middle(prompt["prompt"], _MOST_SENT).split("\n"):
            console.write(f"  | {visible(line)}")
    console.write(
        f"nothing is sent now; `eval` sends it to {visible(sent['server'])}, or to --base-url"
    )
    if sent["judge_server"]:
        console.write(
            f"its answers are judged at {visible(sent['judge_server'])}, or at --judge-url"
        )
    folders = Counter(str(Path(video).parent) for video in sent["videos"])
    parts = list(sent["files"])
    for folder, count in folders.items():
        parts.append(f"{number_of(count, 'file')} of videos in {folder}")
    console.write("read: " + visible("; ".join(parts)))
