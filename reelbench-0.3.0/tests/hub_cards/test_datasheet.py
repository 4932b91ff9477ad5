"""Datasheets: each benchmark has one, and a wrong one is told."""

import pytest

from reelbench.base.errors import InputError
from reelbench.hub_cards import card_material
from reelbench.registry import discovery

GOOD = (
    "---\ntask_categories: [video-text-to-text]\nannotations_creators: [found]\nlanguage_creators: [found]\n"
    "source_datasets: [original]\ntags: [video]\n---\n"
) + "".join(
    f"## {name}\n\nText.\n\n" for name in (card_material.LIMITATIONS, *card_material.SECTIONS)
)


def test_every_benchmark_has_one():
    for spec in discovery.specs().values():
        sheet = card_material.read_datasheet(spec)
        assert tuple(sheet.sections) == card_material.SECTIONS
        assert sheet.limitations.startswith("- ")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("---\n", "", "expected a front matter"),
        ("[video-text-to-text]", "[video-to-money]", "front matter: field task_categories.0"),
        ("tags: [video]", "tags: [video", "its front matter is not valid YAML"),
        ("tags:", "tag:", "front matter: field tags: Field required"),
        ("## Uses\n", "## Users\n", "has the sections .*Users.*; expected .*Uses"),
        ("## Uses\n\nText.", "## Uses\n", "empty: Uses"),
        ("---\n## Lim", "---\nHello\n\n## Lim", "text before the first section: 'Hello'"),
    ],
)
def test_what_is_wrong_is_told(old, new, told):
    assert old in GOOD
    with pytest.raises(InputError, match=rf"sheet.md(, line \d+)?: {told}"):
        card_material.parse_datasheet(GOOD.replace(old, new, 1), "sheet.md")
