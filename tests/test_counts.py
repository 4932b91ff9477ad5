"""What a sample costs is held by counting function calls, which are the same on every machine."""

from perf import counts


def test_no_way_takes_more_calls_for_a_sample_than_its_bound():
    most = counts.bounds()
    measured = counts.measured()
    assert measured.keys() == most.keys()
    too_many = {way: calls for way, calls in measured.items() if calls > most[way]}
    assert not too_many
    # A bound far above what is taken holds nothing.
    assert all(calls > 0.8 * most[way] for way, calls in measured.items())
