"""What the demo's second half is told in the place of language models: replies written by hand, and their questions.

They show what the chains do with replies, and nothing about any model: a server on this machine
sends them as they stand.
"""

import json

from reelbench.studio.diagnosis.asking import ROLES as DIAGNOSIS_ROLES
from tests.servers.judge import Answer, Call
from tests.servers.roles import CAPTIONS as CHAIN_ROLES
from tests.servers.roles import block, text_of

CAPTIONS = {
    "v_kettle": {
        "duration": 60,
        "timestamps": [[0, 18], [19, 36], [37, 58]],
        "sentences": [
            "A woman fills a kettle.",
            "She waits until the water boils.",
            "She pours it over tea.",
        ],
    },
    "v_fence": {
        "duration": 50,
        "timestamps": [[0, 22], [23, 48]],
        "sentences": ["A man paints a fence.", "He goes on painting it."],
    },
}
"""Captions as ActivityNet Captions has them, of videos that nobody filmed."""

ANSWERS = [
    {
        "id": "mini1",
        "prediction": "At 00:00 the square stands on the left. I see no more of it, so it stays there.",
    },
    {
        "id": "mini6",
        "prediction": "One square at 00:00 on the left, one at 00:06 on the right: two squares.",
    },
]
"""Two wrong answers to questions of CURVE's mini data."""

GRAPHS = [
    {
        "id": "mini1",
        "nodes": [
            {
                "id": "n1",
                "evidence": "The square stands at the left edge",
                "timestamp": "0:00",
                "parents": [],
            },
            {
                "id": "n2",
                "evidence": "The square stands at the right edge",
                "timestamp": "0:06",
                "parents": [],
            },
            {
                "id": "n3",
                "evidence": "The square travels right",
                "timestamp": "N/A",
                "parents": ["n1", "n2"],
            },
        ],
    },
    {
        "id": "mini6",
        "nodes": [
            {
                "id": "n1",
                "evidence": "A square is at the left edge",
                "timestamp": "0:00",
                "parents": [],
            },
            {
                "id": "n2",
                "evidence": "A square is at the right edge",
                "timestamp": "0:06",
                "parents": [],
            },
            {
                "id": "n3",
                "evidence": "It is the same square, so there is one",
                "timestamp": "N/A",
                "parents": ["n1", "n2"],
            },
        ],
    },
]
"""The evidence behind the right answers, from the steps that the mini data has of them."""

_IN_ENGLISH = {"Wie viele Quadrate sind zu sehen?": "How many squares are there?"}

_CAUSES = {"travel": {"n2": "temporal"}, "same square": {"n3": "logic"}}
"""What of the answer to each question is wrong, and why."""

_WRONG = {
    "She pours it over tea.": [
        "She washes her hands with it.",
        "She puts out the fire.",
        "She waters the plants.",
    ],
    "She wants to make tea.": [
        "She wants to clean it.",
        "She wants to water plants.",
        "She wants to warm her hands.",
    ],
    "She waits until the water boils.": [
        "She reads the paper.",
        "She lays the table.",
        "She opens the window.",
    ],
}


def _types(first: tuple[str, str], second: tuple[str, str]) -> dict[str, dict[str, str]]:
    return {
        f"Type{number}": {"Question": question, "Answer": answer}
        for number, (question, answer) in enumerate((first, second), start=1)
    }


def _relation(call: Call) -> dict[str, object]:
    first, *_, last = json.loads(block(call, "captions"))
    # Painting goes on: one action, and no question on two.
    rating, alike = (0, 3) if "fence" in text_of(call) else (3, 0)
    events = {"event1": first["caption"], "event1_timestamp": first["timestamp"]}
    events |= {
        "event2": last["caption"],
        "event2_timestamp": last["timestamp"],
        "Similarity": alike,
    }
    return {
        **events,
        **dict.fromkeys(("Directness", "Necessity", "Intentionality", "Purpose"), rating),
    }


def _sequential(call: Call) -> dict[str, object]:
    first, second, *_ = json.loads(block(call, "captions"))
    events = {"pre-event": first["caption"], "pre-event_timestamp": first["timestamp"]}
    events |= {"post-event": second["caption"], "post-event_timestamp": second["timestamp"]}
    return events | _types(
        (f"What comes after this: {first['caption']}", second["caption"]),
        (f"What comes before this: {second['caption']}", first["caption"]),
    )


def _verification(call: Call) -> dict[str, int]:
    return {"case_1_score": 1 if "fence" in text_of(call) else 3, "case_2_score": 1}


def _means(_: Call) -> dict[str, dict[str, str]]:
    return _types(
        ("What does the woman fill the kettle for?", "She pours it over tea."),
        ("How does the woman get hot water for her tea?", "She fills a kettle."),
    )


def _options(call: Call) -> dict[str, str]:
    answer = block(call, "answer")
    wrong = {f"wrong_answer_{number}": text for number, text in enumerate(_WRONG[answer], start=1)}
    return {"correct_answer": answer, **wrong}


def _translator(call: Call) -> str:
    return _IN_ENGLISH.get(block(call, "text"), block(call, "text"))


def _tagger(call: Call) -> dict[str, object]:
    causes = next(causes for word, causes in _CAUSES.items() if word in text_of(call))
    asked = [node["id"] for node in json.loads(block(call, "graph"))["nodes"] if node["asked"]]
    return {
        "nodes": [
            {
                "id": key,
                "found": "no" if key in causes else "yes",
                "causes": [causes[key]] if key in causes else [],
            }
            for key in asked
        ]
    }


_REPLIES = {
    "relation": _relation,
    "sequential": _sequential,
    "cause_effect": _means,
    "means_to_an_end": _means,
    "verification": _verification,
    "options": _options,
    "translator": _translator,
    "tagger": _tagger,
    "judge": lambda _: 0,
}


def reply(call: Call) -> Answer:
    """Answer as the role whose name the request has for its model."""
    said = _REPLIES[call.body["model"]](call)
    return Answer(said if isinstance(said, str) else json.dumps(said))


MADE, DIAGNOSED = (
    [part for role in roles for part in ("--llm", f"{role}={role}")]
    for roles in (CHAIN_ROLES, DIAGNOSIS_ROLES)
)
"""Options by which each role is asked under its own name, of `make moments` and of `diagnose errors`."""
