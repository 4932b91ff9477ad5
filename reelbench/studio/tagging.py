"""CogME's tags by a language model: what each question asks to be understood, by majority of several replies.

The paper had two specialists tag by hand. Tags made here are a machine's: the files beside them
name the model, and how far they agree with people's is to be measured before they are relied upon.
"""

import json
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from reelbench.base.errors import InputError
from reelbench.base.files import read_json, write_json, write_jsonl
from reelbench.llm.ask_result import UNPARSABLE
from reelbench.llm.reading import UnreadableError, read_model
from reelbench.registry.rows import LETTERS, Row
from reelbench.scoring.cognitive_profile import (
    COMPONENTS,
    CONTENT,
    MOST_LABELS,
    TARGET,
    THINKING,
    tags_of,
)
from reelbench.studio.chain import Chain, ChainCase, ChainPrompts, ChainSetup, Role
from reelbench.studio.funnel import DroppedError, Funnel
from reelbench.studio.tag_manual import MANUAL, TagManual, read_manual
from reelbench.studio.video_frames import VideoFrames

_UNSEEN = (
    " You don't see the video itself: say in the reason where the tags hang on what is in view, and tag what the words "
    "make likeliest."
)
"""Told to a tagger without frames."""

_STAND_IN = json.dumps(
    {
        "why": " ".join(["word"] * 30),
        "target": ["Character"],
        "content": ["Identity"],
        "thinking": "Recall",
    }
)


class TagVote(BaseModel):
    """One reply: tags, and why."""

    model_config = ConfigDict(extra="ignore")

    target: list[str]
    content: list[str]
    thinking: str
    why: str = ""


@dataclass(frozen=True)
class Tagger:
    """How to tag."""

    prompts: ChainPrompts
    votes: int
    """Replies for each question."""
    pictures: VideoFrames | None
    """The frames that are shown, if any."""
    visual: Mapping[str, Counter[str]]
    """Media key of a shot -> what its visual metadata counts up to."""

    @property
    def role(self) -> Role:
        """The one role."""
        return self.prompts.roles[0]

    @cached_property
    def manual(self) -> TagManual:
        """What the labels mean; InputError where the user's own manual is wrong."""
        return read_manual(self.prompts.text(MANUAL), str(self.prompts.files[MANUAL]))

    async def tag(self, case: ChainCase[Row]) -> list[TagVote]:
        """Return the replies on one question; DroppedError where half of those wanted, or fewer, could be read."""
        row, role, chain, reasons = case.item, self.role, case.chain, Counter[str]()
        with chain.funnel.stage("questions"):
            shown = []
            if self.pictures and "frames" in role.sees:
                shown = await self.pictures.attachments(row, plan=chain.planning)
            options, answer = row.get("options") or [], row.get("answer") or ""
            if options:
                right = LETTERS.find(answer) if answer else -1
                answer = options[right] if 0 <= right < len(options) else ""
            seen = Counter[str]()
            for key in {row["video"], *(row.get("shots") or ())}:
                seen.update(self.visual.get(key, {}))
            known = {
                "kind": row.get("video_type", ""),
                "question": row["question"],
                "options": "\n".join(f"- {option}" for option in options),
                "answer": answer,
                "subtitles": row.get("subtitles", ""),
                "visual": "\n".join(
                    f"{name}: {count} pictures" for name, count in sorted(seen.items())
                ),
            }
            material = [(name, known[name]) for name in role.sees if known.get(name)]
            unseen = "" if shown else _UNSEEN
            messages = self.prompts.messages(
                role.prompt, material, shown, manual=self.manual.text, unseen=unseen
            )
            cast: list[TagVote] = []
            for vote in range(self.votes):
                try:
                    cast.append(
                        await case.ask(
                            role.name, messages, _read, stand_in=_STAND_IN, vote=vote, id=row["id"]
                        )
                    )
                except DroppedError as error:
                    reasons[error.reason] += 1
            chain.funnel.count("votes", self.votes, reasons)
            if 2 * len(cast) <= self.votes:
                raise DroppedError(reasons.most_common(1)[0][0] if reasons else UNPARSABLE)
        return cast


