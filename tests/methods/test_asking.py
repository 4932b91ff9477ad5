"""What a run of `ask` keeps count of."""

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.methods import asking
from reelbench.methods.kept import Keeping
from reelbench.methods.question_media import QuestionMedia
from reelbench.tasks.score import Options
from tests.servers.judge import Answer, JudgeServer

KEEPING = Keeping(probe=False, recheck=False)


def test_a_question_whose_video_makes_a_library_fail_waits_for_frames_no_more(monkeypatch):
    runs, made = [], asking._Run

    def fails(*_):
        raise RuntimeError("no frames, and no line about it")

    monkeypatch.setattr(asking, "_Run", lambda *given: runs.append(made(*given)) or runs[0])
    monkeypatch.setattr(QuestionMedia, "show", fails)
    with JudgeServer() as server, pytest.raises(RuntimeError, match="no frames"):
        asking.ask(
            asking.questions("rextime_mini", "uniform:2"),
            AskOptions(model="m", url=server.url),
            Options(),
        )
    assert runs[0].waiting_for_frames == 0


def test_kept_replies_that_saw_no_pictures_are_asked_again(shared_home, tmp_path, monkeypatch):
    monkeypatch.setenv("REELBENCH_HOME", str(shared_home))
    counted = [1]

    def script(_):
        return Answer('{"span": [0, 5], "answer": "A"}', usage={"prompt_tokens": counted[0]})

    with JudgeServer(script) as server:

        def run():
            model = AskOptions(model="m", url=server.url, cache=tmp_path / "replies.sqlite")
            questions = asking.questions("rextime_mini", "uniform:4", limit=2)
            evaluated = asking.ask(questions, model, Options(), keeping=KEEPING)
            record = evaluated.come_by
            return dict(evaluated.scored.counts.unscored), record.asked, record.kept

        found = []
        for tokens in (1, 400, 400):
            counted[0] = tokens
            found.append(run())
    assert found == [({"media_not_seen": 2}, 2, 0), ({}, 2, 0), ({}, 0, 2)]
