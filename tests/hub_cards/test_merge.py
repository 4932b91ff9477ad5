"""A card meets a README that people wrote."""

import pytest
import yaml

from reelbench.base.errors import InputError
from reelbench.hub_cards import merge
from reelbench.hub_cards.card import Card

METADATA = {
    "license": "mit",
    "language": ["en"],
    "size_categories": ["n<1K"],
    "tags": ["video", "reelbench"],
}
CONFIGS = [
    {"config_name": "default", "data_files": [{"split": "test", "path": "data/test.parquet"}]}
]


def card(metadata=None, **sections):
    bodies = sections or {
        "heading": "# Films",
        "about": "About films.",
        "scoring": "## Scoring\n\nBy hand.",
    }
    return Card(METADATA if metadata is None else metadata, bodies, {}, "")


def merged(existing, made=None):
    return merge.merge_card(made or card(), existing)


def front(text):
    return yaml.safe_load(text.split("---\n")[1])


def test_a_new_card_has_metadata_then_sections_in_order():
    text = merged(None).text
    assert front(text) == METADATA
    assert text.startswith("---\nlicense: mit\n")
    assert text.index("# Films") < text.index("About films.") < text.index("## Scoring")
    assert merged(text).text == text, "merging again changes nothing"


def test_new_numbers_replace_ours_and_leave_text_between_alone():
    text = merged(None).text.replace(
        "<!-- reelbench:end about -->", "<!-- reelbench:end about -->\n\nA note of ours."
    )
    again = merged(
        text, card(heading="# Films", about="About 12 films.", scoring="## Scoring\n\nBy hand.")
    ).text
    assert "About 12 films." in again
    assert "About films." not in again
    assert (
        again.index("About 12 films.") < again.index("A note of ours.") < again.index("## Scoring")
    )


def test_a_section_edited_by_hand_is_kept_and_told():
    text = merged(None).text.replace("By hand.", "By hand, and by eye.")
    again = merged(
        text, card(heading="# Films", about="About films.", scoring="## Scoring\n\nBy machine.")
    )
    assert "By hand, and by eye." in again.text
    assert "By machine." not in again.text
    [note] = again.notes
    assert note.startswith("README.md: section 'scoring' was edited by hand")


def test_a_deleted_section_comes_back_in_its_place():
    text = merged(None).text
    begin, end = (
        text.index("<!-- reelbench:begin about"),
        text.index("<!-- reelbench:end about -->"),
    )
    again = merged(text[:begin] + text[end + len("<!-- reelbench:end about -->\n\n") :]).text
    assert again == text


def test_a_section_that_cards_no_longer_have_goes():
    again = merged(merged(None).text, card(heading="# Films", about="About films.")).text
    assert "Scoring" not in again


def test_a_page_with_a_title_of_its_own_gets_no_second_one():
    text = merged("# Our films\n\nWelcome.\n").text
    assert "# Films" not in text
    assert text.index("# Our films\n\nWelcome.") < text.index("About films.")
    assert merged(text).text == text


def test_metadata_of_people_stays_with_its_comments_and_layout():
    existing = "---\n# why: see below\nlicense: cc0-1.0   # ours\ntags: [old, video]\ncustom:\n  deep: [1, 2]\n---\ntext\n"
    made = merged(existing)
    assert made.text.startswith(
        "---\n# why: see below\nlicense: cc0-1.0   # ours\ntags: [old, video, reelbench]\n"
    )
    assert "custom:\n  deep: [1, 2]\n" in made.text
    found = front(made.text)
    assert found["language"] == ["en"]
    assert made.notes == (
        "README.md: license is 'cc0-1.0' and was kept; Reelbench's spec has 'mit'",
    )
    assert merged(made.text).text == made.text


@pytest.mark.parametrize("before", ["\n", "\n\n", "\ufeff\n", "\r\n", " \n"])
def test_blank_lines_before_the_metadata_lose_no_licence(before):
    """huggingface_hub 2.4.0 reads such a block (`REGEX_YAML_BLOCK`)."""
    made = merged(f"{before}---\nlicense: cc0-1.0\n---\n\n# Ours\n")
    assert front(made.text.replace("\r\n", "\n"))["license"] == "cc0-1.0"
    assert made.text.count("license:") == 1


@pytest.mark.parametrize(
    ("existing", "line"),
    [
        ("----\nlicense: cc0-1.0\n----\n", 1),
        ("---\nlicense: cc0-1.0\n\n# Films\n", 1),
        ("---\nlicense: cc0-1.0\n...\n", 1),
        ("\n\n---\u00a0\nlicense: cc0-1.0\n---\u00a0\n", 3),
        ("———\nlicense: cc0-1.0\n———\n", 1),
    ],
)
def test_metadata_that_the_hub_does_not_read_is_refused_with_its_line(existing, line):
    with pytest.raises(InputError, match=rf"README.md, line {line}: looks like metadata"):
        merged(existing)


