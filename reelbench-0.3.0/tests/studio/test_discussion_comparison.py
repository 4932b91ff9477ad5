"""What a discussion adds over a single pass: `comparison.json`."""

import json

from tests.servers import roles
from tests.servers.judge import Answer
from tests.studio.conftest import dropped, read, stages

ROLES = roles.DISCUSSION


class TestTheComparison:
    def test_without_a_judge_it_counts_what_texts_show(self, discuss):
        folder, _ = discuss(3)
        document = read(folder, "comparison.json")
        assert document["win_rate"] is None
        assert document["videos"] == 3
        # 11 words a question on both sides: no difference.
        words = document["measures"]["words_question"]
        assert (words["single_pass"], words["difference"], words["ci95"]) == (11.0, 0.0, None)

    def test_a_judge_that_goes_by_the_place_alone_prefers_neither(self, discuss):
        folder, document = discuss(3, (*ROLES, "judge"))
        win = read(folder, "comparison.json")["win_rate"]
        assert (win["value"], win["same_in_both_orders"]) == (0.5, 0.0)
        assert (win["single_pass_shown_first"], win["discussion_shown_first"]) == (0.0, 1.0)
        assert stages(document)["judge"] == (6, 6)

    def test_a_judge_that_goes_by_the_questions_says_the_same_in_both_orders(self, discuss, server):
        def script(call):
            if call.body["model"] != "judge":
                answer = roles.play(call)
                if call.body["model"] == "expert" and "meta_reviewer says" in roles.text_of(call):
                    answer.content = answer.content.replace("door", "rope")
                return answer
            return Answer(
                json.dumps({"better": "A" if "rope" in roles.block(call, "set_A") else "B"})
            )

        server.script(script)
        folder, _ = discuss(3, (*ROLES, "judge"))
        win = read(folder, "comparison.json")["win_rate"]
        assert (win["value"], win["ci95"], win["same_in_both_orders"]) == (1.0, None, 1.0)

    def test_levels_of_blooms_taxonomy_where_a_model_tells_them(self, discuss, server):
        def script(call):
            role, text = call.body["model"], roles.text_of(call)
            if role == "bloom":
                # The single pass's questions remember, the discussion's evaluate; one answer has no
                # level.
                if "no level" in text:
                    return Answer("It may be 3.")
                return Answer("5" if "refined" in text else "1")
            answer = roles.play(call)
            if role == "expert" and "meta_reviewer says" in text:
                answer.content = answer.content.replace("step", "refined step")
                answer.content = answer.content.replace("part 1;", "part 1, of no level;")
            return answer

        server.script(script)
        folder, document = discuss(2, (*ROLES, "bloom"))
        measures = read(folder, "comparison.json")["measures"]
        assert measures["bloom_question"] == {
            "single_pass": 1,
            "discussion": 5,
            "difference": 4,
            "ci95": None,
        }
        assert measures["higher_order_question"]["discussion"] == 100
        assert measures["higher_order_answer"]["difference"] == 0
        # 2 videos x 10 questions and 10 answers; two answers could not be told.
        assert (stages(document)["bloom"], dropped(document, "bloom")) == (
            (40, 38),
            {"unparsable": 2},
        )
        assert "bloom" in document["prompts"]
        assert document["models"]["bloom"]["returned"] == {"bloom-0001": 44}
