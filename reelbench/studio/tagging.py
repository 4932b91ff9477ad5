"""Tag questions with CogME's components by a language model: the majority of several replies.

The paper had two specialists tag by hand. Tags made here are a machine's: the files beside them
name the model, and how far they agree with people's is to be measured before they are relied upon.
"""

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.config import JsonDict

from reelbench.base.errors import InputError
from reelbench.base.files import read_json, write_json, write_jsonl
from reelbench.llm.ask_result import UNPARSABLE
from reelbench.llm.messages import Message
from reelbench.llm.reading import UnreadableError, read_model
from reelbench.llm.structured import schema_of
from reelbench.registry.rows import LETTERS, Row
from reelbench.scoring.cognitive_profile import (
    COMPONENTS,
    CONTENT,
    MOST_LABELS,
    TARGET,
    THINKING,
    tags_of,
)
from reelbench.studio.chain import Chain, ChainCase, ChainPrompts, ChainSetup, Role, filler_text
from reelbench.studio.funnel import DroppedError, Funnel
from reelbench.studio.tag_manual import MANUAL, TagManual, read_manual
from reelbench.studio.video_frames import VideoFrames

_UNSEEN = (
    " You don't see the video itself: say in the reason where the tags hang on what is in view, "
    "and tag what the words make likeliest."
)
"""Said to a tagger without frames."""

_STAND_IN = json.dumps(
    {
        "why": filler_text(30),
        "target": ["Character"],
        "content": ["Identity"],
        "thinking": "Recall",
    }
)


def _label_list_schema(labels: Sequence[str]) -> JsonDict:
    """Return the schema of a list of labels."""
    return {"items": {"enum": list(labels)}, "maxItems": MOST_LABELS}


class TagVote(BaseModel):
    """One reply: tags, and why."""

    model_config = ConfigDict(extra="ignore")

    target: list[str] = Field(json_schema_extra=_label_list_schema(TARGET))
    content: list[str] = Field(json_schema_extra=_label_list_schema(CONTENT))
    thinking: str = Field(json_schema_extra={"enum": list(THINKING)})
    why: str = ""


@dataclass(frozen=True)
class Tagger:
    """The settings of tagging: prompts, replies a question, and material."""

    prompts: ChainPrompts
    votes: int
    """Replies for each question."""
    pictures: VideoFrames | None
    """The frames that are shown, if any."""
    visual: Mapping[str, Counter[str]]
    """The visual metadata of each shot, counted, by media key."""

    @property
    def role(self) -> Role:
        """The one role."""
        return self.prompts.roles[0]

    @cached_property
    def manual(self) -> TagManual:
        """The manual of labels. InputError where the user's own manual is wrong."""
        return read_manual(self.prompts.text(MANUAL), str(self.prompts.files[MANUAL]))

    async def tag(self, case: ChainCase[Row]) -> list[TagVote]:
        """Return the replies on one question.

        Raises:
            DroppedError: Half of the replies or more can't be read.
        """
        with case.chain.funnel.stage("questions"):
            messages = await self._tagging_messages(case)
            votes: list[TagVote] = []
            reasons = Counter[str]()
            for number in range(self.votes):
                try:
                    vote = await case.ask(
                        self.role.name,
                        messages,
                        _parse_vote,
                        stand_in=_STAND_IN,
                        schema=schema_of(TagVote),
                        vote=number,
                        id=case.item["id"],
                    )
                except DroppedError as error:
                    reasons[error.reason] += 1
                else:
                    votes.append(vote)
            case.chain.funnel.count("votes", self.votes, reasons)
            if 2 * len(votes) <= self.votes:
                reason = UNPARSABLE
                if reasons:
                    [(reason, _)] = reasons.most_common(1)
                raise DroppedError(reason)
        return votes

    async def _tagging_messages(self, case: ChainCase[Row]) -> list[Message]:
        """Return the messages that ask for a question's tags."""
        row = case.item
        frames = []
        if self.pictures and "frames" in self.role.sees:
            frames = await self.pictures.attachments(row, plan=case.chain.planning)
        texts = self._texts_for_tagger(row)
        material = [(name, texts[name]) for name in self.role.sees if texts.get(name)]
        unseen = "" if frames else _UNSEEN
        return self.prompts.messages(
            self.role.prompt, material, frames, manual=self.manual.text, unseen=unseen
        )

    def _texts_for_tagger(self, row: Row) -> dict[str, str]:
        """Return the texts on a question that a tagger may be shown."""
        options = row.get("options") or []
        option_lines = [f"- {option}" for option in options]
        visual_counts = Counter[str]()
        for key in {row["video"], *(row.get("shots") or ())}:
            visual_counts.update(self.visual.get(key, {}))
        visual_lines = [
            f"{name}: {count} pictures" for name, count in sorted(visual_counts.items())
        ]
        return {
            "kind": row.get("video_type", ""),
            "question": row["question"],
            "options": "\n".join(option_lines),
            "answer": _answer_text(row),
            "subtitles": row.get("subtitles", ""),
            "visual": "\n".join(visual_lines),
        }


