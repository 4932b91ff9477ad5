"""The keys of a `benchmark.yaml`: one declaration for parsing, the docs and the JSON schema."""

from dataclasses import dataclass
from typing import NamedTuple


class Form(NamedTuple):
    """A form of text: a regular expression, and its meaning in words."""

    pattern: str
    words: str


FORMS: dict[str, Form] = {
    "id": Form(
        pattern=r"[a-z][a-z0-9_]*",
        words="lower-case letters, digits and _, beginning with a letter",
    ),
    "number": Form(
        pattern=r"(?!0*\.?0*$)\d{1,6}(?:\.\d{1,6})?", words="a number above 0, such as 3 or 29.97"
    ),
    "whole": Form(pattern=r"-?\d{1,9}", words="a whole number"),
    "sha256": Form(pattern=r"[0-9a-f]{64}", words="64 hex digits"),
    "commit": Form(
        pattern=r"[0-9a-f]{40}",
        words="a commit of 40 hex digits; if it is left out, main's commit at the first download",
    ),
    "task": Form(pattern=r"\w[\w.-]*", words="letters, digits, _ . and -"),
}
"""Form of a key -> the form of its text."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of the file.

    Attributes:
        form: Form of its value: `text`, `texts` (a text or a list of them), `mapping`, `choice`
            (one of `words`), `kind` (one of `words`, or a mapping), `text_or_mapping`, or a name
            in `FORMS`.
        about: Its meaning.
        example: An example of its value.
        words: The texts that it may be. Empty where they are free.
    """

    form: str
    about: str
    example: str
    words: tuple[str, ...] = ()


_UNITS_OF_LENGTHS = ("seconds", "milliseconds", "minutes", "frames")
_UNITS = (*_UNITS_OF_LENGTHS, "ratio", "percent", "clock")

