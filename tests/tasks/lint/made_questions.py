"""Made questions for the linter: clean sets, right options drawn by chance, and planted faults."""

from dataclasses import replace

import numpy as np

from reelbench.tasks.lint.questions import Question

WORDS = [
    "amber",
    "anchor",
    "apron",
    "basket",
    "beacon",
    "bottle",
    "bridge",
    "button",
    "candle",
    "canvas",
    "carpet",
    "castle",
    "circle",
    "cottage",
    "curtain",
    "desert",
    "diamond",
    "drawer",
    "engine",
    "feather",
    "flower",
    "forest",
    "garden",
    "hammer",
    "harbour",
    "island",
    "jacket",
    "kettle",
    "ladder",
    "lantern",
    "marble",
    "meadow",
    "mirror",
    "needle",
    "orchard",
    "packet",
    "pepper",
    "pillow",
    "ribbon",
    "saddle",
    "shadow",
    "silver",
    "spider",
    "statue",
    "summer",
    "temple",
    "thunder",
    "ticket",
    "tunnel",
    "valley",
    "velvet",
]


def made_set(rng, rows=300, per_video=5, options=4, *, by_video=False):
    """Return clean questions: no option stands out, and the right ones are drawn by chance.

    With `by_video` one draw places the right options of all questions about a video.
    """
    questions = []
    right = 0
    words = rng.choice(WORDS, (rows, options, 3))
    marked = rng.random((rows, options)) < 0.2  # some have marks, whichever is right
    for number in range(rows):
        video = number // per_video
        if not by_video or number % per_video == 0:
            right = int(rng.integers(options))
        texts = []
        for place in range(options):
            text = f"{' '.join(words[number, place])} {place + number}"
            if marked[number, place]:
                text = f"{text.capitalize()}, {words[number, place, 0]}."
            texts.append(text)
        questions.append(
            Question(
                id=f"q{number}",
                split="test",
                videos=(f"v{video}",),
                text=f"What comes after number {number}?",
                options=tuple(texts),
                right=(right,),
                labels=(f"part: {number % 7}",),
            )
        )
    return questions


def moved_to(question, place):
    """Return a question whose right option stands at a place: the two change places."""
    texts = list(question.options)
    (right,) = question.right
    texts[place], texts[right] = texts[right], texts[place]
    return replace(question, options=tuple(texts), right=(place,))


def with_right_at(questions, indices, share, rng):
    """Return questions of which a further share has the right option at the named places.

    `indices` has a place for each question, or None. A share of 0.1 raises one of 25 % to 35 %.
    """
    planted = []
    for question, place in zip(questions, indices, strict=True):
        if place is None:
            planted.append(question)
            continue
        # Some of those that are drawn are right by chance already.
        chance = 1 / len(question.options)
        if rng.random() < share / (1 - chance):
            planted.append(replace(question, right=(place,)))
        else:
            planted.append(question)
    return planted


def seeded(seed):
    return np.random.default_rng(seed)