def test_a_rule_at_the_top_of_a_page_is_no_metadata():
    assert merged("---\n\n# Films\n\nA text: of ours.\n").text.count("# Films") == 1


def test_an_empty_front_matter_and_one_of_null_are_filled():
    for existing in ("---\n---\ntext\n", "---\nnull\n---\ntext\n"):
        assert front(merged(existing).text) == METADATA
    assert merged("---\n# why\n---\ntext\n").text.startswith("---\n# why\nlicense: mit\n")


def test_indented_lists_and_comments_within_them_stay():
    existing = "---\nlanguage:\n  - no  # Norwegian\n  - fr\n\n# kept\nother: 'x'\n---\n"
    made = merged(existing).text
    assert made.startswith(
        "---\nlanguage:\n  - no  # Norwegian\n  - fr\n  - en\n\n# kept\nother: 'x'\nlicense: mit\n"
    )


def test_a_single_value_becomes_a_list_and_the_size_follows_the_data():
    found = front(merged("---\nlanguage: fr\nsize_categories: n>1T\n---\n").text)
    assert found["language"] == ["fr", "en"]
    assert found["size_categories"] == ["n<1K"]


def test_our_configuration_is_renewed_and_others_stay():
    theirs = {"config_name": "raw", "data_files": "raw.csv"}
    old = [
        {
            "config_name": "default",
            "data_files": [{"split": "train", "path": "data/train.parquet"}],
        },
        theirs,
    ]
    existing = f"---\n{yaml.safe_dump({'configs': old})}---\n"
    found = front(merged(existing, card({"configs": CONFIGS})).text)
    assert found["configs"] == [*CONFIGS, theirs]
    assert merge.own_config(existing)[0] == "default"
    theirs = "---\nconfigs:\n- config_name: default\n  data_files: a.csv\n---\n"
    assert merge.own_config(theirs) == ("reelbench", False)
    assert merge.own_config(None) == ("default", False)


def test_windows_line_ends_stay():
    text = merged("---\r\nlicense: mit\r\n---\r\n# Ours\r\n").text
    assert "\n" not in text.replace("\r\n", "")
    assert "# Ours\r\n" in text
    assert merged(text).text == text


def test_counted_statistics_are_not_lost_to_a_card_without():
    counted = merged(None, card(statistics="## Statistics\n\n### Words\n\n12")).text
    bare = card(statistics="## Statistics\n\nNot counted.")
    with pytest.raises(
        InputError, match="it has counted statistics, but the data is not on this machine"
    ):
        merged(counted, bare)
    begin, end = (
        counted.index("<!-- reelbench:begin"),
        counted.index("<!-- reelbench:end statistics -->"),
    )
    assert "Not counted." in merged(counted[:begin] + counted[end + 33 :], bare).text


@pytest.mark.parametrize(
    ("existing", "told"),
    [
        ("---\nlicense: [mit\n---\n", r"README.md, line \d+: its metadata is not valid YAML"),
        ("---\n- a\n---\n", "its metadata is a list, expected keys and values"),
        ("---\ndate: 2001-02-30\n---\n", r"README.md: its metadata is not valid YAML \(day"),
        ("---\nn: !!int foo\n---\n", "its metadata is not valid YAML"),
        ("---\nnull: [*a]\n---\n", "README.md, line 2: its metadata has YAML aliases"),
        ("---\na: &a [x]\nb: [*a, *a]\n---\n", "README.md, line 2: its metadata has YAML aliases"),
        (
            f"---\na: {'[' * 500}\n---\n",
            "README.md, line 2: its metadata is nested more than 20 deep",
        ),
        (
            f"---\na: {'[' * 5000}\n---\n",
            "README.md, line 2: its metadata is n(ested more|ot valid)",
        ),  # libyaml's own bound
        (f"---\n{'# long' * 200_000}\n---\n", "its metadata is longer than 1000000 characters"),
        ("<!-- reelbench:begin about 0123456789ab -->\n" * 50_000, "don't match"),
        ("text\n<!-- reelbench:begin about 0123456789ab -->\nopen end\n", "don't match"),
        ("text\n<!-- reelbench:end about -->\n", "don't match"),
    ],
)
def test_what_can_t_be_merged_without_loss_is_refused(existing, told):
    with pytest.raises(InputError, match=told):
        merged(existing)


def test_a_section_that_is_there_twice_is_refused():
    text = merged(None).text
    with pytest.raises(InputError, match="don't match"):
        merged(text + text.split("---\n", 2)[2])
