"""Text from elsewhere in Markdown, as a reader of CommonMark with tables renders it."""

import json
import re
from html import unescape

import pytest
from markdown_it import MarkdownIt

from reelbench.pages.markdown import inert, table

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "![seen](http://evil.test/pixel.png)",
    "[here](javascript:alert(1))",
    "[ref]: http://evil.test",
    "<http://evil.test>",
    "http://evil.test/a_b",
    "www.evil.test and me@evil.test",
    "<!-- reelbench:end statistics -->",
    "<!-- reelbench:begin about 0123456789ab -->",
    "a | b \\| c",
    "`code` ``more``",
    "**bold** _slanted_ ~~gone~~ __init__",
    "&lt;b&gt; &amp; &#60;",
    "# not a head\n\n---\n",
    "\\",
    "a\\",
    "$x^2$ {x}",
]


def rendered(text):
    return MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_in_a_cell_is_shown_as_it_is(text):
    page = rendered(table(["Label", "#n"], [[inert(text), "1"]]))
    assert set(re.findall(r"<(\w+)", page)) <= {"table", "thead", "tbody", "tr", "th", "td"}
    [shown] = re.findall(r"<td>(.*?)</td>", page)
    assert unescape(shown) == " ".join(text.split())
    # What GitHub would link by itself is not there as such.
    assert not re.search(r"https?:|www\.", inert(text))


def test_labels_of_the_data_are_inert_in_a_card_which_can_be_rendered_again(reelbench, tmp_path):
    source = json.loads((mini_folder_of("moviecore") / "test.json").read_text())
    questions = list(source.values()) if isinstance(source, dict) else source
    questions = [entry for part in questions for entry in (part if isinstance(part, list) else [part])]
    for entry, label in zip(questions, [text for text in HOSTILE if "," not in text], strict=False):
        entry["classification"] = label
    changed = tmp_path / "test.json"
    changed.write_text(json.dumps(source))
    for _ in range(2):
        done = reelbench("cards", "render", "moviecore", "--data", changed, "--out", tmp_path / "card")
        assert done.returncode == 0, done.stderr
    text = (tmp_path / "card" / "README.md").read_text()
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "<img" not in text
    assert "http:" not in text.partition("reelbench:begin statistics")[2].partition("reelbench:end statistics -->")[0]
    assert r"\!\[seen\]" in text
    assert text.count("<!-- reelbench:end statistics -->") == 1


def mini_folder_of(name):
    from reelbench.registry import discovery

    return discovery.get(name).folder / "mini"
