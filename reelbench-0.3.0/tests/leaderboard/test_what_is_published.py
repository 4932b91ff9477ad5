"""Nothing of the owners' sentences in a published store or site: all that is written and sent is searched for them."""

import html
import io
import json

import pyarrow.parquet
import pytest

from reelbench import registry
from reelbench.data import loading
from reelbench.judges.judge_options import JudgeOptions
from reelbench.leaderboard import publish, site, store
from reelbench.tasks.score import Options
from reelbench.tasks.submissions import Inputs
from tests.leaderboard.packed import unpacked
from tests.leaderboard.test_publish import DATASET, SPACE
from tests.scored import score_files
from tests.servers.judge import Answer, JudgeServer


@pytest.fixture
def runs(tmp_path):
    """Score an answer to every question of every mini split, judged where a judge is needed."""
    with JudgeServer(
        lambda call: Answer("1" if "0, 1, or 2" in call.user else '{"score": 1}')
    ) as server:
        for name, spec in registry.specs().items():
            path = tmp_path / f"{name}.csv"
            ids = [row["id"] for row in loading.locate(name, "mini").read()]
            said = "Said by nobody." if spec.judge else "A [0, 1]"
            path.write_text("id,prediction\n" + "".join(f'{one},"{said}"\n' for one in ids))
            judge = (
                JudgeOptions(model="judge", url=server.url, cache=tmp_path / "judge.sqlite")
                if spec.judge
                else None
            )
            folder = tmp_path / "runs" / name
            score_files(
                name,
                Inputs(path, split="mini"),
                folder,
                Options(overlap=False, judge=judge),
                model="org/model",
            )
    return tmp_path / "runs"


def texts(files):
    """Return each file's text, of a table what is in it."""
    for path, data in files:
        if path.endswith(".parquet"):
            rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
            yield path, json.dumps(rows, default=str, ensure_ascii=False)
        elif path.endswith(".png"):
            yield path, data.decode("latin-1")  # its text chunks are so written
        else:
            text = data.decode()
            yield path, text
            if path.endswith(".js"):
                yield path, json.dumps(unpacked(text), ensure_ascii=False)


def on_disk(folder):
    return (
        (str(path.relative_to(folder)), path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file()
    )


def told(files, sentences):
    """Return which files tell which sentences, as they stand or as JSON or HTML spell them."""
    spelled = {
        sentence: {
            sentence,
            json.dumps(sentence)[1:-1],
            json.dumps(sentence, ensure_ascii=False)[1:-1],
        }
        | {html.escape(sentence)}
        for sentence in sentences
    }
    return {
        (path, sentence)
        for path, text in texts(files)
        for sentence, ways in spelled.items()
        if any(way in text for way in ways)
    }


def test_no_store_no_site_and_nothing_that_is_sent_tells_a_question(runs, hub, tmp_path):
    rows = {name: loading.locate(name, "mini").read() for name in registry.specs()}
    sentences = {row["question"] for of in rows.values() for row in of}
    # An option of a word or two may stand anywhere.
    options = {option for of in rows.values() for row in of for option in row.get("options", ())}
    sentences |= {option for option in options if len(option.split()) > 2}
    # The search does find them where they are: beside the samples, for this machine.
    asked = {path.split("/")[0] for path, _ in told(on_disk(runs), sentences)}
    assert asked == set(rows)

    added = store.add(runs, tmp_path / "store")
    assert [one.outcome for one in added] == ["added"] * len(rows), [one.why for one in added]
    assert told(on_disk(tmp_path / "store"), sentences) == set()
    site.build(tmp_path / "store", tmp_path / "site")
    assert told(on_disk(tmp_path / "site"), sentences) == set()
    publish.publish(tmp_path / "store", space=SPACE, dataset=DATASET)
    for repo, kind in ((SPACE, "space"), (DATASET, "dataset")):
        sent = hub.repos[kind, repo].files("main")
        assert any("org/model" in text for _, text in texts(sent.items()))
        assert told(sent.items(), sentences) == set()
