"""The documents say what the code has: every command and every setting, and no command or option that is not there."""

import ast
import inspect
import json
import re

import jsonschema
import pytest
import yaml

import reelbench
from reelbench.base import settings
from reelbench.leaderboard import store
from reelbench.registry import discovery
from reelbench.terminal import synonyms
from tests import rooms
from tests.rooms import PACKAGE, ROOT
from tools import api_page
from tools.write_docs import commands, commands_page, llms_txt, written

WRITTEN = [
    *(
        ROOT / name
        for name in (
            "README.md",
            "CONTRIBUTING.md",
            "FOOTGUNS.md",
            "CHANGELOG.md",
            "perf/README.md",
        )
    ),
    ROOT / "SKILL.md",
    *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_site" not in path.parts),
    *sorted((PACKAGE / "tasks").glob("*/README.md")),
]
CALL = re.compile(r"\breelbench ((?:[a-z][a-z-]*(?: |\b))+)([^`\n#]*)")
OPTIONS = {
    words: {
        name
        for parameter in command.params
        for name in (*parameter.opts, *parameter.secondary_opts)
    }
    for words, command in commands()
}


def test_what_make_docs_writes_is_there_as_it_stands():
    for path, text in written():
        assert path.read_text(encoding="utf-8") == text, (
            f"{path.relative_to(ROOT)}: run `make docs`"
        )
    assert (ROOT / "docs" / "llms.txt").read_text(encoding="utf-8") == llms_txt(), "run `make docs`"


def test_a_long_page_has_a_table_of_contents():
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "_site" not in path.parts]
    long_pages = [path for path in pages if path.read_text(encoding="utf-8").count("\n") > 200]
    assert {"add_benchmark.md", "commands.md"} <= {path.name for path in long_pages}
    for path in long_pages:
        assert "\nOn this page: [" in path.read_text(encoding="utf-8"), path.name


