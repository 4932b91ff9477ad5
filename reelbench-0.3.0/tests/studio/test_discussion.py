"""A discussion, played by a server: who is asked what and in which order, what is kept, and what goes wrong."""

import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from reelbench.base.errors import InputError
from reelbench.data import loading
from reelbench.llm.budget import Budget
from reelbench.llm.pace import FIRST
from reelbench.studio.chain import ChainPrompts
from reelbench.studio.discussion import Discussion, DiscussionOptions
from reelbench.studio.discussion_files import read_videos
from reelbench.video import mini_clips
from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import INJECTIONS, adds_up, dropped, files_in, read, stages, video

ROLES = roles.DISCUSSION


def trace(folder):
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]


class TestTheOrder:
    def test_each_role_speaks_in_turn_and_sees_all_that_was_said_before(self, discuss, server):
        folder, _ = discuss(1)
        assert [call.body["model"] for call in server.calls] == [*ROLES, "expert"]
        said = []
        for call, line in zip(server.calls, trace(folder), strict=True):
            shown = roles.text_of(call)
            assert "Who opens door 0?" in shown
            assert "answer 7 on film 0" in shown
            assert "genre 0" in shown
            assert all(words in shown for words in said)
            said.append(
                re.search(r"because of (\w+)", line["reply"], re.IGNORECASE)[1]
                if line["role"] == "expert"
                else line["reply"]
            )

    def test_the_questions_of_the_last_turn_are_kept_and_those_of_the_first_beside_them(
        self, discuss, server
    ):
        folder, _ = discuss(1)
        first, last = roles.digest(server.calls[0]), roles.digest(server.calls[-1])
        assert all(last in one["question"] for one in read(folder, "annotations.json").values())
        assert all(first in one["question"] for one in read(folder, "single_pass.json").values())

    def test_rounds_repeat_the_review(self, discuss, server):
        folder, document = discuss(1, rounds=3)
        turn = [*ROLES[1:], "expert"]
        assert [call.body["model"] for call in server.calls] == ["expert", *turn * 3]
        assert [line["round"] for line in trace(folder)] == [0, *[1] * 5, *[2] * 5, *[3] * 5]
        assert adds_up(document)

    def test_other_roles_may_take_part_and_see_less(self, discuss, server, tmp_path):
        mine = tmp_path / "mine"
        mine.mkdir()
        (mine / "historian.txt").write_text("Speak of the past. {questions} questions are wanted.")
        (mine / "roles.yaml").write_text(
            "roles:\n- {name: expert, prompt: expert.txt, sees: [qa, historian]}\n"
            "- {name: historian, prompt: historian.txt, sees: [expert]}\n"
        )
        _, document = discuss(1, ("expert", "historian"), prompts=mine)
        assert [call.body["model"] for call in server.calls] == ["expert", "historian", "expert"]
        assert "Who opens door 0?" not in roles.text_of(server.calls[1])
        assert "historian says" in roles.text_of(server.calls[2])
        assert "genre 0" not in roles.text_of(server.calls[2])
        assert {"historian.txt", "roles.yaml"} <= document["prompts"].keys()

    def test_who_sees_what_is_not_there_is_told(self, tmp_path):
        (tmp_path / "roles.yaml").write_text(
            "roles:\n- {name: expert, prompt: expert.txt, sees: [plot]}\n- {name: b, prompt: expert.txt, sees: []}\n"
        )
        with pytest.raises(InputError, match="expert sees 'plot'"):
            Discussion(ChainPrompts("discussion", tmp_path), DiscussionOptions())