KEYS: dict[str, Key] = {
    "id": Key(
        form="id",
        about="lower-case letters, digits and `_`, beginning with a letter; not the id of an "
        "existing benchmark",
        example="kitchen",
    ),
    "title": Key(form="text", about="name that tables and pages show", example="Kitchen films"),
    "kind": Key(
        form="kind",
        about="kind of question: `choice`, `span`, `grounded_choice` (option and span), "
        "`open` (scored by a judge) or `exact` (word for word). For two kinds: "
        "`{column: NAME, VALUE: KIND}` or `{split: {SPLIT: KIND}}`, with choice and "
        "exact, or choice and open",
        example="choice",
        words=("choice", "span", "grounded_choice", "open", "exact"),
    ),
    "source": Key(form="mapping", about="where the rows are", example="{file: rows.jsonl}"),
    "source.file": Key(
        form="texts",
        about="file in this folder, or in the Hub repository. With `*` in its name, all files "
        "that match are read, and the column `file` has their names without the ending",
        example="rows.jsonl",
    ),
    "source.hub": Key(form="text", about="dataset on the Hub", example="org/name"),
    "source.revision": Key(
        form="commit",
        about="commit of the Hub repository; if it is not set, the commit of `main` at the "
        "first download",
        example="40 hex digits",
    ),
    "source.files": Key(
        form="mapping",
        about="file of each split in the Hub repository; a list gives alternative names of "
        "one file",
        example="{test: data/test.parquet}",
    ),
    "source.url": Key(
        form="text", about="address of one file", example="https://example.org/rows.json"
    ),
    "source.sha256": Key(
        form="sha256", about="SHA-256 of the file at `source.url`", example="64 hex digits"
    ),
    "line": Key(
        form="text",
        about="template that splits each line of a text file into columns",
        example='"{clip} {from} {to}##{sentence}"',
    ),
    "each": Key(
        form="text",
        about="path to the rows in nested JSON. `{name}`: every key or list position, which "
        "becomes a column. `a+b`: parallel lists, one row for each position. Of a list of "
        "lists, each inner list is `value`. The column `outer` is the number of the object, or "
        "list, that contains the row",
        example='"{film}/qa/{n}"',
    ),
    "join": Key(
        form="mapping",
        about="second file whose columns are added to the rows",
        example="{file: answers.json, by: qid}",
    ),
    "join.file": Key(
        form="text",
        about="name of the second file, which is next to the first one",
        example="answers.json",
    ),
    "join.by": Key(
        form="texts", about="columns that identify the same row in both files", example="qid"
    ),
    "join.each": Key(
        form="text",
        about="path to the rows of the second file, as in `each`; a value that is not an "
        "object becomes the column `value`",
        example='"{film}/location/{qid}"',
    ),
    "parts": Key(
        form="mapping",
        about="template that splits the text of a column into further columns, for each column",
        example='{qid: "{film}_{place}"}',
    ),
    "where": Key(
        form="mapping",
        about="rows that are asked: those with this word, or one of these, in each column. It "
        "changes what is asked, so results go into another table",
        example="{clip: true, task: [count, order]}",
    ),
    "columns": Key(
        form="mapping",
        about="mapping from Reelbench's names to yours. A value is a column, a list of "
        "columns, a nested field (`a.b`, also in a list of objects), or a template "
        "(`{film}_{n}`). `{always: TEXT}` is the same for all rows; `{column: NAME, WORD: OURS}` "
        "replaces the column's words. `videos` replaces `video` if a question is about several "
        "videos. `pictures` are shown after the video: files in a folder of videos, or a column "
        "of Parquet that contains pictures. `rubric` is what the judge must look for (`{rubric}` "
        "in "
        "its prompts)",
        example="{id: qid, video: clip, question: q, options: choices, answer: gold}",
    ),
    "answer_is": Key(
        form="choice",
        about="format of the answer; if it is not set, the format that fits the rows",
        example="text",
        words=("letter", "index0", "index1", "text"),
    ),
    "answers": Key(
        form="choice",
        about="rule for several right answers (a list, several columns, or letters such as "
        "`AC`): `any` accepts each of them; `all` needs exactly these. Text answers "
        "take only `any`",
        example="any",
        words=("any", "all"),
    ),
    "absent": Key(form="texts", about="text that stands for a missing option", example="N/A"),
    "options": Key(form="mapping", about="options that are in no column", example="{in: question}"),
    "options.in": Key(
        form="choice",
        about="`question`: the text of the question ends in its options (`A. …`), one option per "
        "line, or all of them in its last line",
        example="question",
        words=("question",),
    ),
    "options.are": Key(
        form="texts",
        about="options that are the same for every question, such as yes and no",
        example="[yes, no]",
    ),
    "options.right": Key(
        form="text",
        about="column of the right option, if the wrong ones are in other columns; `seed` and "
        "the row's id determine the order",
        example="answer",
    ),
    "options.wrong": Key(
        form="texts", about="column, or columns, of the wrong options", example="distractors"
    ),
    "options.seed": Key(form="whole", about="seed of the order; default: 0", example="7"),
    "span_from": Key(
        form="choice",
        about="`clip`: spans count from the start of `columns.clip`, not of the video",
        example="clip",
        words=("clip",),
    ),
    "span_unit": Key(
        form="choice",
        about="unit of the spans. `ratio` (0 to 1) and `percent` are of the video's length, "
        "`columns.duration`",
        example="seconds",
        words=_UNITS,
    ),
    "clip_unit": Key(
        form="choice",
        about="unit of `columns.clip`; default: seconds, or a clock",
        example="frames",
        words=_UNITS,
    ),
    "duration_unit": Key(
        form="choice",
        about="unit of `columns.duration`; default: seconds, or a clock",
        example="minutes",
        words=_UNITS_OF_LENGTHS,
    ),
    "fps": Key(
        form="text",
        about="frames per second where a unit is `frames`: a number, or the column that has it",
        example="25",
    ),
    "answer_spans": Key(
        form="choice",
        about="rule for an answer that gives several spans. `stated` (default): none counts "
        "unless the answer states only one. `first`: the first of them. `union`: all of "
        "them; `windows: union` implies it, and no other does",
        example="first",
        words=("first", "stated", "union"),
    ),
    "windows": Key(
        form="choice",
        about="rule for several right windows (time spans) of one question. `best` (default): the "
        "answered one against the right one that fits best. `union`: all windows "
        "of each side, merged. `ranked`: as `best`, and mAP over the first ten "
        "answered ones, which the answer gives in order of confidence. `f1`: F1 of all answered "
        "windows, over IoU 0.1, 0.3, 0.5 and 0.7 (E.T. Bench, `tal_eval`). `matched`: F1 of "
        "windows matched one to one, 0 where their number is not right, over IoU 0.3, 0.5 and 0.7 "
        "(OMTG-Bench's EtF1, arXiv:2606.06294)",
        example="union",
        words=("best", "union", "ranked", "f1", "matched"),
    ),
    "numbers": Key(
        form="choice",
        about="the answers are numbers, scored by their distance. `mra`: mean relative accuracy "
        "(VSI-Bench, `vsibench/utils.py`). `within_one`: right if at most one off "
        "(RepNet's OBO). `mae`: ranked by `within_one`, with the share of right numbers, "
        "the mean absolute error (CG-AV-Counting, PushUpBench) and the relative one "
        "(TransRAC). Only with `exact`; `mra` and `within_one` also beside `choice`",
        example="mra",
        words=("mra", "within_one", "mae"),
    ),
    "chance": Key(
        form="choice",
        about="`adjusted`: ranked by accuracy above chance, where guessing among n options gets 0 "
        "(SITE-Bench's CAA, arXiv:2505.05456). Only with `choice` and one right option",
        example="adjusted",
        words=("adjusted",),
    ),
    "overlap": Key(
        form="choice",
        about="overlap that ranks: `iou` (default), intersection over union; `iop`, "
        "intersection over prediction",
        example="iop",
        words=("iou", "iop"),
    ),
    "group": Key(
        form="mapping",
        about="questions that are scored together; results are ranked by `group_accuracy`",
        example="{by: pair, rule: all}",
    ),
    "group.by": Key(form="texts", about="columns that identify a group", example="video_id"),
    "group.rule": Key(
        form="text",
        about="`all`: every question must be right. `quadratic`: the square of the share of "
        "right questions. `chain`: right questions count up to and in the first level "
        "with a wrong one; a question of level d has weight 2d-1. `gate`: questions of the last "
        "level count, and only if all of the earlier levels are right (RTV-Bench, "
        "`compute_score.py`). Or `{column: NAME, VALUE: RULE}`",
        example="all",
    ),
    "group.levels": Key(
        form="text",
        about="column with the levels of a `chain` or `gate`, lists or numbers; if it is not "
        "set, each row is one level, in the order of the rows",
        example="group_structure",
    ),
    "facets": Key(
        form="texts", about="columns by which results are broken down", example="[topic]"
    ),
    "separators": Key(
        form="mapping",
        about="separator of the labels in one cell, for each facet",
        example='{topic: ","}',
    ),
    "skip": Key(
        form="choice",
        about="`unreadable`: rows that can't be read are left out and counted; if it is not "
        "set, such a row is an error",
        example="unreadable",
        words=("unreadable",),
    ),
    "errata": Key(
        form="text",
        about="JSON Lines of rows that scores leave out (`leave_out: true`) or whose `answer` "
        "or `span` is corrected, each with `id`, `reason` and `source`, and with `split` if there "
        "are several",
        example="errata.jsonl",
    ),
    "primary": Key(
        form="text_or_mapping",
        about="metric that ranks, if it is not the first metric of the kind; or `{macro: FACET}`",
        example="accuracy",
    ),
    "primary.macro": Key(
        form="texts",
        about="facet: the metric is computed for each of its labels, and their plain mean ranks "
        "(MLVU, `choice_bench.py`; VSI-Bench, `vsibench/utils.py`). Of two facets, `[part, task]`, "
        "the mean over parts of the mean over their tasks (OVO-Bench, "
        "`utils/OVOBenchScore.py`)",
        example="task",
    ),
    "primary.of": Key(
        form="text",
        about="metric that `macro` averages, if it is not the first metric of the kind",
        example="right",
    ),
    "prompt": Key(
        form="text",
        about="file with the prompt; `{column}` in it is replaced by the row's column (such "
        "as `{subtitles}`)",
        example="prompt.txt",
    ),
    "judge": Key(form="mapping", about="judge of open answers", example="{prompts: moviecore}"),
    "judge.prompts": Key(
        form="text",
        about="`moviecore`, `curve` (default), or a folder with `user.txt` and one text file "
        "for each criterion",
        example="moviecore",
    ),
    "judge.criteria": Key(
        form="texts",
        about="files of that folder that are criteria, without `.txt`; needed if it has several "
        "besides `user.txt`",
        example="[detail, truth]",
    ),
    "judge.scale": Key(
        form="texts",
        about="lowest and highest mark; only with a folder of prompts. `[0, 5]` and `[0, 2]` are "
        "points; on any other scale, the lowest mark is 0 % and the highest 100 %",
        example="[0, 5]",
    ),
    "media": Key(
        form="mapping", about="where the videos are", example='{layouts: ["videos/{video}"]}'
    ),
    "media.layouts": Key(
        form="texts",
        about="paths of a video inside a folder of videos: `{video}` is the row's path, "
        "`{name}` its last part",
        example='["videos/{video}", "{video}"]',
    ),
    "media.roots": Key(
        form="texts",
        about="further folders of videos, or folders below `$REELBENCH_MEDIA`, `$REELBENCH_HOME` "
        "or `$REELBENCH_BENCHMARKS`; outside this folder and `REELBENCH_MEDIA`, only those "
        "that you allowed",
        example="[films]",
    ),
    "media.frames": Key(
        form="number",
        about="videos are folders of numbered pictures; this is how many numbers make a second: "
        "3 for pictures taken at 3 frames a second and numbered one by one",
        example="3",
    ),
    "media.youtube": Key(
        form="choice",
        about="`true`: videos are named by their YouTube ids, and `data fetch --media` "
        "downloads them",
        example="true",
        words=("true", "false"),
    ),
    "languages": Key(
        form="texts",
        about="languages of the questions, as BCP-47 tags; default: `en`",
        example="[en]",
    ),
    "hidden_answers": Key(
        form="choice",
        about="`true`: the right answers are secret and are never in what you publish",
        example="true",
        words=("true", "false"),
    ),
    "splits": Key(
        form="mapping",
        about="splits of the benchmark; the first one is the default",
        example="{test: {}}",
    ),
    "splits.*.source": Key(
        form="mapping", about="`source` of one split", example="{file: test.jsonl}"
    ),
    "splits.*.task": Key(
        form="task", about="name of the lmms-eval task of one split", example="kitchen_test"
    ),
    "splits.*.twin": Key(form="text", about="`twin` of one split", example="videomme"),
    "splits.*.hidden_answers": Key(
        form="choice",
        about="`hidden_answers` of one split",
        example="true",
        words=("true", "false"),
    ),
    "task": Key(
        form="task", about="name of the lmms-eval task, if it is not the id", example="my_kitchen"
    ),
    "twin": Key(
        form="text",
        about="lmms-eval's own task on the same rows; `score --run` accepts its runs too",
        example="minerva",
    ),
    "version": Key(
        form="whole", about="whole number; raise it when a change alters scores", example="1"
    ),
    "summary": Key(
        form="text",
        about="one sentence about the benchmark",
        example="Questions on films of kitchens.",
    ),
    "homepage": Key(form="text", about="web page of the benchmark", example="https://example.org"),
    "organisation": Key(
        form="text",
        about="name on the Hub that is reserved for the benchmark's owners; others can't "
        "submit results under it",
        example="my-org",
    ),
    "licence": Key(form="text", about="licence of the annotations", example="cc-by-4.0"),
    "licence_note": Key(
        form="text",
        about="further information about the licence",
        example="Videos belong to their makers.",
    ),
    "citation": Key(
        form="text",
        about="text to cite, as BibTeX or in plain words",
        example="Nobody, Films of a kitchen, 2026",
    ),
}
"""All keys by their paths. `splits.*` stands for each split."""

REQUIRED = ("id", "kind", "source", "columns")
"""Keys that every file must have."""
