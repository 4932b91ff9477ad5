"""DramaQA with CogME: five options on scenes of a television drama, by difficulty and by what has to be understood."""

from dataclasses import replace

from reelbench.registry.spec import (
    BenchmarkSpec,
    Column,
    Facet,
    ImageFolders,
    LocalFile,
    Macro,
    Mean,
    MediaSource,
    Metric,
    OptionWords,
    Paper,
    SplitSpec,
    TaskSpec,
)
from reelbench.scoring import cognitive_profile
from reelbench.tasks.declarations import percentage, published, with_mini

_EVALUATOR = "liveseongho/DramaQAChallenge2020 code/scripts/eval_submission.py at 446efa5"
_COGME = 'CogME, section "Scoring the Questions and Prediction Results"'
_DOWNLOAD = "https://dramaqa.github.io/Download"
_SUBTITLES = "prompt_subtitles.txt"
_OPTIONS = "prompt_options.txt"


def _split(name: str, *, hidden_answers: bool = False) -> SplitSpec:
    return SplitSpec(
        source=LocalFile(filenames=(f"AnotherMissOhQA_{name}_set.json",), form_url=_DOWNLOAD),
        joined=("AnotherMissOh_script.json",),
        hidden_answers=hidden_answers,
        cite="Three releases of different sizes are about; which one a result is on, its fingerprint says",
    )


def _rate(name: str, title: str, **weighting: object) -> Metric:
    return Metric(
        name=name,
        title=title,
        unit="percent",
        aggregate=Mean(column="correct", scale=100, **weighting),  # type: ignore[arg-type]
        cite=_COGME,
    )


_RATES = (
    _rate("rate", "Questions answered right"),
    # A label's points are those of its questions' THINKING, in what was achieved as in what could be.
    _rate("weighted_rate", "Points won", weight_by="thinking", weights=cognitive_profile.THINKING_WEIGHTS),
)

SPEC = BenchmarkSpec(
    id="dramaqa_cogme",
    title="DramaQA-CogME",
    version=1,
    summary="Five-option questions on scenes of a television drama, by difficulty and by CogME's cognitive profile.",
    homepage="https://dramaqa.github.io",
    license="other",
    license_note="Under an agreement with the owners; neither questions, nor pictures, nor script may be passed on.",
    open_data=False,
    languages=("en",),
    row_kind="choice",
    columns=(
        Column(name="video_type", dtype="string", description="`shot` or `scene`: what the question is about."),
        Column(name="shots", dtype="list<string>", description="Ids of the shots that make up the video, in order."),
        Column(name="subtitles", dtype="string", description="What is said, a line each; empty without the script."),
    ),
    splits={"train": _split("train"), "val": _split("val"), "test": _split("test", hidden_answers=True)},
    default_split="val",
    mini_note="a dozen rows written for Reelbench, with pictures drawn on first use",
    package=__name__,
    media=(
        MediaSource(
            title="DramaQA pictures",
            kind="form",
            location=_DOWNLOAD,
            gated=True,
            layouts=(
                "AnotherMissOh_images/{video}",
                "AnotherMissOh/AnotherMissOh_images/{video}",
                "AnotherMissOh/{video}",
            ),
            images=ImageFolders(
                folders="reelbench.tasks.dramaqa_cogme.data:folders",
                number=r"IMAGE_(\d+)\.(?:jpe?g|png)",
                numbers_per_second=25,
                fps=3,
            ),
            note="The folder AnotherMissOh_images goes beside the questions, or into a folder of REELBENCH_MEDIA.",
        ),
    ),
    tasks=(
        *with_mini("dramaqa_cogme", "val", tags=()),
        TaskSpec(name="dramaqa_cogme_subtitles", split="val", prompt=_SUBTITLES),
        TaskSpec(name="dramaqa_cogme_subtitles_mini", split="mini", prompt=_SUBTITLES, tags=("reelbench_mini",)),
        TaskSpec(name="dramaqa_cogme_options", split="val", prompt=_OPTIONS, options=OptionWords()),
        TaskSpec(name="dramaqa_cogme_options_mini", split="mini", prompt=_OPTIONS, options=OptionWords()),
        *with_mini("dramaqa_cogme_test", "test", mini="mini_test", tags=()),
    ),
    kinds=("choice", "cognitive_profile"),
    metrics=(
        percentage(
            "accuracy",
            "Accuracy",
            "correct",
            about="Questions whose right option of five was chosen.",
            cite=f"{_EVALUATOR}, total_accuracy",
        ),
        Metric(
            name="difficulty_average",
            title="Mean over difficulties",
            unit="percent",
            aggregate=Macro(column="correct", facet="difficulty", scale=100),
            about="Accuracy at each of the four levels of difficulty, then averaged.",
            cite=f"{_EVALUATOR}, mean of 1_accuracy to 4_accuracy",
        ),
    ),
    facets=(
        Facet(name="difficulty", title="Logical complexity, 1 to 4.", labels=("1", "2", "3", "4")),
        *(
            replace(facet, metrics=_RATES)
            for facet in cognitive_profile.FACETS
            if facet.name in cognitive_profile.COMPONENTS
        ),
    ),
    paper=Paper(
        key="shin2024cogme",
        title="CogME: A Cognition-Inspired Multi-Dimensional Evaluation Metric for Story Understanding",
        authors=(
            "Minjung Shin",
            "Seongho Choi",
            "Yu-Jung Heo",
            "Minsu Lee",
            "Byoung-Tak Zhang",
            "Jeh-Kwang Ryu",
        ),
        venue="Annual Meeting of the Cognitive Science Society",
        year=2024,
        url="https://escholarship.org/uc/item/8p3137gd",
    ),
    builds_on=(
        Paper(
            key="choi2021dramaqa",
            title="DramaQA: Character-Centered Video Story Understanding with Hierarchical QA",
            authors=(
                "Seongho Choi",
                "Kyoung-Woon On",
                "Yu-Jung Heo",
                "Ahjeong Seo",
                "Youwon Jang",
                "Minsu Lee",
                "Byoung-Tak Zhang",
            ),
            venue="AAAI Conference on Artificial Intelligence",
            year=2021,
            arxiv="2005.03356",
            url="https://arxiv.org/abs/2005.03356",
        ),
    ),
    published=published(__file__),
)
