"""Chains that stop for people and go on, questions that keep their ids, and the gates at the end."""

import json
from itertools import pairwise

import pytest

from reelbench.base.errors import InputError
from reelbench.studio.discussion_files import read_videos
from reelbench.studio.gates import GateQuestion, near_duplicates
from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import adds_up, dropped, stages, valid, video


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


@pytest.fixture
def make(reelbench, server, tmp_path):
    """A function: options of `make discussion` -> its funnel, written to `tmp_path / "made"`."""

    def make(*options, script=None):
        server.script(script or roles.play)
        named = [
            part
            for role in (*roles.DISCUSSION, "blind", "checker")
            for part in ("--llm", f"{role}={role}")
        ]
        if "--gate" not in options:
            named = named[: 2 * len(roles.DISCUSSION)]
        command = [
            "make",
            "discussion",
            "--out",
            tmp_path / "made",
            "--llm-url",
            server.url,
            *named,
            *options,
        ]
        done = reelbench(*command)
        assert done.returncode == 0, done.stderr
        return valid(tmp_path / "made" / "funnel.json")

    return make


class TestIds:
    @pytest.mark.parametrize("ids", [[3, 1, 5, 2, 4], ["q3", "q1", "q5", "q2", "q4"]])
    def test_a_question_keeps_its_number_whatever_the_order_of_the_last_reply(
        self, make, videos, tmp_path, ids
    ):
        def script(call):
            shown = roles.text_of(call)
            if call.body["model"] != "expert":
                return roles.play(call)
            numbers = ids if "critic says" in shown else [1, 2, 3, 4, 5]
            turn = "last" if "critic says" in shown else "first"
            pairs = [{"id": n, "question": f"{turn} {n}?", "answer": f"{n}."} for n in numbers]
            return Answer(roles.fenced({"questions": pairs}))

        make("--videos", videos(1), script=script)
        first, last = (
            read(tmp_path / "made", name) for name in ("single_pass.json", "annotations.json")
        )
        assert list(first) == list(last) == [f"film0_{n}" for n in range(1, 6)]
        assert first["film0_3"]["question"] == "first 3?"
        assert last["film0_3"]["question"] == f"last {ids[0]}?"

    def test_a_number_twice_is_asked_again_and_none_at_all_goes_by_order(
        self, make, videos, tmp_path, server
    ):
        def script(call):
            numbers = [1, 1, 2, 3, 4] if len(call.body["messages"]) == 2 else [None] * 5
            if call.body["model"] != "expert" or "critic says" not in roles.text_of(call):
                return roles.play(call)
            pairs = [{"id": n, "question": f"{k}?", "answer": "."} for k, n in enumerate(numbers)]
            return Answer(roles.fenced({"questions": pairs}))

        document = make("--videos", videos(1), script=script)
        assert document["settings"]["paired_by_order"] == 1
        assert "each question keeps its own" in server.calls[-1].body["messages"][-1]["content"]
        assert read(tmp_path / "made", "annotations.json")["film0_1"]["question"] == "0?"