class TestTheFiles:
    def test_annotations_are_read_by_the_registry_with_all_that_they_say(self, discuss):
        folder, document = discuss(3)
        for name in ("annotations.json", "single_pass.json"):
            rows = loading.locate("moviecore", "test", folder / name).read()
            assert [row["id"] for row in rows] == [
                f"film{n}_{k}" for n in range(3) for k in range(1, 6)
            ]
            assert rows[0]["caption"] == "answer 0 on film 0"
            assert rows[1]["caption"] == ""
            assert rows[0]["classification"] == ["Plot_Theme_Integration", "Multi_Step_Inference"]
        assert stages(document)["questions"] == (15, 15)
        assert adds_up(document)

    def test_the_funnel_says_what_was_asked_of_whom(self, discuss):
        folder, document = discuss(2)
        assert document == read(folder, "funnel.json")
        assert document["calls"] == 12
        assert document["cached"] == 0
        assert document["tokens"] == {"prompt": 1200, "completion": 120}
        assert document["models"]["expert"] == {"asked": "expert", "returned": {"expert-0001": 4}}
        assert {"expert.txt", "material.txt", "roles.yaml"} <= document["prompts"].keys()

    def test_the_trace_has_each_reply_with_its_messages_and_tokens(self, discuss, server):
        folder, _ = discuss(1)
        lines = trace(folder)
        assert [line["messages"] for line in lines] == [
            call.body["messages"] for call in server.calls
        ]
        assert {line["model"] for line in lines} == {f"{role}-0001" for role in ROLES}
        assert {line["video"] for line in lines} == {"film0"}
        assert lines[0]["tokens"] == {"prompt": 100, "completion": 10}

    def test_the_questions_go_into_a_profile(self, discuss, reelbench):
        folder, _ = discuss(1)
        done = reelbench(
            "profile",
            "moviecore",
            "--data",
            folder / "annotations.json",
            "--split",
            "test",
            "--json",
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["rows"] == 5


class TestWhatIsRead:
    @pytest.mark.parametrize("form", ["object", "list"])
    def test_moviechats_questions_are_grouped_by_video(self, tmp_path, form):
        asked = [
            {
                "question": f"q{n}",
                "answer": f"a{n}",
                "question_id": f"{v}_{n}",
                "video": v,
                "class": "movie",
                "fps": 10,
            }
            for v in ("17", "9")
            for n in (1, 2, 3)
        ]
        path = tmp_path / "chat.json"
        path.write_text(
            json.dumps(asked if form == "list" else {one["question_id"]: one for one in asked})
        )
        known = read_videos(path, 8)
        assert [one.name for one in known] == ["17", "9"]
        assert [pair.question for pair in known[1].qa] == ["q1", "q2", "q3"]
        assert known[0].shown_metadata == {"class": "movie"}
        assert known[0].context is None

    def test_a_videos_own_file_of_moviechat(self, tmp_path):
        path = tmp_path / "AWA-6.json"
        info = {"video_path": "AWA-6.mp4", "class": "Documentary", "time": "day"}
        path.write_text(
            json.dumps({"info": info, "caption": "x", "global": [{"question": "q", "answer": "a"}]})
        )
        (only,) = read_videos(path, 8)
        assert (only.name, only.shown_metadata) == (
            "AWA-6",
            {"class": "Documentary", "time": "day"},
        )

    @pytest.mark.parametrize(
        ("entries", "said"),
        [
            ([video(0, context=["one"])], "expected 8 answers, none empty; found 1"),
            ([video(0, context=["x"] * 7 + [" "])], "expected 8 answers, none empty"),
            ([video(0), video(0)], "'film0' occurs twice"),
            ([video(0, qa=[{"question": "q"}])], "entry 1, field qa.0.answer"),
            ([{"metadata": {}}], "entry 1, field video"),
            ([[1]], "not an object"),
        ],
    )
    def test_what_is_wrong_is_named(self, videos, entries, said):
        with pytest.raises(InputError, match=re.escape(said)):
            read_videos(videos(entries), 8)


class TestContext:
    def test_a_model_that_sees_the_frames_is_asked_eight_questions(self, discuss, server):
        row = loading.locate("moviecore_mini").read()[0]
        clip = mini_clips.mini_clip("moviecore", row["video"], None)
        media = Path(clip).parent
        given = {"video": Path(clip).stem, "qa": [{"question": "q", "answer": "a"}]}
        folder, document = discuss(
            [given],
            ("context", *ROLES),
            media=media,
            frames="uniform:3,size=64,as=images",
            questions=5,
        )
        shown = [call for call in server.calls if call.body["model"] == "context"]
        assert len(shown) == 8
        pictures = [
            part for part in shown[0].body["messages"][0]["content"] if part["type"] == "image_url"
        ]
        assert len(pictures) == 3
        assert all(
            part["image_url"]["url"].startswith("data:image/jpeg;base64,") for part in pictures
        )
        assert (
            roles.digest(shown[0])
            in read(folder, "annotations.json")[f"{given['video']}_1"]["caption"]
        )
        assert roles.digest(shown[7]) in roles.text_of(server.calls[8])
        assert "sha256:" in json.dumps(trace(folder)[0]["messages"])
        assert stages(document)["context"] == (1, 1)

    @pytest.mark.parametrize(
        ("frames", "sent", "said"),
        [
            (
                "uniform:4,size=64",
                ["image_url"] * 4,
                "You are shown pictures taken in order from one video. Answer",
            ),
            (
                "uniform:4,size=64,as=clip",
                ["video_url"],
                "You are shown a clip made of pictures taken in order from",
            ),
        ],
    )
    def test_frames_are_pictures_unless_a_clip_is_asked_for(
        self, discuss, server, frames, sent, said
    ):
        clip = Path(
            mini_clips.mini_clip(
                "moviecore", loading.locate("moviecore_mini").read()[0]["video"], None
            )
        )
        given = {"video": clip.stem, "qa": [{"question": "q", "answer": "a"}]}
        discuss([given], ("context", *ROLES), media=clip.parent, frames=frames, questions=5)
        content = next(call for call in server.calls if call.body["model"] == "context").body[
            "messages"
        ][0]["content"]
        assert [part["type"] for part in content] == ["text", *sent]
        assert content[0]["text"].startswith(said)

    def test_a_video_that_is_not_here_is_dropped(self, discuss, server):
        _, document = discuss([video(0, context=None), video(1)], ("context", *ROLES))
        assert dropped(document, "context") == {"media_missing": 1}
        assert stages(document)["questions"] == (5, 5)
        assert len(server.calls) == 6

    @pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "a\0b"])
    def test_a_video_whose_name_leads_elsewhere_is_dropped(self, discuss, name):
        _, document = discuss([video(0, video=name, context=None)], ("context", *ROLES))
        assert dropped(document, "context") == {"media_missing": 1}


