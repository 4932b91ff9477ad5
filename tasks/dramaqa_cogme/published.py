"""Numbers that others published on DramaQA and CogME, with where they stand."""

from reelbench.registry.spec import PublishedResult

_COGME = "CogME (CogSci 2024), results on episodes 13 to 15"
_COGME_URL = "https://escholarship.org/uc/item/8p3137gd"
_TAGGED = "CogME's 4,385 tagged questions"
_CONTINUAL = {
    "LLaMA-Adapter": 60.99,
    "L2P": 62.50,
    "DualPrompt": 65.89,
    "LAE": 65.82,
    "ProgPrompt": 67.92,
    "ColPro": 71.24,
    "DAM": 67.37,
    "Bisecle": 71.49,
    "DynaTokens": 72.52,
}


def _rates(labels: dict[str, float]) -> dict[str, dict[str, float]]:
    return {label: {"rate": rate} for label, rate in labels.items()}


PUBLISHED: tuple[PublishedResult, ...] = (
    PublishedResult(
        model="MCM",
        split="val",
        setting="fine-tuned",
        metrics={"accuracy": 73.4},
        breakdowns={
            "target": _rates({"Commonsense": 35.8}),
            "content": _rates({"Identity": 79.1, "Means": 34.3, "Relationship": 47.8, "Causality": 47.2}),
        },
        subset=_TAGGED,
        cite=_COGME,
        url=_COGME_URL,
        note="The 4,385 questions match no published size of the validation split. Only some labels are printed.",
    ),
    PublishedResult(
        model="MemN2N",
        split="val",
        setting="fine-tuned",
        metrics={"accuracy": 58.7},
        subset=_TAGGED,
        cite=_COGME,
        url=_COGME_URL,
        note="By label only differences: about 1 point ahead of MCM on Means, about 20 behind on Conversation.",
    ),
    PublishedResult(
        model="LLaMA-VQA (Flipped-VQA)",
        split="val",
        setting="fine-tuned",
        metrics={"accuracy": 84.1},
        cite="Papers with Code, Large Language Models are Temporal and Causal Reasoners",
        url="https://paperswithcode.com/paper/large-language-models-are-temporal-and-causal",
        open_weights=True,
        note="The page names no split; the authors' code evaluates on validation.",
    ),
    *(
        PublishedResult(
            model=model,
            split="val",
            setting="fine-tuned",
            metrics={"accuracy": accuracy},
            subset="continual learning",
            cite="DynaTokens (cruiseresearchgroup/DynaTokens), README",
            url="https://github.com/cruiseresearchgroup/DynaTokens",
            note="Continual learning over five question types: another protocol than the benchmark's own.",
        )
        for model, accuracy in _CONTINUAL.items()
    ),
)
