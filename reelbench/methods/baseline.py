"""`--model reelbench_baseline`: answers made without looking, so that every table has a floor.

    lmms-eval --tasks rextime --model reelbench_baseline --model_args kind=whole_video

It reads the row and never the video: what it scores, a model must beat. The kinds differ in what
they do where a question has options or a span. An open question gets a text in every kind.
"""

import hashlib
import json
import os
import random
from collections.abc import Mapping
from typing import Any

from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms

from reelbench.base.errors import InputError
from reelbench.registry.rows import LETTERS

KINDS = ("whole_video", "first_option", "echo", "random")


def _baseline_answer(kind: str, doc: Mapping[str, Any], draw: random.Random) -> str:
    """Return the answer to a row's question.

    `whole_video` is the whole video and option A, `first_option` option A and no span. An open
    question gets itself. `echo` is the question whatever is asked for: text that is on the topic
    and answers nothing. `random` is an option and a span drawn evenly; for an open question its
    words in random order.
    """
    options = doc.get("options")
    question = str(doc["question"])
    if kind == "echo" or not options:
        if kind != "random":
            return question
        words = question.split()
        draw.shuffle(words)
        return " ".join(words)
    duration = doc.get("duration")
    letter = "A"
    span = None
    if kind == "whole_video" and duration is not None:
        span = [0.0, duration]
    if kind == "random":
        if duration:
            span = sorted(draw.uniform(0.0, duration) for _ in range(2))
        letter = draw.choice(LETTERS[: len(options)])
    if span is None:
        return json.dumps({"answer": letter})
    return json.dumps({"span": span, "answer": letter})


class _Baseline(lmms):
    """A model of lmms-eval's that answers by `kind`.

    `seed` decides the random answers, each by its question's id and not by the order of asking.
    """

    def __init__(self, kind: str = "whole_video", seed: int = 0, **kwargs: Any) -> None:  # noqa: ANN401
        super().__init__()
        if kind not in KINDS:
            raise InputError(
                f"reelbench_baseline: kind={kind!r} is unknown; there are {', '.join(KINDS)}"
            )
        # lmms-eval passes these to every model beside the user's --model_args; anything else is a
        # typo.
        unknown = kwargs.keys() - {"batch_size", "device", "max_batch_size", "system_prompt"}
        if unknown:
            names = ", ".join(sorted(unknown))
            raise InputError(f"reelbench_baseline: unknown --model_args {names}; use kind, seed")
        self.kind = kind
        self.seed = int(seed)
        # The questions are shared with the other processes of a `torchrun` or `accelerate launch`.
        self._rank = int(os.environ.get("RANK", "0"))
        self._world_size = int(os.environ.get("WORLD_SIZE", "1"))
        if self._world_size > 1:
            import torch
            from accelerate import Accelerator

            self.accelerator = Accelerator(cpu=True)
            self.device = torch.device("cpu")  # where lmms-eval counts each rank's questions

    def loglikelihood(self, requests: list[Instance]) -> list[tuple[float, bool]]:
        """Raise NotImplementedError: our tasks generate."""
        raise NotImplementedError("reelbench_baseline generates answers; it has no likelihoods")

    def generate_until_multi_round(self, requests: list[Instance]) -> list[str]:
        """Raise NotImplementedError: our tasks have one round."""
        raise NotImplementedError("reelbench_baseline answers in one round")

    def generate_until(self, requests: list[Instance]) -> list[str]:
        """Answer every request from its row."""
        texts = []
        for request in requests:
            # Both layouts of a request end in (..., doc_id, task, split).
            doc_id, task, split = request.arguments[-3:]
            doc = self.task_dict[task][split][doc_id]
            if "question" not in doc or "id" not in doc:
                raise InputError(
                    f"reelbench_baseline answers Reelbench's tasks only; {task} is not one"
                )
            digest = hashlib.sha256(f"{self.seed} {task} {doc['id']}".encode()).digest()
            draw = random.Random(digest)  # noqa: S311 - a seeded draw, not a secret
            texts.append(_baseline_answer(self.kind, doc, draw))
        return texts


class SimpleBaseline(_Baseline):
    """The baseline for lmms-eval's simple models (`--force_simple`)."""

    is_simple = True


class ChatBaseline(_Baseline):
    """The baseline for lmms-eval's chat models."""

    is_simple = False
