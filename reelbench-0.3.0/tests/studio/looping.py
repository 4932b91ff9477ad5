"""A diagnosis driven at its public seam: its models behind a local server, the model under test by a plain client.

python -m tests.studio.looping URL OUT QUESTIONS KEY    the loop as a process of its own, known by its API key
"""

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from reelbench.llm.ask_options import AskOptions
from reelbench.scoring.answers.reasoning import last_line
from reelbench.studio.diagnosis.asking import ROLES, DiagnosisPrompts, RoleModels
from reelbench.studio.diagnosis.folder import Attempt, Folder, ReasonedQuestion
from reelbench.studio.diagnosis.loop import Plan, isolate


def questions(count: int) -> list[ReasonedQuestion]:
    """Return questions in English and Japanese in turn, two on a video."""
    return [
        ReasonedQuestion(
            id=f"q{n}", video=f"v{n // 2}", language=("en-GB", "ja-JP")[n % 2], question=f"Q{n}", answer=f"A{n}",
            reasoning_steps="steps",
        )
        for n in range(count)
    ]  # fmt: skip


class UnderTest:
    """The model under test, asked over the wire; its answer is right where it says so."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.runs: list[list[str]] = []

    def __call__(self, run: Path, _lock: int) -> list[Attempt]:
        cues = [json.loads(line) for line in (run / "cues.jsonl").read_text().splitlines()]
        self.runs.append([cue["id"] for cue in cues])
        return [self._attempt(cue["id"], cue["cue"]) for cue in cues]

    def _attempt(self, key: str, cue: str) -> Attempt:
        messages = [
            {"role": "system", "content": "under test"},
            {"role": "user", "content": f"Asked {key}. {cue}"},
        ]
        request = urllib.request.Request(  # noqa: S310 - a local server
            f"{self._url}/chat/completions",
            json.dumps({"model": "m", "messages": messages}).encode(),
            {"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310
                output = json.load(reply)["choices"][0]["message"]["content"]
        except urllib.error.HTTPError:
            return Attempt(id=key, reason="model_failed")
        return Attempt(
            id=key, answer=last_line(output), output=output, right=last_line(output) == "right"
        )


def run(
    url: str,
    out: Path,
    count: int = 2,
    *,
    under_test: UnderTest | None = None,
    key: str = "none",
    **more: Any,
) -> Folder:
    """Run the loop, one call at a time if nothing else is said, so that what is asked comes in one order."""
    options = AskOptions(
        model="m", url=url, api_key=key, concurrency=more.pop("concurrency", 1), tries=1
    )
    told = more.pop("told", [])
    plan = Plan(
        questions=questions(count),
        graphs={},
        models=RoleModels(
            dict.fromkeys(ROLES, options),
            note=told.append,
            prompts=DiagnosisPrompts(more.pop("prompts", None)),
        ),
        about={"benchmark": "test"},
        **more,
    )
    return isolate(plan, under_test or UnderTest(url), out)


if __name__ == "__main__":
    run(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), key=sys.argv[4])