class TestReplies:
    def test_a_reply_that_does_not_read_is_asked_again_with_the_error(self, discuss, server):
        def script(call):
            if call.body["model"] == "expert" and len(call.body["messages"]) == 2:
                return Answer(roles.questions(call, 4))
            return roles.play(call)

        server.script(script)
        folder, document = discuss(1)
        again = server.calls[1].body["messages"]
        assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
        assert "there are 4, expected 5" in again[-1]["content"]
        assert [line["read"] for line in trace(folder)][:2] == [False, True]
        assert stages(document)["questions"] == (5, 5)

    def test_a_reviewers_reasoning_is_not_what_it_says(self, discuss, server):
        def script(call):
            answer = roles.play(call)
            if call.body["model"] == "skeptic":
                answer.content = f"<think>A draft. {answer.content}</think>\nLook at the door."
            if call.body["model"] == "expert":
                drafts = "".join(f'{{"questions": [{n}]}}, ' for n in range(60))
                answer.content = f"<think>{drafts}</think>{answer.content}"
            return answer

        server.script(script)
        _, document = discuss(1)
        assert roles.block(server.calls[2], "skeptic") == "Look at the door."
        assert stages(document)["questions"] == (5, 5)

    def test_reasoning_that_is_never_closed_is_asked_again(self, discuss, server):
        def script(call):
            again = len(call.body["messages"]) > 2
            return (
                Answer("<think>so")
                if call.body["model"] == "skeptic" and not again
                else roles.play(call)
            )

        server.script(script)
        discuss(1)
        assert (
            "the reply ends before its reasoning does"
            in server.calls[2].body["messages"][-1]["content"]
        )

    def test_what_is_good_of_a_reply_that_never_reads_is_kept_and_the_rest_counted(
        self, discuss, server
    ):
        def script(call):
            if call.body["model"] != "expert":
                return roles.play(call)
            good = json.loads(roles.questions(call, 2).split("```json")[1].rstrip("`"))["questions"]
            return Answer(
                json.dumps({"questions": [*good, good[0], {"question": "Without an answer?"}]})
            )

        server.script(script)
        folder, document = discuss(1)
        assert len(read(folder, "annotations.json")) == 2
        assert dropped(document, "questions") == {"repeated": 1, "unreadable": 1}
        assert Counter(call.body["model"] for call in server.calls)["expert"] == 6
        assert adds_up(document)

    @pytest.mark.parametrize(
        ("role", "answer", "reason"),
        [
            ("expert", Answer("I would rather not."), "unparsable"),
            ("detective", Answer("  "), "unparsable"),
            *((role, Answer(None), "unparsable") for role in ("expert", "detective")),
            *((role, Answer(status=400), "rejected") for role in ("expert", "detective")),
            *((role, Answer(status=500), "unavailable") for role in ("expert", "detective")),
        ],
    )
    def test_a_role_that_gives_nothing_drops_its_video_with_the_reason(
        self, discuss, server, role, answer, reason
    ):
        def script(call):
            silent = call.body["model"] == role and "Who opens door 1?" in roles.text_of(call)
            return answer if silent else roles.play(call)

        server.script(script)
        folder, document = discuss(3)
        assert dropped(document, role) == {reason: 1}
        assert list(read(folder, "annotations.json")) == [
            f"film{n}_{k}" for n in (0, 2) for k in range(1, 6)
        ]
        assert adds_up(document)

    def test_a_role_that_never_answers_ends_the_run_and_the_next_one_goes_on(self, discuss, server):
        def script(call):
            return Answer(delay=60) if call.body["model"] == "detective" else roles.play(call)

        server.script(script)
        _, document = discuss(3, ask={"timeout": 2.0, "tries": 2})
        assert dropped(document, "detective") == {"unavailable": 3}
        before = Counter(call.body["model"] for call in server.calls)
        assert (before["expert"], before["skeptic"]) == (3, 3)
        server.script(roles.play)
        _, document = discuss(3)
        after = Counter(call.body["model"] for call in server.calls) - before
        assert after == {"detective": 3, "meta_reviewer": 3, "critic": 3, "expert": 3}
        assert stages(document)["questions"] == (15, 15)

    def test_a_storm_of_429_is_waited_out(self, discuss, server):
        def script(call):
            return (
                Answer(status=429, headers={"retry-after-ms": "5"})
                if call.number % 3
                else roles.play(call)
            )

        server.script(script)
        _, document = discuss(6)
        assert stages(document)["questions"] == (30, 30)
        assert document["calls"] == 36

    def test_a_server_that_refuses_is_asked_a_few_times(self, discuss, server):
        server.script(lambda _: Answer(status=401))
        _, document = discuss(20)
        assert dropped(document, "expert") == {"refused": 20}
        assert len(server.calls) <= FIRST

    def test_a_budget_is_all_roles_together(self, discuss, server):
        _, document = discuss(10, budget=Budget(calls=12))
        assert len(server.calls) == 12
        assert (
            sum(stage["dropped"].get("budget", 0) for stage in document["stages"])
            == 10 - stages(document)["questions"][1] / 5
        )
        assert adds_up(document)


