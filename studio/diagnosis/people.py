"""A diagnosis as people may judge it: each attempt with the nodes that were settled on it."""

from reelbench.registry.errors import InputError
from reelbench.studio.diagnosis.evidence import GRAPHS
from reelbench.studio.diagnosis.folder import Folder
from reelbench.studio.evidence.isolation import NodeTag
from reelbench.studio.evidence.tagger_agreement import Judged


def judged(folder: Folder) -> list[Judged]:
    """Return every attempt on which the tagger settled a node, in the order of questions and rounds.

    Raises:
        InputError: The folder has no diagnosis, or something in it is wrong.
    """
    folder.settings()
    questions = {question.id: question for question in folder.questions}
    graphs, records = folder.graphs, folder.rounds()
    attempts = {number: folder.answers(number) for number in {record.round for record in records}}
    order = {key: place for place, key in enumerate(questions)}
    cues: dict[str, str] = {}
    attempts_judged = []
    for record in sorted(records, key=lambda record: (order[record.id], record.round)):
        labels = {key: _code(tag) for key, tag in record.nodes.items() if tag.settled == record.round}
        attempt = attempts[record.round].get(record.id)
        if labels and attempt is not None:
            if record.id not in graphs:
                raise InputError(f"{folder.path / GRAPHS}: lacks {record.id[:60]!r}, whose nodes were tagged")
            question = questions[record.id]
            texts = {"question": question.question, "answer": question.answer, "notes": question.steps}
            attempts_judged.append(
                Judged(
                    question=record.id,
                    video=question.video,
                    language=question.language,
                    texts=texts,
                    round=record.round,
                    cue=cues.get(record.id, ""),
                    output=attempt.output,
                    graph=graphs[record.id],
                    labels=labels,
                )
            )
        cues[record.id] = record.cue or ""
    return attempts_judged


def _code(tag: NodeTag) -> str:
    return tag.label or tag.status
