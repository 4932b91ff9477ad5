"""Moments before and after the models: the rules at their edges, categories at their thresholds, replies."""

import json

import pytest

from reelbench.llm.reading import UnreadableError
from reelbench.studio import moment_pairs as replies
from reelbench.studio.chain_rules import Cuts, SourceRules
from reelbench.studio.funnel import DroppedError
from reelbench.studio.moment_sources import Captioned, Event, Query, fit_events, fit_window


def captioned(duration, *spans):
    return Captioned(
        "v", duration, tuple(Event(start, end, f"{start}") for start, end in spans), "s"
    )


def query(duration, *windows):
    return Query(qid="1", query="A cat.", vid="v", duration=duration, relevant_windows=windows)


def reason_of(rule, source, rules=None):
    with pytest.raises(DroppedError) as error:
        rule(source, rules or SourceRules())
    return error.value.reason


class TestRulesForCaptions:
    """Supplement C.2: events over 80 % go, under 60 % in all is sparse, gaps over 10 s part groups."""

    def test_an_event_of_just_80_percent_stays_and_more_drops_the_video(self):
        assert len(fit_events(captioned(100, (0, 80), (80, 90)), SourceRules())) == 2
        assert reason_of(fit_events, captioned(100, (0, 80.01), (80, 90))) == "long_event"

    def test_80_percent_is_held_as_it_is_written(self):
        # 0.8 * 30.9 is 24.72, which floating point makes 24.720000000000002 or less.
        assert len(fit_events(captioned(30.9, (0, 24.72), (24.72, 30)), SourceRules())) == 2
        assert reason_of(fit_events, captioned(30.9, (0, 24.73), (24.73, 30))) == "long_event"

    def test_or_the_event_alone(self):
        rules = SourceRules(long_event_drops="event")
        left = fit_events(captioned(100, (0, 90), (0, 40), (40, 70)), rules)
        assert [event.span for event in left] == [(0, 40), (40, 70)]

    def test_just_60_percent_is_enough_and_less_is_sparse(self):
        assert len(fit_events(captioned(100, (0, 30), (40, 70)), SourceRules())) == 2
        assert reason_of(fit_events, captioned(100, (0, 30), (40, 69.99))) == "sparse"

    def test_overlaps_count_twice_in_a_sum_and_once_in_a_union(self):
        twice = captioned(100, (0, 40), (20, 45))
        assert len(fit_events(twice, SourceRules())) == 2
        assert reason_of(fit_events, twice, SourceRules(coverage="union")) == "sparse"
        assert (
            len(fit_events(captioned(100, (0, 50), (20, 60)), SourceRules(coverage="union"))) == 2
        )

    def test_a_gap_of_just_10_seconds_parts_nothing(self):
        assert len(fit_events(captioned(100, (0, 30), (40, 70)), SourceRules())) == 2
        assert reason_of(fit_events, captioned(100, (0, 30), (40.01, 75))) == "few_events"

    def test_a_gap_is_measured_from_the_latest_end_so_far(self):
        assert len(fit_events(captioned(100, (0, 50), (5, 10), (60, 75)), SourceRules())) == 3

    def test_the_group_with_most_events_stays_and_of_equals_the_earliest(self):
        some = fit_events(
            captioned(200, (0, 60), (100, 120), (120, 140), (141, 170)), SourceRules()
        )
        assert [event.start for event in some] == [100, 120, 141]
        tied = fit_events(captioned(200, (0, 30), (30, 60), (100, 140), (140, 170)), SourceRules())
        assert [event.start for event in tied] == [0, 30]

    @pytest.mark.parametrize("span", [(10, 10), (20, 10), (-1, 5)])
    def test_times_that_are_none_drop_the_video(self, span):
        assert reason_of(fit_events, captioned(100, (0, 60), span)) == "bad_times"


class TestRulesForQueries:
    def test_a_whole_clip_is_dropped_from_start_to_finish_exactly(self):
        assert reason_of(fit_window, query(150, (0, 150))) == "whole_clip"
        assert fit_window(query(150, (0, 149)), SourceRules()) == (0, 149)
        assert fit_window(query(150, (1, 150)), SourceRules()) == (1, 150)
        assert (
            reason_of(fit_window, query(150, (1, 149)), SourceRules(whole_tolerance=1))
            == "whole_clip"
        )
        assert fit_window(query(150, (1, 148.9)), SourceRules(whole_tolerance=1)) == (1, 148.9)

    def test_a_query_that_comes_several_times_is_dropped(self):
        assert reason_of(fit_window, query(150, (0, 10), (20, 30))) == "repeated"
        assert fit_window(query(150, (20, 30)), SourceRules()) == (20, 30)


CAPTIONED = [(0, 5), (4, 7), (5, 9)]


def relation(**ratings):
    names = ("Directness", "Necessity", "Intentionality", "Purpose", "Similarity")
    pair = {"event1": "a", "event1_timestamp": [0, 5], "event2": "b", "event2_timestamp": [5, 9]}
    text = json.dumps({**pair, **dict(zip(names, ratings["all"], strict=True))})
    return replies.read_pair(text, replies.Relation, CAPTIONED, 10)