def _read(reply: str) -> TagVote:
    tagged = read_model(reply, TagVote)
    try:
        tags_of(tagged.model_dump(), "the object")
    except InputError as error:
        raise UnreadableError(str(error)) from None
    return tagged


def majority(cast: Sequence[TagVote]) -> dict[str, Any]:
    """Return the tags that votes come to.

    Of targets and contents, each label that more than half of the replies have, three at most, the
    most frequent first (the paper's order decides between equals). Of thinking the most frequent;
    of several, the lower median of all.
    """
    tags: dict[str, Any] = {}
    for name, labels in (("target", TARGET), ("content", CONTENT)):
        counts = Counter(label for tagged in cast for label in getattr(tagged, name))
        chosen = [label for label in labels if 2 * counts[label] > len(cast)]
        most = sorted(chosen, key=lambda label: -counts[label])[:MOST_LABELS]
        tags[name] = [label for label in labels if label in most]
    levels = [THINKING.index(tagged.thinking) for tagged in cast]
    modes = statistics.multimode(levels)
    tags["thinking"] = THINKING[modes[0] if len(modes) == 1 else statistics.median_low(levels)]
    return tags


def read_visual(path: Path) -> dict[str, Counter[str]]:
    """Read DramaQA's visual metadata -> shot -> in how many pictures each person is, with behaviour and emotion.

    Raises:
        InputError: The file holds something else.
    """
    document = read_json(path)
    if not isinstance(document, dict) or not all(
        isinstance(frames, list) for frames in document.values()
    ):
        raise InputError(
            f"{path}: expected an object of shots with a list of pictures each (AnotherMissOh_visual.json)"
        )
    counts: dict[str, Counter[str]] = {}
    for shot, pictures in document.items():
        counts[shot] = Counter()
        for picture in pictures:
            for person in picture.get("persons") or () if isinstance(picture, dict) else ():
                info = person.get("person_info") or {}
                name = person.get("person_id") or "somebody"
                words = [str(word) for key in ("behavior", "emotion") if (word := info.get(key))]
                counts[shot].update({f"{name} ({', '.join(words)})" if words else name})
    return counts


async def run(rows: Sequence[Row], tagger: Tagger, setup: ChainSetup) -> dict[str, Any]:
    """Tag questions and write the tags to the setup's file, JSON Lines as `--tags` takes them.

    Beside it, with its name: `….reasons.jsonl` (the replies behind each question's tags),
    `….trace.jsonl` and `….funnel.json` (which says what the tags were made by). Returns the plan,
    or else what the funnel's file says.

    Raises:
        ReelbenchError: The cache of replies can't be written.
    """
    out = setup.out
    chain = Chain(setup, tagger.prompts, Funnel("votes", "questions"))
    tags, reasons = [], []
    async with chain.asking():
        for row, cast in zip(rows, await chain.run(rows, tagger.tag), strict=True):
            if cast is not None:
                tags.append({"qid": row["id"], **majority(cast)})
                reasons.append(
                    {"qid": row["id"], "votes": [tagged.model_dump() for tagged in cast]}
                )
        if out is None:
            return chain.plan()
        frames = "none" if tagger.pictures is None else tagger.pictures.sampling.spec(form=True)
        settings = {"votes": tagger.votes, "frames": frames, "components": list(COMPONENTS)}
        document = chain.account({}, settings, made_by="machine").model_dump(
            mode="json", by_alias=True
        )
        write_jsonl(out, tags)
        write_jsonl(out.with_suffix(".reasons.jsonl"), reasons)
        chain.save_trace(out.with_suffix(".trace.jsonl"))
        write_json(out.with_suffix(".funnel.json"), document)
        return document
