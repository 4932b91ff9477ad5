"""What a run of `ask` keeps count of."""

import pytest

from reelbench.llm.ask_options import AskOptions
from reelbench.methods import asking
from reelbench.methods.question_media import QuestionMedia
from reelbench.tasks.score import Options
from tests.servers.judge import JudgeServer


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
