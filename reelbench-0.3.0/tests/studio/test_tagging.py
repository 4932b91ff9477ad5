"""CogME's tags by votes: what is asked, how votes count, and a file that the reader of tags takes."""

import asyncio
import json
import re
from collections import Counter
from importlib import resources

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.scoring.cognitive_profile import read_tags
from reelbench.studio.chain import ChainPrompts, ChainSetup
from reelbench.studio.review.tags import TAGS
from reelbench.studio.tag_manual import our_manual, read_manual
from reelbench.studio.tagging import Tagger, TagVote, majority, read_visual, run
from reelbench.studio.video_frames import VideoFrames
from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import INJECTIONS, adds_up, dropped, stages, valid


def vote(target="", content="", thinking="Recall"):
    return TagVote(target=target.split(), content=content.split(), thinking=thinking)


class TestVotes:
    def test_a_label_needs_more_than_half(self):
        votes = [vote("Object Place"), vote("Object Event"), vote("Place Event"), vote("Object")]
        assert majority(votes)["target"] == ["Object"]  # 3 of 4; the others have 2, which is half

    def test_three_at_most_the_most_frequent_first_named_in_the_papers_order(self):
        votes = [
            *[vote("Emotion Character Object")] * 2,
            *[vote("Emotion Character Place")] * 2,
            vote("Emotion Object Place"),
        ]
        # Emotion 5, Character 4, Object 3, Place 3: of the last two the paper names Object first.
        assert majority(votes)["target"] == ["Character", "Object", "Emotion"]

    def test_no_label_may_have_a_majority(self):
        assert (
            majority([vote(content="Identity"), vote(content="Means"), vote(content="Context")])[
                "content"
            ]
            == []
        )

    @pytest.mark.parametrize(
        ("levels", "expected"),
        [
            ("Recall Grasping Grasping", "Grasping"),
            ("Recall Reasoning", "Recall"),
            ("Recall Grasping Reasoning", "Grasping"),
        ],
    )
    def test_thinking_is_the_most_frequent_else_the_lower_median(self, levels, expected):
        assert majority([vote(thinking=level) for level in levels.split()])["thinking"] == expected


@pytest.fixture
def tag(tmp_path, models):
    def tag(name="dramaqa_cogme_mini", *, votes=3, frames=None, visual=None, limit=2, **changed):
        located = loading.locate(name)
        pictures = VideoFrames(located.spec, frames, None, located.split) if frames else None
        tagger = Tagger(ChainPrompts("tags"), votes, pictures, visual or {})
        out = tmp_path / "tags.jsonl"
        rows = [{**row, **changed} for row in located.read()[:limit]]
        document = asyncio.run(run(rows, tagger, ChainSetup(models("tagger"), out)))
        assert out is None or document == valid(out.with_suffix(".funnel.json"))
        return rows, out, document

    return tag


def test_questions_are_asked_with_what_is_known_and_tags_are_read(tag, server):
    rows, out, document = tag()
    tags = read_tags(out)
    assert list(tags) == [row["id"] for row in rows]
    assert tags[rows[0]["id"]].content == ("Identity", "Context")
    shown = roles.text_of(server.calls[0])
    right = rows[0]["options"]["ABCDE".index(rows[0]["answer"])]
    assert roles.block(server.calls[0], "question") == rows[0]["question"]
    assert roles.block(server.calls[0], "answer") == right
    assert all(option in roles.block(server.calls[0], "options") for option in rows[0]["options"])
    assert rows[0]["subtitles"] in shown
    assert stages(document) == {"votes": (6, 6), "questions": (2, 2)}
    assert (len(server.calls), document["made_by"]) == (6, "machine")


def test_frames_and_counts_of_the_visual_metadata_are_shown(tag, server):
    row = loading.locate("dramaqa_cogme_mini").read()[0]
    tag(
        frames="uniform:2,as=images",
        visual={row["video"]: Counter({"Quad (sit, Neutral)": 3})},
        limit=1,
        votes=1,
    )
    (call,) = server.calls
    assert [part["type"] for part in call.body["messages"][1]["content"]] == [
        "text",
        "image_url",
        "image_url",
    ]
    assert roles.block(call, "visual") == "Quad (sit, Neutral): 3 pictures"
    assert "don't see the video" not in call.system


@pytest.mark.parametrize(
    ("frames", "sent"), [("uniform:4", ["image_url"] * 4), ("uniform:4,as=clip", ["video_url"])]
)
def test_frames_are_pictures_unless_a_clip_is_asked_for(tag, server, frames, sent):
    _, _, document = tag(frames=frames, limit=1, votes=1)
    (call,) = server.calls
    assert [part["type"] for part in call.body["messages"][1]["content"]] == ["text", *sent]
    assert document["settings"]["frames"] == (
        "uniform:4,as=images" if len(sent) > 1 else "uniform:4,as=clip"
    )


def test_a_tagger_that_sees_nothing_is_told_and_it_is_on_record(tag, server):
    _, _, document = tag(limit=1, votes=1)
    assert "You don't see the video itself" in server.calls[0].system
    assert document["settings"]["frames"] == "none"


