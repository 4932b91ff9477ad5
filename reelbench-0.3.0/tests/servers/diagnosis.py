"""All models of a diagnosis behind one local server, told apart by what they are asked.

The tagger calls a node lost where its evidence stands nowhere in what the model under test wrote,
unless it is scripted otherwise. The model under test writes what its cue says (or nothing), and is
right where its cue holds a given fact.

As its own process:    python -m tests.servers.diagnosis --delay 0.2
"""

import argparse
import asyncio
import contextlib
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.servers.judge import Answer, Call, serve

JOINED = (("a", "00:00", ()), ("b", "00:06", ()), ("c", "N/A", ("a", "b")))
"""Two moments, and what follows from both."""
CHAIN = (
    ("n1", "00:01", ()),
    ("n2", "00:02", ("n1",)),
    ("n3", "00:03", ("n2",)),
    ("n4", "N/A", ("n3",)),
)
"""Each rests on the one before."""

UNDER_TEST = "under_test"
_WORDS = {
    "graph": "graph of evidence",
    "tagger": "You compare",
    "translator": "translate into English",
    UNDER_TEST: "under test",
}


def graph_of(question: str, nodes: Any = JOINED) -> dict[str, Any]:
    """Return a question's graph; its evidence is told from any other question's."""
    return {
        "nodes": [
            {
                "id": key,
                "evidence": f"{question} {key}",
                "timestamp": time,
                "parents": list(parents),
            }
            for key, time, parents in nodes
        ]
    }


def material(call: Call, tag: str) -> str:
    """Return a block of the material in a request; "" where there is none."""
    match = re.search(rf"<{tag} ([0-9a-f]+)>\n(.*?)\n</{tag} \1>", call.user, re.DOTALL)
    return match[2] if match else ""


def role_of(call: Call) -> str:
    """Return which of the roles is asked."""
    first = call.system.partition("\n")[0]
    return next((role for role, words in _WORDS.items() if words in first), "judge")


@dataclass
class Models:
    """Answers for all roles.

    Attributes:
        nodes: The shape of every graph.
        fact: Id of the node whose evidence makes the model under test right, once its cue holds it.
        heeds: Whether the model under test takes up what its cue says.
        scripted: (call, role) -> what to answer instead, or None.
        calls: Role -> requests that were answered.
    """

    nodes: Any = JOINED
    fact: str | None = None
    heeds: bool = True
    scripted: Callable[[Call, str], Answer | None] = lambda _call, _role: None
    calls: Counter[str] = field(default_factory=Counter)

    def __call__(self, call: Call) -> Answer:
        role = role_of(call)
        answer = self.scripted(call, role) or Answer(getattr(self, f"_{role}")(call))
        self.calls[role] += 1
        return answer

    def _graph(self, call: Call) -> str:
        return json.dumps(graph_of(material(call, "question"), self.nodes))

    def _translator(self, call: Call) -> str:
        return f"in English: {material(call, 'text')}"

    def _judge(self, _call: Call) -> str:
        return "0"

    def _under_test(self, call: Call) -> str:
        right = self.fact is not None and f" {self.fact}" in call.user
        return f"{call.user if self.heeds else 'I saw nothing.'}\n{'right' if right else 'wrong'}"

    def _tagger(self, call: Call) -> str:
        nodes = json.loads(material(call, "graph"))["nodes"]
        output = material(call, "output")
        lost = {node["id"] for node in nodes if node["evidence"] not in output}
        return findings(call, dict.fromkeys(lost, "temporal"))


def findings(call: Call, causes: dict[str, str]) -> str:
    """Return a tagger's reply: node -> cause of what is wrong with it; the others that are asked about are right."""
    asked = [node["id"] for node in json.loads(material(call, "graph"))["nodes"] if node["asked"]]
    return json.dumps(
        {
            "nodes": [
                {
                    "id": key,
                    "found": "no" if key in causes else "yes",
                    "causes": [causes[key]] if key in causes else [],
                }
                for key in asked
            ]
        }
    )


def main() -> None:
    """Serve scripted models as a process of its own; prints its URL (GET /calls counts)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds for every reply")
    delay = parser.parse_args().delay
    models = Models(nodes=CHAIN)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(serve(0, lambda call: replace(models(call), delay=delay)))


if __name__ == "__main__":
    main()
