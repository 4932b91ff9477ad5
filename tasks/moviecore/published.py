"""Numbers that others published on MovieCORE, with where they stand."""

from typing import Literal

from reelbench.registry.spec import PublishedResult

_JUDGE = "gpt-4o-mini-2024-07-18"
_URL = "https://arxiv.org/abs/2508.19026"
_DIMENSIONS = ("accuracy", "comprehensiveness", "depth", "evidence", "coherence", "average")

Setting = Literal["zero-shot", "fine-tuned"]


def _judged(
    model: str, setting: Setting, numbers: str, *, table: int = 2, note: str = "", open_weights: bool = True
) -> PublishedResult:
    """One row of a judged table: five dimensions and the average, as printed."""
    values = map(float, numbers.split())
    return PublishedResult(
        model=model,
        split="test",
        setting=setting,
        metrics=dict(zip(_DIMENSIONS, values, strict=True)),
        cite=f"MovieCORE (arXiv 2508.19026), Table {table}",
        url=_URL,
        judge=_JUDGE,
        prompts="official",
        open_weights=open_weights,
        note=note,
    )


def _overlap(model: str, setting: Setting, bleu4: float, cider: float, meteor: float) -> PublishedResult:
    return PublishedResult(
        model=model,
        split="test",
        setting=setting,
        metrics={"bleu4": bleu4, "cider": cider, "meteor": meteor},
        cite="MovieCORE (arXiv 2508.19026), Table 4",
        url=_URL,
        open_weights=True,
    )


_SYSTEM_1 = (
    "Only this number is printed. Table 5 sets it against MovieChat-1k, questions of System-1 kind on the same videos, "
    "where HERMES has {} accuracy (about {} on the scale of 0 to 5)."
)

_QUOTED: tuple[tuple[Setting, float, str, tuple[str, str]], ...] = (
    ("zero-shot", 1.14, "Table 2 prints 1.41 for the same setting.", ("78.6 %", "3.93")),
    ("fine-tuned", 3.52, "Table 2 prints 3.52 as accuracy and 2.93 as average.", ("84.9 %", "4.25")),
)

PUBLISHED: tuple[PublishedResult, ...] = (
    _judged("Gemini-2.5-flash", "zero-shot", "4.26 4.50 4.00 4.03 3.84 4.13", open_weights=False),
    _judged("Gemini-1.5-pro", "zero-shot", "3.91 3.81 3.90 3.87 3.79 3.86", open_weights=False),
    _judged("GPT-4o (08-06)", "zero-shot", "4.18 4.00 3.98 3.96 3.96 4.02", open_weights=False),
    _judged("InstructBLIP (7B)", "zero-shot", "1.03 0.43 0.85 0.33 0.40 0.61"),
    _judged("MA-LMM (7B)", "zero-shot", "1.14 0.63 0.93 0.57 0.67 0.79"),
    _judged(
        "HERMES (7B)",
        "zero-shot",
        "1.77 1.21 1.41 1.28 0.37 1.41",
        note="The printed average is 1.41; its five dimensions average 1.208. Table 5 quotes 1.14.",
    ),
    _judged("LongVU (7B)", "zero-shot", "2.95 2.01 1.94 2.06 2.12 2.22"),
    _judged("mPLUG-Owl3 (7B)", "zero-shot", "3.55 2.75 2.39 2.78 2.82 2.86"),
    _judged("Qwen2.5-VL (7B)", "zero-shot", "3.78 3.54 3.36 3.42 3.50 3.52"),
    _judged("InternVL2 (7B)", "zero-shot", "3.80 3.42 3.10 3.37 3.51 3.44"),
    _judged("InternVL2.5 (8B)", "zero-shot", "3.87 3.54 3.37 3.65 3.65 3.62"),
    _judged("InstructBLIP (7B)", "fine-tuned", "3.25 2.43 2.47 2.61 2.38 2.63"),
    _judged("MA-LMM (7B)", "fine-tuned", "3.42 2.54 2.66 2.81 2.50 2.79"),
    _judged(
        "HERMES (7B)",
        "fine-tuned",
        "3.52 2.72 2.83 2.98 2.62 2.93",
        note="Table 5 quotes 3.52, this row's accuracy, as the score.",
    ),
    _judged("InstructBLIP (7B) + ACE", "fine-tuned", "3.71 3.15 3.02 3.30 3.25 3.29", note="ACE with beam width 5."),
    _judged("MA-LMM (7B) + ACE", "fine-tuned", "3.76 3.24 3.09 3.39 3.30 3.35", note="ACE with beam width 5."),
    _judged("HERMES (7B) + ACE", "fine-tuned", "3.81 3.30 3.12 3.38 3.42 3.41", note="ACE with beam width 5."),
    _judged("HERMES (7B) + ACE, beam 3", "fine-tuned", "3.81 3.40 3.19 3.42 3.43 3.45", table=3),
    _judged(
        "HERMES (7B) + ACE, beam 5",
        "fine-tuned",
        "3.81 3.30 3.12 3.38 3.42 3.41",
        table=3,
        note="The same numbers as HERMES + ACE in Table 2.",
    ),
    _judged("HERMES (7B) + ACE, beam 7", "fine-tuned", "3.79 3.29 3.08 3.36 3.35 3.37", table=3),
    _overlap("InternVL2.5 (8B)", "zero-shot", 0.0645, 0.1865, 0.1026),
    _overlap("mPLUG-Owl3 (7B)", "zero-shot", 0.0602, 0.1579, 0.1462),
    _overlap("HERMES (7B)", "fine-tuned", 0.0308, 0.1230, 0.0983),
    _overlap("HERMES (7B) + ACE", "fine-tuned", 0.0654, 0.1622, 0.2138),
    _overlap("MA-LMM (7B) + ACE", "fine-tuned", 0.0634, 0.1587, 0.1948),
    _overlap("InstructBLIP (7B) + ACE", "fine-tuned", 0.0605, 0.1572, 0.1893),
    *(
        PublishedResult(
            model=f"HERMES (7B), {setting} as in Table 5",
            split="test",
            setting=setting,
            metrics={"average": score},
            cite="MovieCORE (arXiv 2508.19026), Table 5",
            url=_URL,
            judge=_JUDGE,
            prompts="official",
            subset="as quoted in Table 5",
            open_weights=True,
            note=f"{contradiction} {_SYSTEM_1.format(*system_1)}",
        )
        for setting, score, contradiction, system_1 in _QUOTED
    ),
)
