"""Ids that are told apart on disk, some at a time."""

import pytest

from reelbench.base.errors import InputError
from reelbench.base.temporary_tables import IdWithLocation, KnownId, UniqueIds
from reelbench.base.values import batches


def placed(*names):
    return [
        IdWithLocation(name, f"row {number}", f"text of {name}")
        for number, name in enumerate(names, start=1)
    ]


def test_ids_that_were_there_have_the_place_where_they_were_first():
    ids = UniqueIds()
    assert ids.first_locations(placed("a", "b", "a", "c", "b", "a")) == {2: "row 1", 4: "row 2", 5: "row 1"}  # fmt: skip
    next_ids = [IdWithLocation("d", "row 7", None), IdWithLocation("c", "row 8", None)]
    assert ids.first_locations(next_ids) == {1: "row 4"}
    assert list(ids) == ["a", "b", "c", "d"]
    assert len(ids) == 4


def test_an_id_that_occurs_twice_is_named_with_both_places():
    ids = UniqueIds()
    with pytest.raises(InputError, match="row 3: the id 'a' occurs twice, first at row 1; keep"):
        ids.add_each(placed("a", "b", "a", "a"))


def test_what_cannot_be_read_behind_an_id_twice_is_not_looked_at():
    def entries():
        yield from placed("a", "a")
        raise InputError("row 3 is none")

    with pytest.raises(InputError, match="row 2: the id 'a' occurs twice"):
        UniqueIds().add_each(entries())


def test_ids_are_found_with_their_number_and_text():
    ids = UniqueIds()
    half = "\ud83d"  # of an emoji
    ids.add_each(
        [
            IdWithLocation("a", "row 1", "A"),
            IdWithLocation(half, "row 2", "B"),
            IdWithLocation("z", "folder \udce9, row 3", None),
        ]
    )
    assert ids.find(["z", "q", half]) == {half: KnownId(2, "B"), "z": KnownId(3, None)}
    with pytest.raises(InputError, match="first at folder \ufffd, row 3"):
        ids.add("z", "row 4")


def test_batches_before_an_error_are_yielded_before_it_is_raised():
    def entries():
        yield from "abc"
        raise InputError("row 4 is none")

    seen = []
    with pytest.raises(InputError, match="row 4"):
        seen.extend(batches(entries(), 2))
    assert seen == [["a", "b"], ["c"]]
    assert list(batches("abcd", 2)) == [["a", "b"], ["c", "d"]]
    assert list(batches("", 2)) == []