class TestCategories:
    @pytest.mark.parametrize(
        ("ratings", "category"),
        [
            ((2, 2, 2, 2, 1), "means-to-an-end"),
            ((3, 3, 3, 3, 0), "means-to-an-end"),
            ((2, 2, 1, 2, 1), "cause-effect"),
            ((2, 2, 2, 1, 1), "cause-effect"),
            ((2, 2, 0, 0, 0), "cause-effect"),
        ],
    )
    def test_at_the_thresholds(self, ratings, category):
        assert relation(all=ratings).category(Cuts()) == category

    @pytest.mark.parametrize(
        ("ratings", "reason"),
        [
            ((1, 2, 3, 3, 0), "not_causal"),
            ((2, 1, 3, 3, 0), "not_causal"),
            ((3, 3, 3, 3, 2), "similar"),
        ],
    )
    def test_below_them(self, ratings, reason):
        with pytest.raises(DroppedError, match=reason):
            relation(all=ratings).category(Cuts())

    def test_each_threshold_is_an_option(self):
        assert relation(all=(1, 1, 1, 1, 2)).category(
            Cuts(similar_from=3, causal_from=1, means_from=1)
        ) == ("means-to-an-end")

    def test_what_the_paper_also_calls_proactiveness(self):
        text = json.dumps(
            {
                "event1": "a",
                "event1_timestamp": [0, 5],
                "event2": "b",
                "event2_timestamp": [5, 9],
                "Directness": 3,
                "Necessity": 3,
                "Proactiveness": 3,
                "Purpose": 3,
                "Similarity": 0,
            }
        )
        assert (
            replies.read_pair(text, replies.Relation, CAPTIONED, 10).category(Cuts())
            == "means-to-an-end"
        )


class TestReplies:
    @pytest.mark.parametrize(
        ("change", "said"),
        [
            (
                {"event1_timestamp": [0, 11]},
                "event1_timestamp: not a part of the video, which goes from 0 to 10 s",
            ),
            ({"event2_timestamp": [7, 6]}, "event2_timestamp: not a part"),
            ({"event2_timestamp": [0, 5]}, "the same timestamp"),
            (
                {"event1_timestamp": [5, 9], "event2_timestamp": [0, 5]},
                "event1_timestamp: starts after the event2",
            ),
            ({"event2_timestamp": [6, 8]}, r"event2_timestamp: \[6, 8\] is no event's time"),
            ({"event2_timestamp": [5, 8.4]}, "event2_timestamp: .* is no event's time"),
            ({"Purpose": 4}, "Purpose"),
            ({"event1": " "}, "event1"),
        ],
    )
    def test_a_pair_that_can_not_be_is_not_read(self, change, said):
        pair = {
            "event1": "a",
            "event1_timestamp": [0, 5],
            "event2": "b",
            "event2_timestamp": [5, 9],
        }
        ratings = dict.fromkeys(
            ("Directness", "Necessity", "Intentionality", "Purpose", "Similarity"), 1
        )
        with pytest.raises(UnreadableError, match=said):
            replies.read_pair(
                json.dumps({**pair, **ratings, **change}), replies.Relation, CAPTIONED, 10
            )

    def test_rounded_times_and_two_events_that_are_one_after_the_other_are_read(self):
        pair = {
            "event1": "a",
            "event1_timestamp": [0, 4.6],
            "event2": "b",
            "event2_timestamp": [5, 9.4],
        }
        ratings = dict.fromkeys(
            ("Directness", "Necessity", "Intentionality", "Purpose", "Similarity"), 1
        )
        read = replies.read_pair(json.dumps({**pair, **ratings}), replies.Relation, CAPTIONED, 10)
        assert read.second_span == (5, 9.4)

    @pytest.mark.parametrize("text", ["none", "None.", '"none"'])
    def test_none_is_an_answer(self, text):
        with pytest.raises(DroppedError, match="none"):
            replies.read_neighbours(text).neighbour("cause", Cuts())

    @pytest.mark.parametrize(
        ("relevant", "alignment", "cut", "reason"),
        [
            ("no", "high", "high", "not_relevant"),
            ("yes", "medium", "high", "low_alignment"),
            ("Yes.", "High", "high", None),
            ("yes", "medium", "medium", None),
        ],
    )
    def test_what_is_seen_beside_a_query(self, relevant, alignment, cut, reason):
        seen = replies.read_neighbours(
            json.dumps(
                {"effect": "mud", "effect-relevant": relevant, "effect-alignment": alignment}
            )
        )
        if reason is None:
            assert seen.neighbour("effect", Cuts(alignment_from=cut)) == "mud"
        else:
            with pytest.raises(DroppedError, match=reason):
                seen.neighbour("effect", Cuts(alignment_from=cut, not_causal="drop"))

    def test_options_are_formed_alike(self):
        assert [
            replies.option(text)
            for text in ("She sits down.", "by car", "TV is on.", "I fall", "A  dog\nruns.")
        ] == [*("she sits down", "by car", "TV is on", "I fall", "a dog runs")]

    def test_wrong_answers_that_repeat_the_right_one_are_asked_again(self):
        wrong = {"wrong_answer_1": "She Sits.", "wrong_answer_2": "b", "wrong_answer_3": "c"}
        with pytest.raises(UnreadableError, match="two of the four"):
            replies.read_wrong(json.dumps(wrong), "she sits")
