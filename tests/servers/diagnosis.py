"""The models of a diagnosis behind one local server, told apart by what they are asked: graph, tagger, translator.

The tagger is scripted by question and round: `Tags` says which nodes are wrong, and with what cause. The model under
test is scripted too: it holds evidence once a cue has given it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.servers.judge import Answer, Call

NODES = (("a", "00:00", []), ("b", "00:06", []), ("c", "N/A", ["a", "b"]))
"""A trace of three steps as a graph: two moments, and what follows from both."""


def graph_of(name: str) -> dict[str, object]:
    """Return a question's graph; its evidence is told from any other question's."""
    nodes = [
        {"id": key, "evidence": f"{name}-{key}", "timestamp": time, "parents": above} for key, time, above in NODES
    ]
    return {"nodes": nodes}


def material(call: Call, tag: str) -> str:
    """Return a block of the material in a request."""
    match = re.search(rf"<{tag} ([0-9a-f]+)>\n(.*?)\n</{tag} \1>", call.user, re.DOTALL)
    return match[2] if match else ""


def role_of(call: Call) -> str:
    """Return which of the roles is asked."""
    for role, words in (
        ("graph", "graph of evidence"),
        ("tagger", "compare"),
        ("translator", "translate into English"),
    ):
        if words in call.system.partition("\n")[0]:
            return role
    return "judge"


Causes = dict[str, str]
"""Node -> the cause of what is wrong with it; a node that is not there is right."""


@dataclass
class Models:
    """Answers for all roles.

    Attributes:
        causes: (what the model under test wrote, the cues it had, vote) -> what is wrong. By default a node is lost
            unless its evidence stands in what the model wrote.
    """

    causes: Callable[[str, str, list[str]], Causes] | None = None
    judge: Callable[[Call], str] = lambda _: "0"
    before: Callable[[Call, str], Answer | None] = lambda _call, _role: None
    asked: dict[str, int] = field(default_factory=dict)

    def __call__(self, call: Call) -> Answer:
        role = role_of(call)
        special = self.before(call, role)
        if special is not None:
            return special
        self.asked[role] = self.asked.get(role, 0) + 1
        return Answer(getattr(self, f"_{role}")(call))

    def _graph(self, call: Call) -> str:
        return json.dumps(graph_of(material(call, "question")))

    def _translator(self, call: Call) -> str:
        return f"in English: {material(call, 'text')}"

    def _judge(self, call: Call) -> str:
        return self.judge(call)

    def _tagger(self, call: Call) -> str:
        graph = json.loads(material(call, "graph"))["nodes"]
        output = material(call, "output")
        evidence = [node["evidence"] for node in graph]
        if self.causes is None:
            wrong = {node["id"]: "temporal" for node in graph if node["evidence"] not in output}
        else:
            wrong = self.causes(output, material(call, "cues"), evidence)
        nodes = [
            {
                "id": node["id"],
                "found": "no" if node["id"] in wrong else "yes",
                "causes": [wrong[node["id"]]] if node["id"] in wrong else [],
            }
            for node in graph
            if node["asked"]
        ]
        return json.dumps({"nodes": nodes})
