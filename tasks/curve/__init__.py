"""CURVE (MINERVA-Cultural): open questions on long videos from many cultures, asked in the language of each."""

from reelbench.registry.spec import (
    BenchmarkSpec,
    Column,
    Facet,
    JudgeSpec,
    Macro,
    MediaSource,
    Metric,
    Paper,
    SplitSpec,
    TaskSpec,
    UrlFile,
)
from reelbench.tasks.curve.locales import LOCALES
from reelbench.tasks.declarations import percentage, published, with_mini

_README = "google-deepmind/neptune README at bdde4b1, section Minerva-cultural"
_HALF_POINTS = 50  # 100 * sum / (2 N): the judge gives 0, 1 or 2

SPEC = BenchmarkSpec(
    id="curve",
    title="CURVE (MINERVA-Cultural)",
    version=1,
    summary="Open questions on long videos from many cultures, asked and answered in its language; judged 0 to 2.",
    homepage="https://github.com/google-deepmind/neptune",
    license="cc-by-4.0",
    license_note="Annotations; the videos are their uploaders' on YouTube.",
    languages=LOCALES,
    row_kind="open",
    people_search=True,  # supplement, B.1.3 and B.2.1: the web, Wikipedia, search by picture; no language model
    columns=(
        Column(name="subcategory", dtype="string", description="Finer topic within the category, of its locale."),
        Column(name="skills", dtype="list<string>", description="Skills that the question takes."),
        Column(name="reasoning_steps", dtype="list<string>", description="How to get to the answer, native language."),
        Column(name="external_links", dtype="list<string>", description="References that the annotators used."),
    ),
    splits={
        # The README links to this object under storage.mtls.cloud.google.com, a host for clients with a certificate.
        "test": SplitSpec(
            source=UrlFile(url="https://storage.googleapis.com/neptunedata/curve.json"),
            videos=540,
            cite=f"{_README}; it says about 2,200 questions, the paper 2,400",
        )
    },
    default_split="test",
    package=__name__,
    prompt="prompt.json",
    media=(
        MediaSource(
            title="YouTube",
            kind="youtube",
            location="https://www.youtube.com/watch?v={video}",
            layouts=("{video}", "videos/{video}", "curve/{video}"),
            roots=("${CURVE_VIDEO_DIR}", "${MINERVA_VIDEO_DIR}"),
            note="Videos disappear from YouTube; what can't be had is counted as missing.",
        ),
    ),
    tasks=(
        *with_mini("curve", "test"),
        # Without tags: only `reelbench diagnose run` asks for them, and their answers have no place in a table.
        *(
            TaskSpec(name=name, split=split, prompt="prompt_reasoned.json", max_new_tokens=2048, reasoned=True)
            for name, split in (("curve_reasoned", "test"), ("curve_reasoned_mini", "mini"))
        ),
        *(
            TaskSpec(name=f"curve_{locale}", split="test", only={"locale": locale}, tags=("curve_locales",))
            for locale in LOCALES
        ),
    ),
    kinds=("llm_judge", "exact_match"),
    metrics=(
        percentage(
            "score",
            "Score",
            "score",
            scale=_HALF_POINTS,
            judged=True,
            about="A judge's points for the answers, 0 to 2 each, as a share of all points; each question counts once.",
            cite="CURVE supplement Table 3, Weighted Avg; the normalisation is inferred from the numbers",
        ),
        Metric(
            name="macro",
            title="Mean over locales",
            unit="percent",
            aggregate=Macro(column="score", facet="locale", scale=_HALF_POINTS),
            judged=True,
            about="The same score for each locale, then averaged, so that small locales count as much as large ones.",
            cite="CURVE supplement Table 3, Macro Avg",
        ),
        percentage(
            "exact_match",
            "Exact match",
            "exact_match",
            about="Answers that are the reference word for word, case and punctuation apart.",
            cite="Reelbench; a lower bound that needs no judge",
        ),
    ),
    facets=(
        Facet(name="locale", title="Language and country of the question, as a BCP-47 tag."),
        Facet(name="category", title="Cultural domain."),
        Facet(name="skills", title="Skills that the question takes.", in_rows=False, made_of="skills"),
    ),
    judge=JudgeSpec(
        criteria=("score",),
        low=0,
        high=2,
        default_model="gemini-2.5-flash",
        successor="gemini-3.5-flash-lite",  # Google, deprecations: it answers for the older one from 2026-12-01
        official_temperature=0,
    ),
    paper=Paper(
        key="singh2026curve",
        title="CURVE: A Benchmark for Cultural and Multilingual Long Video Reasoning",
        authors=(
            "Darshan Singh",
            "Arsha Nagrani",
            "Kawshik Manikantan",
            "Harman Singh",
            "Dinesh Tewari",
            "Tobias Weyand",
            "Cordelia Schmid",
            "Anelia Angelova",
            "Shachi Dave",
        ),
        venue="Computer Vision and Pattern Recognition (CVPR)",
        year=2026,
        arxiv="2601.10649",
        url="https://arxiv.org/abs/2601.10649",
    ),
    published=published(__file__),
)
