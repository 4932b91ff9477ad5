"""The order in which pull requests are looked at."""

from reelbench.leaderboard.webhook import Turns


def taken(turns, lane=0):
    """Take all, one after the other."""
    numbers = []
    while (one := turns.take(lane)) is not None:
        numbers.append(one[0])
        turns.done(one[0])
    return numbers


def test_submitters_take_turns_however_many_one_has_sent():
    turns = Turns()
    for number in range(1, 41):
        turns.add(number, "flood")
    turns.add(41, "ann")
    turns.add(42, "ben")
    turns.add(43, "ann")
    assert taken(turns)[:7] == [1, 41, 42, 2, 43, 3, 4]


def test_who_was_taken_is_behind_all_others():
    turns = Turns()
    for number, submitter in ((1, "a"), (2, "b"), (3, "a")):
        turns.add(number, submitter)
    assert turns.take(0) == (1, "a")
    turns.add(4, "c")
    assert [turns.take(0), turns.take(0), turns.take(0)] == [(2, "b"), (3, "a"), (4, "c")]


def test_a_newer_push_takes_the_place_of_the_one_that_waits():
    turns = Turns()
    for number in (1, 2, 1, 1):
        turns.add(number, "a")
    assert taken(turns) == [1, 2]
    turns.add(1, "a", 1)
    turns.add(1, "a")  # a push: it is short, perhaps
    assert (taken(turns, 1), taken(turns, 0)) == ([], [1])
    turns.add(1, "a")  # a push while it was looked at, which then was not done in time
    turns.add(1, "a", 1)
    assert (taken(turns, 1), taken(turns, 0)) == ([], [1])


def test_nothing_is_looked_at_twice_at_a_time():
    turns = Turns()
    turns.add(1, "a")
    assert turns.take(0) == (1, "a")
    turns.add(1, "a")
    turns.add(2, "a")
    assert turns.take(0) == (2, "a")
    assert turns.take(0) is None
    turns.done(1)
    assert turns.take(0) == (1, "a")


def test_where_too_many_wait_whoever_has_the_most_loses_the_newest():
    turns = Turns(most=4)
    assert [turns.add(number, "flood") for number in (1, 2, 3, 4)] == [None] * 4
    assert [turns.add(5, "ann"), turns.add(6, "flood"), turns.add(7, "ben")] == [4, 6, 3]
    assert taken(turns) == [1, 5, 7, 2]