class TestAgain:
    def test_a_second_run_asks_nothing_and_writes_the_same(self, discuss, server):
        folder, _ = discuss(4, out="one")
        first, calls = files_in(folder), len(server.calls)
        again, document = discuss(4, out="two")
        assert len(server.calls) == calls
        assert (document["calls"], document["cached"]) == (0, calls)
        second = files_in(again)
        assert {**first, "funnel.json": b""} == {**second, "funnel.json": b""}

    def test_the_order_in_which_replies_come_changes_nothing(
        self, discuss, server, monkeypatch, tmp_path
    ):
        def script(call):
            answer = roles.play(call)
            answer.delay = random.random() / 50
            return answer

        server.script(script)
        made = []
        for place in range(2):
            monkeypatch.setenv("REELBENCH_HOME", str(tmp_path / f"home{place}"))
            folder, _ = discuss(8, out=f"out{place}")
            made.append(files_in(folder))
        assert made[0] == made[1]

    def test_calls_in_flight_reach_the_concurrency_and_no_more(self, discuss, server):
        server.script(lambda call: Answer(**{**vars(roles.play(call)), "delay": 0.05}))
        discuss(16)
        assert server.most_in_flight == 4

    def test_a_plan_counts_and_asks_nothing(self, discuss, server):
        _, plan = discuss(3, out=None)
        assert server.calls == []
        assert plan["calls"] == 18
        assert plan["calls_by_role"] == {
            "expert": 6,
            "skeptic": 3,
            "detective": 3,
            "meta_reviewer": 3,
            "critic": 3,
        }
        assert plan["cached"] == 0
        assert plan["tokens"]["prompt"] > 15 * 300
        discuss(1)
        _, plan = discuss(3, out=None)
        assert (plan["calls"], plan["cached"]) == (12, 6)

    @pytest.mark.parametrize("rounds", [1, 2])
    def test_a_plan_counts_the_levels_of_all_texts_as_a_run_does(self, discuss, server, rounds):
        def script(call):
            return Answer("4") if call.body["model"] == "bloom" else roles.play(call)

        server.script(script)
        names = (*ROLES, "bloom")
        _, plan = discuss(5, names, out=None, rounds=rounds)
        # Five questions and five answers, before and after: 20 levels a video, and each role's
        # turns.
        assert plan["calls"] == 5 * (1 + 5 * rounds + 20)
        _, document = discuss(5, names, rounds=rounds)
        assert document["calls"] == len(server.calls) == plan["calls"]
        assert {
            call.body.get("temperature") for call in server.calls if call.body["model"] == "bloom"
        } == {0}
        assert {
            call.body.get("temperature") for call in server.calls if call.body["model"] != "bloom"
        } == {None}


