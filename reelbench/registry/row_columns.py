"""The columns of normalised rows, by the kind of the rows."""

from reelbench.registry.spec import Column

ID = Column(name="id", dtype="string", description="Question id, unique in the split.")
VIDEO = Column(
    name="video", dtype="string", description="Media key: which video the question is about."
)
QUESTION = Column(name="question", dtype="string", description="The question as published.")
LANGUAGE = Column(
    name="language", dtype="string", description="Language of the question, as a BCP-47 tag."
)
SPLIT = Column(name="split", dtype="string", description="The split that the row is from.")

TEXT_ANSWER = Column(name="answer", dtype="string", description="Reference answer.")
OPTIONS = Column(
    name="options", dtype="list<string>", description="The options in order, without letters."
)
LETTER_ANSWER = Column(
    name="answer",
    dtype="string",
    description="Letter of the right option (A is the first); empty if hidden.",
)
SPAN = Column(
    name="span",
    dtype="list<float64>",
    unit="s",
    description="Start and end of the part of the video that answers the question; several parts "
    "follow one another; empty if hidden.",
)

_ALL = (ID, VIDEO, QUESTION, LANGUAGE)

KIND_COLUMNS: dict[str, tuple[Column, ...]] = {
    "open": (*_ALL, TEXT_ANSWER),
    "mixed": (*_ALL, OPTIONS, LETTER_ANSWER),
    "choice": (*_ALL, OPTIONS, LETTER_ANSWER),
    "span": (*_ALL, SPAN),
    "grounded_choice": (*_ALL, OPTIONS, LETTER_ANSWER, SPAN),
}
"""Columns by `BenchmarkSpec.row_kind`."""

DURATION = Column(name="duration", dtype="float64", unit="s", description="Length of the video.")
FPS = Column(
    name="fps",
    dtype="float64",
    unit="1/s",
    description="Frames per second, if spans are counted in frames.",
)
REASONING = Column(
    name="reasoning",
    dtype="list<string>",
    description="Steps that lead to the answer, in order.",
)
ASKED = Column(
    name="asked_for",
    dtype="list<string>",
    description="What the question asks for: `choice`, or `exact` or `open`.",
)
GROUP = Column(
    name="counts_with",
    dtype="list<string>",
    description="For items that are scored together: the group, its rule (all, quadratic, chain "
    "or gate), and the item's level in it.",
)
ALSO = Column(
    name="also_right",
    dtype="list<string>",
    description="Further right answers; any of them counts.",
)
CLIP = Column(
    name="clip",
    dtype="list<float64>",
    unit="s",
    description="Start and end of the part of the video that is shown.",
)
VIDEOS = Column(
    name="videos",
    dtype="list<string>",
    description="Media keys of all videos that are shown, if there are several.",
)
PICTURES = Column(
    name="pictures",
    dtype="list<string>",
    description="Paths of pictures that are shown after the video; empty if there are none.",
)

RUBRIC = Column(
    name="rubric",
    dtype="string",
    description="What a judge must look for in the answer to this question.",
)

MOST_OPTIONS = 26
"""Options of a question at most: each has a letter."""

OPTION_COUNT = "option_count"
"""The facet with the number of a question's options, which no column holds."""

OPTIONAL = {
    column.name: column
    for column in (DURATION, FPS, REASONING, ASKED, GROUP, ALSO, CLIP, VIDEOS, PICTURES, RUBRIC)
}
"""Columns that rows of any kind may have."""
