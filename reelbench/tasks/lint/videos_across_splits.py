"""A video stands in two splits."""

from collections.abc import Iterator, Sequence

from reelbench.tasks.lint.findings import RowIssue, Rule
from reelbench.tasks.lint.questions import Question


def _videos_in_several_splits(questions: Sequence[Question]) -> Iterator[RowIssue]:
    first_questions_by_video: dict[str, dict[str, Question]] = {}
    for question in questions:
        for video in question.videos:
            first_questions_by_video.setdefault(video, {}).setdefault(question.split, question)
    for by_split in first_questions_by_video.values():
        if len(by_split) > 1:
            splits = " and ".join(by_split)
            yield RowIssue(tuple(by_split.values()), f"questions about one video in {splits}")


RULE = Rule(
    name="video_in_splits",
    title="a video is in two splits",
    threshold="the same media key; the first question of each split is named",
    find_issues=_videos_in_several_splits,
)