def test_every_command_and_setting_is_listed():
    page, listed = commands_page(), (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert all(f"## reelbench {words}" in page for words in OPTIONS)
    assert all(f"`{setting.name}`" in listed for setting in settings.ALL)


def test_the_readme_s_table_has_a_row_for_each_benchmark_that_list_shows():
    rows = re.findall(
        r"^\| \*\*.*\| (`.*`) \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
    ours = [spec for spec in discovery.specs().values() if spec.package.startswith("reelbench.")]
    shown = [re.match(r"`([a-z_]+?)(_<part>)?`", tasks)[1] for tasks in rows]
    assert len(shown) == len(ours)
    assert all(any(spec.tasks[0].name.startswith(name) for name in shown) for spec in ours)


def test_every_public_name_is_in_the_reference():
    text = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    modules = {name for name, thing in vars(reelbench).items() if inspect.ismodule(thing)}
    offered = (
        {name for name in dir(reelbench) if not name.startswith("_")} - modules - {"TYPE_CHECKING"}
    )
    assert offered <= set(reelbench.__all__)
    assert [name for name in reelbench.__all__ if f"reelbench.{name}" not in text] == []
    for module, name in api_page.names():
        assert ast.get_docstring(api_page.definition(module, name)), (
            f"{module}.{name} says nothing of itself"
        )


def test_what_is_written_is_valid_by_the_schemas(tmp_path):
    predictions = ROOT / "tests" / "fixtures" / "v0_1_0" / "predictions" / "rextime.jsonl"
    run = reelbench.score("rextime", predictions, split="mini").save(tmp_path / "run")
    store.add(run, tmp_path / "store")
    for name, file in (
        ("result", run / "result.json"),
        ("sample", run / "samples.jsonl"),
        ("ledger", tmp_path / "store" / "ledger.jsonl"),
    ):
        schema = (ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8")
        validator = jsonschema.Draft202012Validator(json.loads(schema))
        text = file.read_text(encoding="utf-8")
        for document in text.splitlines() if file.suffix == ".jsonl" else [text]:
            validator.validate(json.loads(document))
            assert not validator.is_valid({**json.loads(document), "another_field": 1})


def test_the_citation_and_the_changelog_name_the_version_of_the_package():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["version"], cited["license"]) == (reelbench.__version__, "Apache-2.0")
    releases = re.findall(
        r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert releases[0] == reelbench.__version__


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_command_and_option_that_is_named_exists(path):
    text = path.read_text(encoding="utf-8")
    text = text.replace("\\\n", " ")
    calls = re.findall(r"`([^`\n]+)`|^    (.+)$|^(reelbench .+)$", text, re.MULTILINE)
    for call in ("".join(parts) for parts in calls):
        for words, rest in CALL.findall(call):
            named = words.split()
            known = [
                synonyms.COMMANDS.get(" ".join(named[:length]), " ".join(named[:length]))
                for length in (2, 1)
            ]
            known = [words for words in known if words in OPTIONS]
            assert known, f"{path.name}: `reelbench {words.strip()}` is not a command"
            ours = f" {rest}".split(" -- ", maxsplit=1)[0]
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", ours):
                assert option in OPTIONS[known[0]], f"{path.name}: {known[0]} has no {option}"


def there(named):
    """The files that a path in a document means: from the top, where rooms lie too; `<name>` is any name."""
    pattern = re.sub(r"<\w+>", "*", named)
    return [path for top in (ROOT, PACKAGE) for path in top.glob(pattern)]


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "FOOTGUNS.md", "README.md"])
def test_every_path_and_what_is_said_to_be_in_it_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    tops = {path.name for top in (ROOT, PACKAGE) for path in top.iterdir() if path.is_dir()}
    spans = re.findall(r"`(?!reelbench/reelbench.toml)(\w+/[\w.<>*/-]*)`", text)
    links = re.findall(r"\]\(([\w./-]+)(?:#[\w-]+)?\)", text)
    assert [
        path for path in (*spans, *links) if path.partition("/")[0] in tops and not there(path)
    ] == []
    within = re.findall(r"`([A-Za-z_]\w+)` (?:in|of) `([\w.<>/-]+\.\w+)`", text)
    lost = [
        f"{path} has no {word}"
        for word, path in within
        if not any(word in file.read_text(encoding="utf-8") for file in there(path))
    ]
    assert lost == []


def words_of_prose(page):
    """Return a page's words, without its code and its captions."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if not line.startswith(("    ", "!", "*"))]
    return re.findall(r"[\w'’`.-]+", "\n".join(lines))


def test_no_page_repeats_twenty_words_of_another():
    generated = {"commands.md", "api.md"}
    pages = [
        page
        for page in WRITTEN
        if page.name not in generated and page.parent.parent != PACKAGE / "tasks"
    ]
    page_of_passage = {}
    repeated = []
    for page in pages:
        words = words_of_prose(page)
        for start in range(len(words) - 19):
            passage = " ".join(words[start : start + 20])
            first_page = page_of_passage.setdefault(passage, page)
            if first_page != page:
                repeated.append(f"{first_page.name} and {page.name}: {passage}")
    assert repeated == []


def test_the_table_of_rooms_has_every_room_once():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\|[^|]*\|[^|]*\| `(\w+)/` \|", text, re.MULTILINE)
    assert sorted(listed) == sorted([PACKAGE.name, *rooms.ROOMS])


def names_of_settings():
    for room in (*rooms.ROOMS, PACKAGE.name):
        for path in rooms.modules(room):
            if path != PACKAGE / "base" / "settings.py":
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                    if isinstance(node, ast.Constant) and isinstance(node.value, str):
                        yield path.relative_to(ROOT).as_posix(), node.value


def test_no_variable_is_named_but_where_it_is_declared():
    declared = {setting.name for setting in settings.ALL}
    named = list(names_of_settings())
    assert [(path, value) for path, value in named if value in declared] == []
    for path, value in named:
        for name in re.findall(r"\bREELBENCH_[A-Z_]*[A-Z]\b", value):
            known = name in declared or name.startswith("REELBENCH_DATA")
            assert known or name == "REELBENCH_LOADED", (
                f"{path}: {name} is not declared in base/settings.py"
            )


def test_settings_are_listed_with_their_values_but_never_a_key(reelbench):
    env = {
        "REELBENCH_JUDGE": " some-model ",
        "REELBENCH_JUDGE_API_KEY": "sk-secret",
        "REELBENCH_DATA_REXTIME": "/data",
    }
    done = reelbench("doctor", "settings", "--json", env=env)
    listed = json.loads(done.stdout)
    assert listed["REELBENCH_JUDGE"]["value"] == "some-model"
    assert listed["REELBENCH_JUDGE_API_KEY"] == {
        **listed["REELBENCH_JUDGE_API_KEY"],
        "set": True,
        "value": None,
    }
    assert listed["REELBENCH_DATA_REXTIME"]["value"] == "/data"
    assert (
        listed["REELBENCH_FRAMES_CAP_GB"]["value"]
        == listed["REELBENCH_FRAMES_CAP_GB"]["default"]
        == "20"
    )
    plain = reelbench("doctor", "settings", env=env).stdout
    assert "= some-model" in plain
    assert "sk-secret" not in done.stdout + plain


def test_the_list_of_commands_says_what_each_option_means():
    page = commands_page()
    sections = dict(part.partition("\n")[::2] for part in page.split("\n## ")[1:])
    assert "……" not in page
    assert "..…" not in page
    for words, command in commands():
        title = next(
            title for title in sections if re.fullmatch(rf"reelbench {words}( [^a-z].*)?", title)
        )
        shared = re.findall(r"^- \[(\w+)\]\(#(shared-options-\w+)\)", sections[title], re.MULTILINE)
        explained = sections[title] + "".join(
            sections[f"Shared options: {name}"] for name, _ in shared
        )
        for parameter in command.params:
            if (
                parameter.param_type_name == "option"
                and parameter.name != "help"
                and not parameter.hidden
            ):
                name = re.escape(max(parameter.opts, key=len))
                assert re.search(rf"^- `(-\w, )?{name}[ ,`][^:]*: \S", explained, re.MULTILINE), (
                    words,
                    name,
                )


def test_every_message_that_is_explained_is_said_by_the_code():
    said = "".join(
        path.read_text(encoding="utf-8")
        for room in (*rooms.ROOMS, PACKAGE.name)
        for path in rooms.modules(room)
    )
    said = re.sub(r'"\s*\n\s*f?"', "", said)
    listed = re.findall(
        r"^\| `([^`\n]+)` \|", (ROOT / "docs" / "messages.md").read_text("utf-8"), re.MULTILINE
    )
    pieces = [piece for message in listed for piece in re.split(r"…|\d+", message)]
    assert len(listed) > 20
    assert [piece for piece in pieces if piece.strip(" ;:,()") and piece.strip() not in said] == []


def test_each_mechanism_of_the_table_of_trust_is_where_it_says():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    rows = [
        line.split("|")[-2]
        for line in text.partition("## What we promise")[0].splitlines()
        if line[:2] == "| "
    ]
    assert len(rows) > 8
    for mechanism in rows[1:]:
        named = re.findall(r"`([\w./]+)`", mechanism)
        code = "".join(
            (ROOT / name).read_text(encoding="utf-8") for name in named if name.endswith(".py")
        )
        for name in named:
            assert (
                name.endswith(".py")
                or name.startswith(("reelbench ", "."))
                or re.search(rf"^(?:def|class) {name}\b", code, re.MULTILINE)
            ), name
