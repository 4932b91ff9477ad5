"""Text from elsewhere in Markdown, as a reader of CommonMark with tables renders it."""

import json
import re
from html import unescape

import pytest
from markdown_it import MarkdownIt

from reelbench.pages.markdown import code, inert, table

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
    questions = [
        entry for part in questions for entry in (part if isinstance(part, list) else [part])
    ]
    for entry, label in zip(questions, [text for text in HOSTILE if "," not in text], strict=False):
        entry["classification"] = label
    changed = tmp_path / "test.json"
    changed.write_text(json.dumps(source))
    for _ in range(2):
        done = reelbench(
            "cards", "render", "moviecore", "--data", changed, "--out", tmp_path / "card"
        )
        assert done.returncode == 0, done.stderr
    text = (tmp_path / "card" / "README.md").read_text()
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert "<img" not in text
    assert (
        "http:"
        not in text.partition("reelbench:begin statistics")[2].partition(
            "reelbench:end statistics -->"
        )[0]
    )
    assert r"\!\[seen\]" in text
    assert text.count("<!-- reelbench:end statistics -->") == 1


def mini_folder_of(name):
    from reelbench.registry import discovery

    return discovery.get(name).folder / "mini"


@pytest.mark.parametrize("text", ["```", "x\n```\n<b>", "````\n`````"])
def test_a_fence_of_others_ends_no_block(text):
    page = rendered(code(text, "bibtex"))
    [shown] = re.findall(
        r'^<pre><code class="language-bibtex">(.*)\n</code></pre>\n$', page, re.DOTALL
    )
    assert unescape(shown) == text


def test_what_a_declaration_says_stands_in_its_card_as_it_is(reelbench, tmp_path):
    hostile = "<img src=x onerror=alert(1)> [here](javascript:alert(1)) # Licences"
    words = {
        "title": hostile,
        "summary": hostile,
        "homepage": "javascript:alert(1)",
        "licence_note": hostile,
    }
    words |= {"licence": "mit` <b>x</b>", "citation": "```\n# Results\nbest of all"}
    head = "id: kitchen\nkind: exact\nsource: {file: rows.jsonl}\ncolumns: {id: n, video: v, question: q, answer: a}\n"
    (tmp_path / "kitchen").mkdir()
    said = "".join(f"{name}: {json.dumps(text)}\n" for name, text in words.items())
    (tmp_path / "kitchen" / "benchmark.yaml").write_text(head + said)
    (tmp_path / "kitchen" / "rows.jsonl").write_text(
        json.dumps({"n": 1, "v": "f", "q": "Why?", "a": "so"}) + "\n"
    )
    done = reelbench("cards", "render", tmp_path / "kitchen", "--out", tmp_path / "card")
    assert done.returncode == 0, done.stderr
    page = rendered((tmp_path / "card" / "README.md").read_text().split("\n---\n", 1)[1])
    assert not re.findall(r"<img src=x|<b>|href=.javascript", page)
    assert hostile in unescape(re.search(r"<h1>(.*?)</h1>", page)[1])
    assert not re.search(r"<h\d>Results</h", page)


def test_a_card_has_no_control_characters():
    assert inert("\x1b[31mX\a\u202e") == "\\[31mX"
    assert code("a\x1b[1m\nb\u200b") == "```\na [1m\nb \n```"