class TestStages:
    def test_a_chain_stops_after_a_stage_and_goes_on_from_what_people_made_of_it(
        self, make, videos, tmp_path, server
    ):
        document = make("--videos", videos(2), "--until", "skeptic")
        assert [stage["name"] for stage in document["stages"]] == ["context", "expert", "skeptic"]
        path = tmp_path / "made" / "skeptic.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [word["role"] for word in lines[0]["words"]] == ["expert", "skeptic"]
        lines[0]["words"][0]["questions"][1]["question"] = "Edited by a person?"
        path.write_text(json.dumps(lines[0]) + "\n")  # and the second video taken out
        before = len(server.calls)
        document = make("--from", "skeptic")
        assert [call.body["model"] for call in server.calls[before:]] == [
            *("detective", "meta_reviewer", "critic", "expert")
        ]
        assert all("Edited by a person?" in roles.text_of(call) for call in server.calls[before:])
        assert stages(document)["questions"] == (5, 5)
        assert (
            read(tmp_path / "made", "single_pass.json")["film0_2"]["question"]
            == "Edited by a person?"
        )
        # The account goes on: what was lost between two stages is what people took out.
        assert [counts for name, counts in stages(document).items() if name != "questions"] == [
            (2, 2)
        ] * 3 + [(1, 1)] * 4
        assert document["edited_after"] == ["skeptic"]
        assert (
            "people edited what came of the stage skeptic"
            in (tmp_path / "made" / "datasheet.md").read_text()
        )

    def test_stopped_at_every_stage_it_asks_what_it_asks_in_one_go(
        self, make, videos, tmp_path, server
    ):
        names = ["context", "expert", "skeptic", "detective", "meta_reviewer", "critic", "refined"]
        price = ("--llm-price", "2.5,10")
        make("--videos", videos(1), "--until", names[0], *price)
        for before, name in pairwise(names):
            make("--from", before, "--until", name, *price)
        in_parts = make("--from", names[-1], *price)
        parts = read(tmp_path / "made", "annotations.json")
        trace = (tmp_path / "made" / "trace.jsonl").read_text()
        asked = len(server.calls)
        whole = make("--videos", videos(1), *price)
        assert len(server.calls) == asked == 6
        assert read(tmp_path / "made", "annotations.json") == parts
        assert (tmp_path / "made" / "trace.jsonl").read_text() == trace
        assert in_parts == whole
        assert whole["cost_usd"] == pytest.approx(6 * (100 * 2.5 + 10 * 10) / 1e6)

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (
                ["--until", "painter"],
                "no stage is called 'painter'; there are context, expert, skeptic",
            ),
            (["--from", "expert"], "expert.jsonl doesn't exist; write it with --until expert"),
            ([], "--videos: name a file to start from"),
        ],
    )
    def test_a_stage_that_is_not_there_is_one_line(
        self, reelbench, videos, tmp_path, options, said
    ):
        given = ["--videos", videos(1)] if "--until" in options else []
        done = reelbench(
            "make", "discussion", "--out", tmp_path / "o", *given, *options, "--llm", "x"
        )
        assert done.returncode == 2
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


PAIR = {"question": "Day or night?", "answer": "Day."}


class TestMovieChat:
    def test_a_folder_of_both_shapes(self, tmp_path):
        folder = tmp_path / "jsons"
        folder.mkdir()
        (folder / "10.json").write_text(
            json.dumps({"caption": "A zoo.", "global": [PAIR], "breakpoint": []})
        )
        info = {"video_path": "AWA-6.mp4", "fps": 24, "class": "documentary"}
        (folder / "2.json").write_text(
            json.dumps({"info": info, "global": [PAIR], "time": "modern"})
        )
        second, tenth = read_videos(folder, 8)
        assert (second.name, second.shown_metadata) == (
            "AWA-6",
            {"time": "modern", "class": "documentary"},
        )
        assert (tenth.name, tenth.metadata, [pair.model_dump() for pair in tenth.qa]) == (
            "10",
            {},
            [PAIR],
        )
        assert read_videos(folder / "10.json", 8) == [tenth]

    def test_a_file_that_is_no_annotation_is_named(self, tmp_path):
        (tmp_path / "other.json").write_text("{}")
        with pytest.raises(InputError, match=r'other\.json: has no "global"'):
            read_videos(tmp_path, 8)


