"""MovieCORE: open questions on films that ask for System-2 thinking, judged on five dimensions."""

from collections.abc import Iterator
from typing import Any, Literal

from reelbench.registry.spec import (
    BenchmarkSpec,
    Column,
    Corpus,
    Facet,
    HubFile,
    JudgeSpec,
    Mean,
    MeanOf,
    MediaSource,
    Metric,
    Paper,
    SplitSpec,
    UrlFile,
)
from reelbench.registry.units import UnitName
from reelbench.tasks.declarations import published, with_mini

DIMENSIONS = ("accuracy", "comprehensiveness", "depth", "evidence", "coherence")
RIGHT_FROM = 4
"""Of 5: what counts as right beside benchmarks that are judged yes or no (§6.2, Table 5)."""
_ABOUT = {
    "accuracy": "How far the answer agrees with the reference.",
    "comprehensiveness": "How much of the reference the answer covers.",
    "depth": "How far the answer reasons beyond what is plainly seen.",
    "evidence": "How well the answer rests on what the film shows.",
    "coherence": "How clear and ordered the answer is.",
}
_COUNTED = {
    "per label": "A question counts once for each of its classes, as in the authors' evaluation.",
    "per question": "Each question counts once.",
}
_AUTHORS = "MovieCORE §6 and App. IV; joslefaure/MovieCORE evaluate_moviecore.py at 316f1ff"


def judged(name: str, title: str, aggregate: Mean | MeanOf, about: str, cite: str = _AUTHORS, **more: Any) -> Metric:  # noqa: ANN401 - fields
    """Return a metric of what a judge gives, 0 to 5 points."""
    return Metric(
        name=name,
        title=title,
        unit="points_0_5",
        right_from=RIGHT_FROM,
        judged=True,
        aggregate=aggregate,
        about=about,
        cite=cite,
        **more,
    )


def _judged() -> Iterator[Metric]:
    """Yield the five dimensions and their mean: as the authors aggregate, then with each question counted once."""
    for suffix, weight_by, how in (("", "classification", "per label"), ("_per_question", None, "per question")):
        mean = MeanOf(metrics=tuple(f"{dimension}{suffix}" for dimension in DIMENSIONS))
        about = "Mean of the five dimensions that a judge scores."
        rows = [("average", mean, about)]
        rows += [(name, Mean(column=name, weight_by=weight_by), _ABOUT[name]) for name in DIMENSIONS]
        for name, aggregate, about in rows:
            yield judged(
                f"{name}{suffix}",
                f"{name.title()} ({how})",
                aggregate,
                f"{about} {_COUNTED[how]}",
                in_breakdowns=not suffix,
            )


def _overlap(scorer: Literal["bleu4", "cider", "meteor"], title: str, unit: UnitName, about: str) -> Metric:
    about = f"{about}, over all answers at once."
    return Metric(name=scorer, title=title, unit=unit, aggregate=Corpus(scorer=scorer), about=about)


OVERLAP = (
    _overlap("bleu4", "BLEU-4", "fraction", "Shared runs of up to four words with the reference"),
    _overlap("cider", "CIDEr", "cider", "Shared runs of words with the reference, rare ones counting more"),
    _overlap("meteor", "METEOR", "fraction", "Words matched with the reference, stems and synonyms included"),
)


GENRE = Column(name="genre", dtype="string", description="Genre of the video, MovieChat's `class`, where it is known.")
BY_GENRE = Facet(name="genre", title="Genre of the video, as MovieChat names it.", in_rows=False, made_of="genre")


def _split(rows: int, videos: int, filename: str, **more: Any) -> SplitSpec:  # noqa: ANN401 - further fields
    return SplitSpec(
        source=HubFile(
            repo_id="MovieCORE/MovieCORE",
            filenames=(filename, f"annotation/{filename}"),
            local_names=(f"moviecore_{filename}",),  # as in the author's HERMES, at 5f54353
        ),
        joined=(f"moviechat_{filename}",),
        rows=rows,
        videos=videos,
        cite="MovieCORE §3.4",
        **more,
    )


_VIDEO_LICENCE = "Under the BSD 3-Clause licence, as MovieCORE says (appendix VI)."

SPEC = BenchmarkSpec(
    id="moviecore",
    title="MovieCORE",
    version=1,
    summary="Open-ended questions on films that need deep, System-2 understanding; answers judged on five dimensions.",
    homepage="https://huggingface.co/datasets/MovieCORE/MovieCORE",
    organisation="MovieCORE",
    license="mit",
    license_note="Stated in the README of the authors' repository.",
    languages=("en",),
    row_kind="open",
    columns=(
        Column(name="caption", dtype="string", description="Caption of the video where the row has one."),
        GENRE,
    ),
    splits={
        "train": _split(4080, 816, "train.json"),
        "test": _split(
            850,
            170,
            "test.json",
            # data/moviecore/annotation/test.json of joslefaure/HERMES, the author's own file.
            owners_files=("e7b4f5aaf38875f73b989c1de43130243c0263987fac0f74f47f595f16acc1a9",),
            owners_rows="bf6f299f645f65bd20aa583c400b03e8881858799d23fca8dd08cae2304d51e6",
        ),
    },
    default_split="test",
    package=__name__,
    media=(
        MediaSource(
            title="MovieChat-1K test videos",
            kind="hub",
            location="Enxin/MovieChat-1K-test",
            path="videos/{video}.mp4",
            layouts=("videos/{video}", "{video}", "Test_Videos/{video}"),
            roots=("${HF_HOME}/moviechat_1k_test/Test_Videos", "~/.cache/huggingface/moviechat_1k_test/Test_Videos"),
            splits=("test",),
            note=_VIDEO_LICENCE,
        ),
        MediaSource(
            title="MovieChat-1K train videos",
            kind="hub",
            location="Enxin/MovieChat-1K_train",
            gated=True,
            path="raw_videos/{video}.mp4",
            layouts=("raw_videos/{video}",),
            splits=("train",),
            note=f"{_VIDEO_LICENCE} Not every video of the split is there, and some files are corrupt "
            "(wenhaochai/MovieChat issue 55).",
        ),
    ),
    tasks=with_mini("moviecore", "test"),
    kinds=("llm_judge", "text_overlap"),
    metrics=(*_judged(), *OVERLAP),
    facets=(Facet(name="classification", title="Question class; a question may have several."), BY_GENRE),
    judge=JudgeSpec(
        criteria=DIMENSIONS,
        low=0,
        high=5,
        default_model="gpt-4o-mini-2024-07-18",
        successor="gpt-6-luna",  # OpenAI, deprecations: the older one shuts down on 2027-01-14
        official_prompts=UrlFile(
            url="https://raw.githubusercontent.com/joslefaure/MovieCORE/"
            "316f1fffc4669a4857a083a682e293aee81ea126/evaluation_prompts.py",
            sha256="d26aeee16c9a2ba1e3a691e59fb3f8f4fd198933f9c83251a21d0b23fe65e3f7",
        ),
    ),
    paper=Paper(
        key="faure2025moviecore",
        title="MovieCORE: COgnitive REasoning in Movies",
        authors=(
            "Gueter Josmy Faure",
            "Min-Hung Chen",
            "Jia-Fong Yeh",
            "Ying Cheng",
            "Hung-Ting Su",
            "Yung-Hao Tang",
            "Shang-Hong Lai",
            "Winston H. Hsu",
        ),
        venue="Empirical Methods in Natural Language Processing (EMNLP)",
        year=2025,
        arxiv="2508.19026",
        url="https://arxiv.org/abs/2508.19026",
    ),
    published=published(__file__),
)