def _answer_text(row: Row) -> str:
    """Return the right answer in words: of a choice, the right option's text."""
    options = row.get("options")
    answer = row.get("answer") or ""
    if not options:
        return answer
    place = LETTERS.find(answer) if answer else -1
    if 0 <= place < len(options):
        return options[place]
    return ""


def _parse_vote(reply: str) -> TagVote:
    vote = read_model(reply, TagVote)
    # Under a schema small models fill their lists with one label: no schema forbids that.
    vote.target = list(dict.fromkeys(vote.target))
    vote.content = list(dict.fromkeys(vote.content))
    try:
        tags_of(vote.model_dump(), "the object")
    except InputError as error:
        raise UnreadableError(str(error)) from None
    return vote


def majority(votes: Sequence[TagVote]) -> dict[str, Any]:
    """Return the tags that votes come to.

    Of targets and contents, each label that more than half of the replies have, three at most, the
    most frequent first (the paper's order decides between equals). Of thinking the most frequent
    level. Where several are equally frequent, the lower median of all.
    """
    levels = [THINKING.index(vote.thinking) for vote in votes]
    modes = statistics.multimode(levels)
    level = modes[0] if len(modes) == 1 else statistics.median_low(levels)
    return {
        "target": _majority_labels([vote.target for vote in votes], TARGET),
        "content": _majority_labels([vote.content for vote in votes], CONTENT),
        "thinking": THINKING[level],
    }


def _majority_labels(votes: Sequence[Iterable[str]], labels: Sequence[str]) -> list[str]:
    """Return the labels that more than half of the votes have, in order."""
    counts: Counter[str] = Counter()
    for vote in votes:
        counts.update(vote)
    majority_labels = [label for label in labels if counts[label] > len(votes) / 2]
    most_frequent_first = sorted(majority_labels, key=counts.__getitem__, reverse=True)
    chosen_labels = most_frequent_first[:MOST_LABELS]
    return [label for label in labels if label in chosen_labels]


def read_visual(path: Path) -> dict[str, Counter[str]]:
    """Read DramaQA's visual metadata.

    Returns:
        For each shot, in how many pictures each person is, with behaviour and emotion.

    Raises:
        InputError: The file holds something else.
    """
    document = read_json(path)
    is_visual = isinstance(document, dict) and all(
        isinstance(pictures, list) for pictures in document.values()
    )
    if not is_visual:
        raise InputError(
            f"{path}: expected an object of shots with a list of pictures each "
            "(AnotherMissOh_visual.json)"
        )
    counts: dict[str, Counter[str]] = {}
    for shot, pictures in document.items():
        counts[shot] = Counter()
        for picture in pictures:
            if not isinstance(picture, dict):
                continue
            for person in picture.get("persons") or ():
                counts[shot][_person_text(person)] += 1
    return counts


def _person_text(person: Mapping[str, Any]) -> str:
    """Return a person's name, with behaviour and emotion where they are known."""
    name = person.get("person_id") or "somebody"
    info = person.get("person_info") or {}
    words = [str(info[key]) for key in ("behavior", "emotion") if info.get(key)]
    if not words:
        return name
    return f"{name} ({', '.join(words)})"


async def run(rows: Sequence[Row], tagger: Tagger, setup: ChainSetup) -> dict[str, Any]:
    """Tag questions and write the tags to the setup's file.

    The file is JSON Lines as `--tags` takes them.
    Beside it, with its name: `….reasons.jsonl` (the replies behind each question's tags),
    `….trace.jsonl` and `….funnel.json` (which says what the tags were made by). Returns the plan,
    or else what the funnel's file says.

    Raises:
        ReelbenchError: The cache of replies can't be written.
    """
    out = setup.out
    chain = Chain(setup, tagger.prompts, Funnel("votes", "questions"))
    tag_lines: list[dict[str, Any]] = []
    reason_lines: list[dict[str, Any]] = []
    async with chain.asking():
        results = await chain.run(rows, tagger.tag)
        for row, votes in zip(rows, results, strict=True):
            if votes is None:
                continue
            replies = [vote.model_dump() for vote in votes]
            tag_lines.append({"qid": row["id"], **majority(votes)})
            reason_lines.append({"qid": row["id"], "votes": replies})
        if out is None:
            return chain.plan()
        frames = "none"
        if tagger.pictures is not None:
            frames = tagger.pictures.sampling.spec(form=True)
        settings = {"votes": tagger.votes, "frames": frames, "components": list(COMPONENTS)}
        account = chain.account({}, settings, made_by="machine")
        document = account.model_dump(mode="json", by_alias=True)
        write_jsonl(out, tag_lines)
        write_jsonl(out.with_suffix(".reasons.jsonl"), reason_lines)
        chain.save_trace(out.with_suffix(".trace.jsonl"))
        write_json(out.with_suffix(".funnel.json"), document)
        return document
