"""ReXTime: questions whose answer lies in another part of the video than the question; a span and an option each."""

from functools import partial
from typing import Any

from reelbench.registry.rows import DURATION, span_facets
from reelbench.registry.spec import (
    BenchmarkSpec,
    Column,
    Facet,
    HubFile,
    MediaSource,
    OptionWords,
    Paper,
    SplitSpec,
    TaskSpec,
)
from reelbench.tasks.declarations import percentage, published, with_mini

_OPTIONS = "prompt_options.txt"
# The supplement's C.5; the full stop is in the owners' sentences.
_WORDS = OptionWords(alone="{option}.", grounded="From {start:g} to {end:g}, {option}.", locate="prompt_span.txt")
_EVALUATOR = "ReXTime/ReXTime evaluation/rextime_eval.py at cb9f484"


_metric = partial(percentage, cite=_EVALUATOR)


def _split(filename: str, rows: int, **more: Any) -> SplitSpec:  # noqa: ANN401 - further fields of a split
    return SplitSpec(
        source=HubFile(repo_id="ReXTime/ReXTime", filenames=(filename, f"data/{filename}")),
        rows=rows,
        cite="ReXTime supplement, datasheet",
        **more,
    )


SPEC = BenchmarkSpec(
    id="rextime",
    title="ReXTime",
    version=1,
    summary="Reasoning across time: choose the right option and ground it in a span of the video.",
    homepage="https://huggingface.co/datasets/ReXTime/ReXTime",
    organisation="ReXTime",
    license="cc-by-nc-sa-4.0",
    license_note="Annotations; the authors' code is MIT.",
    languages=("en",),
    row_kind="grounded_choice",
    reader_version=2,
    columns=(
        DURATION,
        Column(name="source", dtype="string", description="Dataset and split that the video is from."),
        Column(
            name="sentence",
            dtype="string",
            description="The answer in words, `<s0>` and `<e0>` for its span, where the file has it; empty if hidden.",
        ),
    ),
    splits={
        "train": _split("rextime_train.json", 9695),
        "val": _split(
            "rextime_val.json",
            921,
            joined=("rextime_val.jsonl",),
            # data/rextime_val.jsonl of ReXTime/ReXTime at cb9f484: the evaluator's ground truth.
            owners_files=("48391bd67ffeafbdb4ebb540de24b673b897570dffb92d631a93dc696e4482e2",),
            owners_rows="7b6570436ab0de105570785f1e76e52463a2efc12d1422d6171a9a65a3db822b",
        ),
        "test": _split(
            "rextime_test_release.json",
            2143,
            hidden_answers=True,
            # README of ReXTime/ReXTime at cb9f484; earlier ones, and the supplement (B.6), name an EvalAI challenge.
            submit_to="https://codalab.lisn.upsaclay.fr/competitions/19587, by the link in the README of "
            "https://github.com/ReXTime/ReXTime",
        ),
    },
    default_split="val",
    package=__name__,
    media=(
        MediaSource(
            title="QVHighlights videos",
            kind="archive",
            location="https://nlp.cs.unc.edu/data/jielei/qvh/qvhilights_videos.tar.gz",
            path="videos/{video}.mp4",
            layouts=("videos/{video}", "qvhighlights/videos/{video}", "{video}"),
            matches=r"^(?!v_[\w-]{11}$).+",
        ),
        MediaSource(
            title="ActivityNet videos",
            kind="form",
            location="http://activity-net.org/download.html",
            layouts=("Anet_videos_15fps_short256/{video}", "activitynet/videos/{video}", "{video}"),
            matches=r"^v_[\w-]{11}$",
            note="Ask for the videos with ActivityNet's form and put them into a folder of REELBENCH_MEDIA.",
        ),
    ),
    tasks=(
        *with_mini("rextime", "val"),
        TaskSpec(name="rextime_options", split="val", prompt=_OPTIONS, options=_WORDS),
        TaskSpec(name="rextime_options_mini", split="mini", prompt=_OPTIONS, options=_WORDS),
        *with_mini("rextime_test", "test", mini="mini_test"),
    ),
    kinds=("temporal_span", "choice"),
    metrics=(
        _metric(
            "accuracy_at_iou_0.5",
            "Accuracy at IoU ≥ 0.5",
            "correct_at_iou_0.5",
            about="The option is right, and the spans share half or more of what they cover together.",
        ),
        _metric("accuracy", "Accuracy", "correct", about="Questions whose right option was chosen, whatever the span."),
        _metric(
            "miou",
            "mIoU",
            "iou",
            about="What the true and the predicted span share of what they cover together, averaged over questions.",
        ),
        _metric(
            "recall_at_0.3",
            "Recall@1, IoU ≥ 0.3",
            "recall_at_0.3",
            about="Questions whose spans share 30 % or more of what they cover together.",
        ),
        _metric(
            "recall_at_0.5",
            "Recall@1, IoU ≥ 0.5",
            "recall_at_0.5",
            about="Questions whose spans share 50 % or more of what they cover together.",
        ),
    ),
    facets=(
        Facet(
            name="category",
            title="Kind of reasoning across time.",
            labels=("cause-effect", "means-to-an-end", "sequential"),
        ),
        Facet(name="source", title="Dataset and split of the video.", in_rows=False, made_of="source"),
        *span_facets(),
    ),
    paper=Paper(
        key="chen2024rextime",
        title="ReXTime: A Benchmark Suite for Reasoning-Across-Time in Videos",
        authors=(
            "Jr-Jen Chen",
            "Yu-Chien Liao",
            "Hsi-Che Lin",
            "Yu-Chu Yu",
            "Yen-Chun Chen",
            "Yu-Chiang Frank Wang",
        ),
        venue="NeurIPS Datasets and Benchmarks",
        year=2024,
        arxiv="2406.19392",
        url="https://arxiv.org/abs/2406.19392",
    ),
    published=published(__file__),
)
