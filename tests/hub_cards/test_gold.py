"""All cards: two held by gold files (tests/hub_cards/rendering.py writes them anew), each by its structure."""

import re
import socket
import tempfile
from pathlib import Path

import pytest
import yaml

from reelbench.hub_cards import card_material, merge
from reelbench.registry import discovery
from tests.hub_cards.rendering import (
    HELD,
    NAMES,
    content,
    gold,
    render,
    rendered,
    with_mini_as_owners,
)
from tests.servers.hub import HubServer, skip_unless_cards_are_validated_here


def test_every_benchmark_is_tried():
    assert tuple(discovery.specs()) == NAMES


@pytest.mark.parametrize("counted", [False, True], ids=["without the data", "counted"])
@pytest.mark.parametrize("name", HELD)
def test_a_card_is_its_gold(name, counted):
    made, expected = rendered(name, counted=counted), content(gold(name, counted=counted))
    assert list(made) == list(expected)
    for path, data in made.items():
        assert data.decode() == expected[path].decode(), path


SECTIONS = (
    *(
        "Loading",
        "Schema",
        "Splits",
        "Statistics",
        "Scoring",
        "Published results",
        "Provenance",
        "Licences",
    ),
    *("Limitations", "Citation", "Datasheet"),
)
ASKED = (
    "Motivation",
    "Composition",
    "Collection",
    "Preprocessing",
    "Uses",
    "Distribution",
    "Maintenance",
)
"""What Gebru et al.'s datasheets ask of a data set."""


@pytest.mark.parametrize("counted", [False, True], ids=["without the data", "counted"])
@pytest.mark.parametrize("name", NAMES)
def test_a_card_has_its_sections_its_evaluation_and_every_picture_that_it_shows(name, counted):
    files = rendered(name, counted=counted)
    text = files["README.md"].decode()
    assert tuple(re.findall(r"^## (.+)$", text, re.MULTILINE)) == SECTIONS
    assert (
        tuple(re.findall(r"^### (.+)$", text.partition("\n## Datasheet")[2], re.MULTILINE)) == ASKED
    )
    shown = set(re.findall(r"(?:src=\"|\]\()([\w./-]+\.svg)", text))
    assert shown == {path for path in files if path.endswith(".svg")}
    assert bool(shown) == counted
    assert set(files) - shown == {"README.md", "eval.yaml"}
    begun, ended = (re.findall(rf"<!-- reelbench:{mark} (\w+)", text) for mark in ("begin", "end"))
    assert begun == ended
    spec = discovery.get(name)
    assert all(f"| `{column.name}` |" in text for column in spec.columns)
    assert all(metric.title in text for metric in spec.metrics)


@pytest.mark.parametrize("name", NAMES)
def test_a_card_is_rendered_without_network_and_data(name, tmp_path, monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("a card asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    text = render(name, tmp_path, counted=False)["README.md"].decode()
    assert "made without the data" in text
    assert "## Statistics\n\nNot counted" in text


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_card_passes_the_hub_s_validation(name, counted, tmp_path, monkeypatch):
    from huggingface_hub import DatasetCard

    skip_unless_cards_are_validated_here()
    with HubServer() as server:
        server.use(monkeypatch, tmp_path / "hf")
        card = DatasetCard(rendered(name, counted=counted)["README.md"].decode())
        card.validate(repo_type="dataset")
        assert len(server.asked("POST /api/validate-yaml")) == 1


@pytest.mark.parametrize("name", NAMES)
def test_no_path_of_this_machine_is_in_a_card(name):
    for path, data in rendered(name, counted=True).items():
        for private in (str(Path.home()), tempfile.gettempdir(), str(Path(__file__).parents[2])):
            assert private not in data.decode(), path


def test_how_the_user_called_a_file_is_not_in_a_card(tmp_path):
    spec, mini = with_mini_as_owners(discovery.get("rextime"))
    own = tmp_path / "from_jane_confidential.json"
    own.write_bytes((mini / "rextime_val.json").read_bytes())
    merge.write(card_material.gather(spec, own), tmp_path / "card")
    text = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
    assert "| `val` (default) | 12 |" in text
    assert "jane" not in text


def metadata(name, *, counted=False):
    return yaml.safe_load(rendered(name, counted=counted)["README.md"].decode().split("---\n")[1])


def test_curve_names_its_languages_in_iso_codes_and_its_locales():
    # CURVE's README and supplement Table 1 together: 20 locales in 19 languages (en-GB and en-IN
    # are one).
    found = metadata("curve")
    assert " ".join(found["language"]) == "ar bn de en es fr hi id it ja kn ko mr pt ru ta te th zh"
    assert len(found["language_bcp47"]) == 20
    assert found["multilinguality"] == ["multilingual"]
    # Counted: what the twelve mini rows are in.
    assert (
        " ".join(metadata("curve", counted=True)["language"])
        == "ar bn de en hi ja ko ru ta te th zh"
    )


@pytest.mark.parametrize(
    ("name", "licence", "size", "arxiv"),
    [
        ("moviecore", "mit", "1K<n<10K", "2508.19026"),
        ("rextime", "cc-by-nc-sa-4.0", "10K<n<100K", "2406.19392"),
        ("curve", "cc-by-4.0", "1K<n<10K", "2601.10649"),
        ("dramaqa_cogme", "other", "10K<n<100K", "2005.03356"),
    ],
)
def test_the_metadata_is_what_owners_and_papers_say(name, licence, size, arxiv):
    found = metadata(name)
    assert found["license"] == licence
    assert found["size_categories"] == [size]
    assert f"arxiv:{arxiv}" in found["tags"]
    assert "video-text-to-text" in found["task_categories"]


def test_dramaqa_declares_no_rows_and_says_where_they_are_had():
    assert "configs" not in metadata("dramaqa_cogme")
    text = rendered("dramaqa_cogme", counted=False)["README.md"].decode()
    assert "load_dataset" not in text
    assert "https://dramaqa.github.io/Download" in text
    assert metadata("dramaqa_cogme")["license_link"] == "https://dramaqa.github.io/Download"
