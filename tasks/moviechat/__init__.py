"""MovieChat-1k, global mode: what is plainly seen in MovieCORE's own films; the System-1 side of its Table 5."""

from reelbench.registry.spec import BenchmarkSpec, JudgeSpec, Mean, Paper, SplitSpec, UrlFile
from reelbench.tasks import moviecore
from reelbench.tasks.declarations import published, with_mini

_CITE = "MovieCORE (arXiv 2508.19026) §6.2; the judge and rubric are MovieCORE's accuracy"
_PER_QUESTION = "Each question counts once, as MovieCORE's accuracy per question does."

SPEC = BenchmarkSpec(
    id="moviechat",
    title="MovieChat-1k (global)",
    version=1,
    summary="Short questions on what is plainly seen in MovieCORE's films, judged for accuracy: its System-1 twin.",
    homepage="https://github.com/rese1f/MovieChat",
    license="mit",
    license_note="Of the repository that publishes this file; MovieChat-1K's own terms hold beside it.",
    languages=("en",),
    row_kind="open",
    splits={
        "test": SplitSpec(
            source=UrlFile(
                url="https://raw.githubusercontent.com/joslefaure/HERMES/"
                "3779f6a8df234d59901e898195f46c7e37325b6d/data/moviechat/annotation/test.json",
                sha256="cd084f17c1b40a93b5f20ac45fb4a57cee9022333e13025ccbc724e112cb3f6a",
            ),
            rows=510,
            videos=170,
            owners_files=("cd084f17c1b40a93b5f20ac45fb4a57cee9022333e13025ccbc724e112cb3f6a",),
            owners_rows="a3ade4547e5dcbbfffe38b266725460b06f458afb63ecd996d87080f8a24f6bf",
            cite="joslefaure/HERMES at 3779f6a, data/moviechat/annotation/test.json",
        )
    },
    default_split="test",
    package=__name__,
    formats="reelbench.tasks.moviecore.formats",
    media=tuple(source for source in moviecore.SPEC.media if "test" in source.splits),
    columns=(moviecore.GENRE,),
    facets=(moviecore.BY_GENRE,),
    tasks=with_mini("moviechat", "test"),
    twin="moviecore",
    kinds=("llm_judge", "text_overlap"),
    metrics=(
        moviecore.judged(
            "accuracy",
            "Accuracy",
            Mean(column="accuracy"),
            "How far the answer agrees with the reference, by MovieCORE's own judge and rubric.",
            _CITE,
        ),
        moviecore.judged(
            "accuracy_per_question",
            "Accuracy (per question)",
            Mean(column="accuracy"),
            f"How far the answer agrees with the reference. {_PER_QUESTION}",
            _CITE,
            in_breakdowns=False,
        ),
        *moviecore.OVERLAP,
    ),
    judge=JudgeSpec(
        criteria=("accuracy",),
        low=0,
        high=5,
        default_model="gpt-4o-mini-2024-07-18",
        successor="gpt-6-luna",  # OpenAI, deprecations: the older one shuts down on 2027-01-14
        prompts="reelbench.tasks.moviecore:judge",
        official_prompts=moviecore.SPEC.judge and moviecore.SPEC.judge.official_prompts,
    ),
    paper=Paper(
        key="song2024moviechat",
        title="MovieChat: From Dense Token to Sparse Memory for Long Video Understanding",
        authors=("Enxin Song", "Wenhao Chai", "Guanhong Wang", "Yucheng Zhang", "Haoyang Zhou", "Feiyang Wu"),
        venue="Computer Vision and Pattern Recognition (CVPR)",
        year=2024,
        arxiv="2307.16449",
        url="https://arxiv.org/abs/2307.16449",
    ),
    builds_on=moviecore.SPEC.papers,
    published=published(__file__),
)