class TestManual:
    def test_the_prompt_holds_it_and_the_page_has_its_examples(self, tag, server):
        tag(limit=1, votes=1)
        assert our_manual().text in server.calls[0].system
        # Figure 2's two questions.
        examples = [
            line.removeprefix("For example: ")
            for line in TAGS.advice
            if line.startswith("For example")
        ]
        assert len(examples) == 2
        assert all(example in " ".join(server.calls[0].system.split()) for example in examples)
        assert (
            "Character, Conversation, Emotion; content Context, Motivation; thinking Reasoning"
            in examples[1]
        )

    def test_a_manual_of_ones_own_has_cogmes_labels(self):
        text = (resources.files("reelbench.studio") / "prompts" / "tags" / "manual.yaml").read_text(
            "utf-8"
        )
        assert (
            "- Character: whoever is in the"
            in read_manual(text.replace("who appears in", "whoever is in"), "x").text
        )
        with pytest.raises(InputError, match=r"mine.yaml, the object: .*CogME's labels"):
            read_manual(text.replace("      Means: the tool", "      Tool: the tool"), "mine.yaml")


@pytest.mark.parametrize("name", ["moviecore_mini", "curve_mini", "rextime_mini"])
def test_other_benchmarks_are_tagged_too(tag, server, name):
    rows, out, _ = tag(name, limit=1, votes=1)
    assert list(read_tags(out)) == [rows[0]["id"]]
    assert roles.block(server.calls[0], "answer")


@pytest.mark.parametrize("text", INJECTIONS)
def test_questions_that_give_orders_are_material(tag, server, text):
    def script(_call):
        # A tagger that repeats what it was told to say, as its reason.
        tags = {"target": ["Character"], "content": ["Identity"], "thinking": "Recall"}
        return Answer(json.dumps({"why": text, **tags}))

    server.script(script)
    options = [text, "a door", "a lamp", "a boat", "a rope"]
    rows, out, document = tag(
        limit=1, question=text, options=options, answer="A", subtitles=text, votes=1
    )
    (call,) = server.calls
    system, user = (message["content"] for message in call.body["messages"])
    (mark,) = re.findall(r"carry the mark ([0-9a-f]{32})\.", system)
    assert mark not in text
    names = ["kind", "question", "options", "answer", "subtitles"]
    assert re.findall(rf"</?(\w+) {mark}>", user) == [name for name in names for _ in range(2)]
    assert [roles.block(call, name) for name in ("question", "answer", "subtitles")] == [text] * 3
    tags = json.loads(out.read_text())
    assert tags == {
        "qid": rows[0]["id"],
        "target": ["Character"],
        "content": ["Identity"],
        "thinking": "Recall",
    }
    assert adds_up(document)


def test_a_wrong_label_is_asked_again_with_what_was_likely_meant(tag, server):
    def script(call):
        answer = roles.play(call)
        if len(call.body["messages"]) == 2:
            answer.content = answer.content.replace("Identity", "Identities")
        return answer

    server.script(script)
    _, _, document = tag(limit=1, votes=1)
    assert "did you mean Identity?" in server.calls[1].body["messages"][-1]["content"]
    assert stages(document)["questions"] == (1, 1)


def test_reasons_are_kept_beside_the_tags(tag, tmp_path):
    rows, _, _ = tag(limit=1)
    (kept,) = [
        json.loads(line) for line in (tmp_path / "tags.reasons.jsonl").read_text().splitlines()
    ]
    assert kept["qid"] == rows[0]["id"]
    assert [one["why"].startswith("So says") for one in kept["votes"]] == [True] * 3


def test_with_half_of_the_votes_or_fewer_there_are_no_tags(tag, server):
    server.script(lambda call: roles.play(call) if call.number == 0 else Answer(status=400))
    _, out, document = tag(limit=1, votes=2)
    assert dropped(document, "votes") == {"rejected": 1}
    assert dropped(document, "questions") == {"rejected": 1}
    assert out.read_text() == ""
    assert adds_up(document)


def test_the_visual_metadata_is_counted(tmp_path):
    person = {"person_id": "Haeyoung", "person_info": {"behavior": "walk", "emotion": "Joy"}}
    path = tmp_path / "visual.json"
    path.write_text(
        json.dumps(
            {"E14_001_0001": [{"persons": [person]}, {"persons": [person, {"person_id": "Deogi"}]}]}
        )
    )
    assert read_visual(path) == {"E14_001_0001": {"Haeyoung (walk, Joy)": 2, "Deogi": 1}}
    path.write_text("[1]")
    with pytest.raises(InputError, match="expected an object of shots"):
        read_visual(path)


def test_the_command_tags_by_five_votes(reelbench, server, tmp_path):
    out = tmp_path / "tags.jsonl"
    model = ["--llm", "tagger", "--llm-url", server.url]
    done = reelbench("make", "tags", "dramaqa_cogme_mini", "--out", out, "--limit", 2, *model)
    assert done.returncode == 0, done.stderr
    assert len(server.calls) == 10
    assert len(read_tags(out)) == 2
