"""Agreement of tags: the fact sheet's hand-worked values, scikit-learn, and the definitions written out once more."""

import itertools
import json
import random

import numpy as np
import pytest

from reelbench.base.errors import InputError
from reelbench.scoring.cognitive_profile import COMPONENTS, CONTENT, TARGET, THINKING, Tags
from reelbench.scoring.tag_agreement import annotator_tests, jaccard, masi, tag_agreement
from reelbench.stats.agreement import krippendorff_alpha


def tags(target=(), content=("Identity",), thinking="Recall"):
    return Tags(tuple(target), tuple(content), thinking)


def numbered(rows):
    return {f"q{i}": row for i, row in enumerate(rows)}


def random_tags(rng):
    return Tags(
        tuple(rng.sample(TARGET, rng.randint(0, 3))),
        tuple(rng.sample(CONTENT, rng.randint(0, 3))),
        rng.choice(THINKING),
    )


def two_taggers(seed, n=150, same=0.6):
    rng = random.Random(seed)
    a = numbered(random_tags(rng) for _ in range(n))
    b = {item: tag if rng.random() < same else random_tags(rng) for item, tag in a.items()}
    return a, b


# --- hand-worked
# -----------------------------------------------------------------------------------------------------


def test_the_two_by_two_table():
    # Both 40, only a 3, only b 2, neither 955.
    pairs = [("x", "x")] * 40 + [("x", "")] * 3 + [("", "x")] * 2 + [("", "")] * 955
    a, b = (
        numbered(tags(["Object"] if side else []) for side in column)
        for column in zip(*pairs, strict=True)
    )
    label = tag_agreement(a, b)["labels"]["target.Object"]
    assert (label["n_a"], label["n_b"]) == (43, 42)
    assert label["exact"]["value"] == pytest.approx(0.995, abs=1e-12)
    assert label["kappa"]["value"] == pytest.approx(0.93857, abs=5e-6)
    assert label["f1"]["value"] == pytest.approx(0.94118, abs=5e-6)
    assert label["ac1"]["value"] == pytest.approx(0.99456, abs=5e-6)


def test_alpha_with_masi():
    # Units ({A}, {A}), ({A, B}, {A}), ({B}, {C}): observed 5/9, expected 32/45.
    a = numbered([tags(["Character"]), tags(["Character", "Object"]), tags(["Object"])])
    b = numbered([tags(["Character"]), tags(["Character"]), tags(["Place"])])
    target = tag_agreement(a, b)["sets"]["target"]
    assert target["alpha_masi"]["value"] == pytest.approx(0.21875, abs=1e-12)
    assert target["exact"]["value"] == pytest.approx(1 / 3)
    assert target["jaccard"]["value"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("a", "b", "distance"),
    [
        ("", "", 0),
        ("", "A", 1),
        ("AB", "BA", 0),
        ("A", "B", 1),
        ("AB", "A", 2 / 3),
        ("AB", "BC", 1 - 1 / 9),
    ],
)
def test_masi_by_hand(a, b, distance):
    assert (
        masi(frozenset(a), frozenset(b))
        == masi(frozenset(b), frozenset(a))
        == pytest.approx(distance)
    )


def test_two_empty_sets_agree():
    report = tag_agreement(numbered([tags(), tags(["Place"])]), numbered([tags(), tags(["Event"])]))
    assert report["sets"]["target"]["exact"]["value"] == 0.5
    assert report["sets"]["target"]["jaccard"]["value"] == 0.5
    assert jaccard(frozenset(), frozenset()) == 1