class TestGates:
    def test_each_gate_is_a_stage_that_counts_what_it_drops(self, make, videos, tmp_path):
        asked = {
            1: ("Why does the woman hide the letter in the piano?", "She fears her brother."),
            2: ("Why is the woman hiding a letter in the piano?", "Her brother would read it."),
            3: ("What does the red coat stand for?", "It cannot be determined from the video."),
            4: ("Who wins the last race?", "Nobody: it is called off."),
            5: ("Why does rain fall on the harbour?", "Because clouds let it fall."),
        }

        def script(call):
            shown = roles.text_of(call)
            match call.body["model"]:
                case "expert":
                    numbers = (1, 3, 4) if "film0" in shown else (2, 5)
                    pairs = [{"question": asked[n][0], "answer": asked[n][1]} for n in numbers]
                    pairs += [
                        {"question": f"Filler {n} of {shown[-90:]}?", "answer": "So."}
                        for n in range(5)
                    ]
                    return Answer(roles.fenced({"questions": pairs[:3]}))
                case "blind":
                    return Answer(
                        "Clouds do that."
                        if "harbour" in roles.block(call, "question")
                        else "No idea."
                    )
                case "checker" if "guess" in shown.split("</question")[1]:
                    return Answer(json.dumps({"same": "Clouds" in roles.block(call, "guess")}))
                case "checker":
                    no = "race" in roles.block(call, "question")
                    assert "answer 3 on film" in roles.block(call, "known")
                    return Answer('{"support": "no"}' if no else '{"support": "partly"}')
            return roles.play(call)

        gates = [
            part
            for name in ("answerable", "duplicates", "unsupported", "refusals")
            for part in ("--gate", name)
        ]
        document = make("--videos", videos(2), "--questions", "3", *gates, script=script)
        assert adds_up(document)
        assert [
            dropped(document, name)
            for name in ("refusals", "duplicates", "unsupported", "answerable")
        ] == [*({"refusal": 1}, {"duplicate": 1}, {"unsupported": 1}, {"answerable": 1})]
        assert stages(document)["answerable"] == (3, 2)
        assert document["thresholds"]["duplicate_from"] == 0.6
        kept = read(tmp_path / "made", "annotations.json")
        assert next(iter(kept.values()))["question"] == asked[1][0]
        assert len(kept) == 2

    def test_what_a_gate_could_not_check_is_kept_and_told(
        self, reelbench, videos, server, tmp_path
    ):
        server.script(
            lambda call: Answer("Hm.") if call.body["model"] == "checker" else roles.play(call)
        )
        models = [
            part for role in (*roles.DISCUSSION, "checker") for part in ("--llm", f"{role}={role}")
        ]
        command = [
            "make",
            "discussion",
            "--videos",
            videos(1),
            "--out",
            tmp_path / "o",
            "--llm-url",
            server.url,
        ]
        done = reelbench(*command, *models, "--gate", "unsupported")
        assert done.returncode == 0, done.stderr
        assert (
            "unsupported: 5 questions could not be checked and were kept (unparsable 5)"
            in done.stderr
        )

    @pytest.mark.parametrize(
        ("answer", "is_none"),
        [
            ("There isn't enough information in the description to answer this.", True),
            ("Based on the provided context, it is unclear why the man returns.", True),
            ("Details about the second meeting are not provided.", True),
            ("The captions make no mention of a second car.", True),
            ("My apologies, but I'm unable to answer this.", True),
            ("The relationship of the two isn't clarified in the context.", True),
            ("His age is not explicitly mentioned in the video.", True),
            ("There is no way to tell from the frames.", True),
            ("It is unclear to Anna whether her father knows, so she keeps silent.", False),
            ("The letter is not shown to the mother, as it would break her heart.", False),
            ("The captain gives no reason, so that the crew begins to doubt him.", False),
            ("He isn't able to open the door, so he breaks the window.", False),
            ('He says, "I don\'t know", to protect his sister.', False),
        ],
    )
    def test_an_answer_that_says_there_is_none_is_a_refusal(self, make, videos, answer, is_none):
        def script(call):
            if call.body["model"] != "expert":
                return roles.play(call)
            pairs = [
                {"id": n, "question": f"Why is door {n} open?", "answer": answer}
                for n in range(1, 6)
            ]
            return Answer(roles.fenced({"questions": pairs}))

        document = make("--videos", videos(1), "--gate", "refusals", script=script)
        assert dropped(document, "refusals") == ({"refusal": 5} if is_none else {})

    def test_alike_are_questions_on_two_videos_with_the_same_content_words(self):
        texts = [
            ("a", "How do specific scenes illustrate the survival strategies of species?"),
            ("a", "How do the specific scenes illustrate survival strategies of a species?"),
            ("b", "Which specific scene illustrates the survival strategy of these species?"),
            ("b", "How do specific songs illustrate the rivalry of two singers?"),
        ]
        asked = [GateQuestion(str(n), video, text, "") for n, (video, text) in enumerate(texts)]
        assert near_duplicates(asked, 0.5) == {"2": "0"}


def test_the_single_pass_stands_beside_the_last_questions_with_the_changes_marked(
    make, videos, reelbench, tmp_path
):
    make("--videos", videos([video(0, video="film <b>")]))
    done = reelbench("make", "page", tmp_path / "made")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "made" / "film%20%3Cb%3E.html").read_text()
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    (first, last) = (
        read(tmp_path / "made", n)["film <b>_2"]["answer"]
        for n in ("single_pass.json", "annotations.json")
    )
    before, after = (f" {answer.split()[2]}" for answer in (first, last))
    drafted = next(each for each in data["drafts"] if each["id"] == "film <b>_2")
    assert drafted["runs"]["answer"][:2] == [["Because of", "Because of"], [before, after]]
    assert drafted["changed"] == ["question", "answer"]
