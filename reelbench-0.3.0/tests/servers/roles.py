"""All roles of the chains in `reelbench make`, played by scripts for the server in `tests.servers.judge`.

A role is told by the model's name that it is asked under (`--llm expert=expert`). What a script
says depends on the request alone, so that any two runs get the same replies.

As its own process:    python -m tests.servers.roles --delay 0.02        (prints its URL; GET /calls counts)
"""

import hashlib
import json
import re

from tests.servers.judge import Answer, Call, serve_with_delay

DISCUSSION = ("expert", "skeptic", "detective", "meta_reviewer", "critic")
CAPTIONS = ("relation", "sequential", "cause_effect", "means_to_an_end", "verification", "options")
QUERIES = ("neighbours", "sequential", "cause_effect", "verification", "options")


def text_of(call: Call) -> str:
    """Everything that a request shows, as one text; of attachments the start."""

    def text(part) -> str:
        return part if isinstance(part, str) else part.get("text") or json.dumps(part)[:80]

    contents = [message["content"] for message in call.body["messages"]]
    return "\n".join(text(part) for c in contents for part in ([c] if isinstance(c, str) else c))


def block(call: Call, name: str) -> str:
    """The material that stands between a piece's tags."""
    found = re.search(rf"<{name} ([0-9a-f]{{32}})>\n(.*)\n</{name} \1>", text_of(call), re.DOTALL)
    assert found, f"{name} is not in the request"
    return found[2]


def digest(call: Call) -> str:
    return hashlib.sha256(json.dumps(call.body, sort_keys=True).encode()).hexdigest()[:8]


def fenced(document) -> str:
    return f"A word before it.\n```json\n{json.dumps(document)}\n```"


def questions(call: Call, count: int = 5) -> str:
    tag = digest(call)
    pairs = [
        {
            "id": n,
            "question": f"Why does step {n} of {tag} follow from what came before?",
            "answer": f"Because of {tag}, part {n}; the door in the third scene shows it.",
            "short_answer": f"Because of {tag}.",
            "classification": "Plot_Theme_Integration, Multi_Step_Inference",
        }
        for n in range(1, count + 1)
    ]
    return fenced({"questions": pairs})


def types(one: str, two: str) -> dict:
    return {
        "Type1": {"Question": f"What comes of {one}?", "Answer": f"{two}."},
        "Type2": {"Question": f"Why is there {two}?", "Answer": f"{one}."},
    }


def play(call: Call) -> Answer:  # noqa: PLR0911 - one for each role
    """Play every role of every chain, so that all comes through."""
    role, tag = call.body["model"], digest(call)
    match role:
        case "expert":
            return Answer(questions(call))
        case "judge":
            return Answer('The first is closer to the video. {"better": "A"}')
        case "relation":
            first, *_, last = json.loads(block(call, "captions"))
            ratings = dict.fromkeys(("Directness", "Necessity", "Intentionality", "Purpose"), 3)
            pair = {"event1": first["caption"], "event1_timestamp": first["timestamp"]}
            pair |= {"event2": last["caption"], "event2_timestamp": last["timestamp"]}
            return Answer(fenced({**pair, **ratings, "Similarity": 0}))
        case "sequential":
            first, second, *_ = json.loads(block(call, "captions"))
            pair = {"pre-event": first["caption"], "pre-event_timestamp": first["timestamp"]}
            pair |= {"post-event": second["caption"], "post-event_timestamp": second["timestamp"]}
            return Answer(fenced({**pair, **types(first["caption"], second["caption"])}))
        case "neighbours":
            seen = {"cause": f"rain {tag}", "cause-relevant": "yes", "cause-alignment": "high"}
            seen |= {"effect": f"mud {tag}", "effect-relevant": "Yes", "effect-alignment": "High"}
            return Answer(fenced({"explain": "It is seen.", **seen}))
        case "cause_effect" | "means_to_an_end":
            return Answer(fenced(types(block(call, "event1"), block(call, "event2"))))
        case "verification":
            return Answer(fenced({"case_1_score": 3, "case_2_score": 3}))
        case "options":
            wrong = {f"wrong_answer_{n}": f"Something else, {n} of {tag}." for n in (1, 2, 3)}
            return Answer(fenced({"correct_answer": block(call, "answer"), **wrong}))
        case "tagger":
            tags = {
                "target": ["Character"],
                "content": ["Identity", "Context"],
                "thinking": "Grasping",
            }
            return Answer(fenced({"why": f"So says {tag}.", **tags}))
        case _:
            return Answer(f"{role} says {tag}: look at the third scene again.")


if __name__ == "__main__":
    serve_with_delay(play, __doc__)