# --- against others
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_labels_and_thinking_as_scikit_learn_has_them(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    a, b = two_taggers(seed)
    report = tag_agreement(a, b)
    for component, names in COMPONENTS.items():
        for name in names:
            x, y = (
                [name in np.atleast_1d(getattr(side[item], component)) for item in a]
                for side in (a, b)
            )
            label = report["labels"][f"{component}.{name}"]
            assert label["exact"]["value"] == pytest.approx(metrics.accuracy_score(x, y))
            assert label["kappa"]["value"] == pytest.approx(metrics.cohen_kappa_score(x, y))
            assert label["f1"]["value"] == pytest.approx(metrics.f1_score(x, y))
    x, y = ([THINKING.index(side[item].thinking) for item in a] for side in (a, b))
    assert report["thinking"]["kappa"]["value"] == pytest.approx(metrics.cohen_kappa_score(x, y))
    assert report["thinking"]["kappa_quadratic"]["value"] == pytest.approx(
        metrics.cohen_kappa_score(x, y, weights="quadratic")
    )
    assert report["thinking"]["alpha_ordinal"]["value"] == pytest.approx(
        krippendorff_alpha(zip(x, y, strict=True))
    )


@pytest.mark.parametrize("seed", range(5))
def test_ac1_by_gwets_general_formula(seed):
    # Gwet 2008: chance = sum over q categories of share · (1 - share) / (q - 1), share the two
    # raters' mean.
    a, b = two_taggers(seed)
    x, y = (np.array(["Emotion" in side[item].target for item in a]) for side in (a, b))
    shares = [((x == kind).mean() + (y == kind).mean()) / 2 for kind in (True, False)]
    by_chance = sum(share * (1 - share) for share in shares) / (2 - 1)
    seen = (x == y).mean()
    ac1 = tag_agreement(a, b)["labels"]["target.Emotion"]["ac1"]["value"]
    assert ac1 == pytest.approx((seen - by_chance) / (1 - by_chance))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("component", ["target", "content"])
def test_alpha_by_its_definition(seed, component):
    """1 - the mean distance within items / the mean distance of any two ratings, each pair by hand."""

    def distance(p, q):
        p, q = set(p), set(q)
        if p == q:
            return 0
        weight = 0 if not p & q else 2 / 3 if p < q or q < p else 1 / 3
        return 1 - weight * len(p & q) / len(p | q)

    a, b = two_taggers(seed, n=60)
    units = [(getattr(a[item], component), getattr(b[item], component)) for item in a]
    observed = np.mean([distance(*unit) for unit in units])
    expected = np.mean(
        [distance(p, q) for p, q in itertools.permutations(itertools.chain(*units), 2)]
    )
    alpha = tag_agreement(a, b)["sets"][component]["alpha_masi"]["value"]
    assert alpha == pytest.approx(1 - observed / expected)


# --- intervals, gaps, shape
# ------------------------------------------------------------------------------------------


def test_intervals_lie_over_videos():
    a, b = two_taggers(3, n=200)
    alone = tag_agreement(a, b, {item: item for item in a})
    in_twos = {item: f"v{int(item[1:]) // 20}" for item in a}
    # Ten items of a video that all agree or all don't: as little known as from the videos alone.
    copied = {item: tags(["Event"] if i // 20 % 2 else []) for i, item in enumerate(a)}
    nothing = {item: tags() for item in a}
    report = tag_agreement(copied, nothing, in_twos)
    low, high = report["labels"]["target.Event"]["exact"]["ci95"]
    assert report["labels"]["target.Event"]["exact"]["value"] == 0.5
    # Ten videos, half and half: Wilson's interval of 5 of 10, with t(9) = 2.262 and the variance of
    # n - 1.
    inverse = 2.262**2 / 9
    half = (inverse * 0.25 + inverse**2 / 4) ** 0.5 / (1 + inverse)
    assert (low, high) == (pytest.approx(0.5 - half, abs=0.01), pytest.approx(0.5 + half, abs=0.01))
    for estimate in (
        alone["sets"]["target"]["alpha_masi"],
        alone["thinking"]["kappa"],
        alone["labels"]["target.Place"]["ac1"],
    ):
        assert estimate["ci95"][0] < estimate["value"] < estimate["ci95"][1]


def test_what_is_undefined_is_none():
    same = numbered([tags(["Place"])] * 4)
    report = tag_agreement(same, same, {item: item for item in same})
    unused, used = report["labels"]["target.Event"], report["labels"]["target.Place"]
    assert (unused["f1"]["value"], unused["kappa"]["value"], unused["ac1"]["value"]) == (
        None,
        None,
        1,
    )
    assert (used["f1"]["value"], used["kappa"]["value"], used["exact"]["value"]) == (1, None, 1)
    assert report["sets"]["target"]["alpha_masi"]["value"] is None
    assert (
        report["thinking"]["alpha_ordinal"]["value"] is report["thinking"]["kappa"]["ci95"] is None
    )


def test_only_items_of_both_are_compared():
    a = numbered([tags(["Place"]), tags(["Event"]), tags(["Object"])])
    b = {"q1": tags(["Event"]), "q7": tags(["Place"])}
    report = tag_agreement(a, b)
    assert (report["both"], report["only_a"], report["only_b"]) == (1, 2, 1)
    assert report["sets"]["target"]["exact"]["value"] == 1
    assert report["sets"]["target"]["exact"]["ci95"] is None  # no videos given


def test_nothing_in_common_or_a_video_missing_is_told():
    with pytest.raises(InputError, match="tagged in both"):
        tag_agreement({"q1": tags()}, {"q2": tags()})
    with pytest.raises(InputError, match=r"q1: .*video"):
        tag_agreement({"q1": tags()}, {"q1": tags()}, {"q2": "v"})


def test_the_report_is_json():
    a, b = two_taggers(1, n=40)
    document = json.loads(json.dumps(tag_agreement(a, b, {item: item[:2] for item in a})))
    assert document["labels"].keys() == {
        f"{part}.{name}" for part, names in COMPONENTS.items() for name in names
    }
    assert document["labels"]["thinking.Recall"].keys() == {
        "n_a",
        "n_b",
        "exact",
        "kappa",
        "f1",
        "ac1",
    }
    assert document["sets"].keys() == {"target", "content"}
    assert document["sets"]["content"].keys() == {"exact", "jaccard", "alpha_masi"}
    assert document["thinking"].keys() == {"kappa", "kappa_quadratic", "alpha_ordinal"}
    assert document["thinking"]["kappa"].keys() == {"value", "ci95"}


def test_a_machine_that_says_what_two_people_say_passes_and_another_fails():
    people = {
        who: {
            f"q{n}": Tags(("Character",) if n % 2 else ("Object",), (), "Recall") for n in range(40)
        }
        for who in "ab"
    }
    like, unlike = (
        dict(people["a"]),
        {f"q{n}": Tags(("Place",), (), "Reasoning") for n in range(40)},
    )
    assert {name: test["passes"] for name, test in annotator_tests(like, people).items()} == {
        "target": True, "content": True, "thinking": True
    }  # fmt: skip
    # Two empty sets agree, so of contents it says the same; of targets and thinking nothing that
    # anybody says.
    assert {name: test["passes"] for name, test in annotator_tests(unlike, people).items()} == {
        "target": False, "content": True, "thinking": False
    }  # fmt: skip
    with pytest.raises(InputError, match="two people or more"):
        annotator_tests(like, {"a": people["a"]})