class TestNothingIsLost:
    def test_the_first_questions_stay_where_a_later_role_gives_nothing(self, discuss, server):
        def script(call):
            if call.body["model"] == "expert" and "meta_reviewer says" in roles.text_of(call):
                return Answer("I would rather not.")
            return roles.play(call)

        server.script(script)
        folder, document = discuss(2, (*ROLES, "judge"))
        assert read(folder, "annotations.json") == {}
        assert list(read(folder, "single_pass.json")) == [
            f"film{n}_{k}" for n in (0, 1) for k in range(1, 6)
        ]
        assert dropped(document, "refined") == {"unparsable": 2}
        assert stages(document)["questions"] == stages(document)["judge"] == (0, 0)
        assert read(folder, "comparison.json")["videos"] == 0
        assert adds_up(document)

    def test_the_questions_of_the_last_whole_round_stay(self, discuss, server):
        def script(call):
            said = roles.text_of(call).count("detective says")
            return Answer(" ") if call.body["model"] == "detective" and said else roles.play(call)

        server.script(script)
        folder, document = discuss(1, rounds=2)
        refined = roles.digest(
            [call for call in server.calls if call.body["model"] == "expert"][-1]
        )
        assert all(
            refined in made["question"] for made in read(folder, "annotations.json").values()
        )
        assert dropped(document, "detective 2") == {"unparsable": 1}
        assert stages(document)["questions"] == (5, 5)

    @pytest.mark.parametrize(
        ("words", "kept"),
        [
            ("I'm sorry, but I can't assist with that.", False),
            ("I’m sorry, I cannot help with this request.", False),
            ("As an AI language model, I am unable to review this material.", False),
            ("I can't help but notice that the third question leans on one glance.", True),
            (
                "I cannot answer the second question from the video: it asks for a name that nobody says.",
                True,
            ),
            ("Unfortunately, the first question is answered by a caption.", True),
        ],
    )
    def test_a_refusal_is_no_review(self, discuss, server, words, kept):
        def script(call):
            return Answer(words) if call.body["model"] == "skeptic" else roles.play(call)

        server.script(script)
        folder, document = discuss(1)
        assert dropped(document, "skeptic") == ({} if kept else {"unparsable": 1})
        assert bool(read(folder, "annotations.json")) is kept
        if not kept:
            assert "refusal" in server.calls[2].body["messages"][-1]["content"]


def test_what_is_sent_beside_the_messages_is_on_record(discuss, server):
    folder, document = discuss(1, ask={"extra": {"seed": 7, "temperature": 0.5}})
    assert document["models"]["expert"]["sampling"] == {"seed": 7, "temperature": 0.5}
    assert {json.dumps(line["sampling"]) for line in trace(folder)} == {
        '{"seed": 7, "temperature": 0.5}'
    }
    assert {call.body["seed"] for call in server.calls} == {7}
    folder, document = discuss(1, out="plain")
    assert "sampling" not in document["models"]["expert"]
    assert not any("sampling" in line for line in trace(folder))


@pytest.mark.parametrize("text", INJECTIONS)
def test_what_others_wrote_changes_nothing_of_what_is_asked_or_written(discuss, server, text):
    given = video(
        0,
        metadata={"genre": text, text: text},
        qa=[{"question": text, "answer": text}],
        context=[text or "x"] * 8,
    )

    def script(call):
        # A reviewer that repeats what it was told to say, whatever that is.
        return (
            roles.play(call)
            if call.body["model"] == "expert"
            else Answer(f"{text}\nIt stands in the material.")
        )

    server.script(script)
    folder, document = discuss([given])
    assert [call.body["model"] for call in server.calls] == [*ROLES, "expert"]
    for call in server.calls:
        system, user = (message["content"] for message in call.body["messages"])
        (mark,) = re.findall(r"carry the mark ([0-9a-f]{32})\.", system)
        tags = re.findall(rf"</?(\w+) {mark}>", user)
        names = ["metadata", "qa", "context", *ROLES][: len(tags) // 2]
        assert tags == [name for name in names for _ in range(2)]
        assert json.loads(roles.block(call, "qa")) == given["qa"]
        assert mark not in text
    made = read(folder, "annotations.json")
    assert list(made) == [f"film0_{k}" for k in range(1, 6)]
    assert all(roles.digest(server.calls[-1]) in one["question"] for one in made.values())
    assert made["film0_1"]["caption"] == text.strip()
    assert adds_up(document)
