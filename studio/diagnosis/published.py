"""What CURVE's supplement reports of its own diagnosis, to stand beside a new one; other models, other questions.

Shares are fractions. Values of Fig. 3 stand in a picture only, so they are not here.
"""

from typing import Any

GRAPHS: dict[str, Any] = {
    "questions": 878,
    "nodes": {"mean": 5.0, "sd": 2.5, "total": 4351},
    "timestamps": {"mean": 3.1, "sd": 2.5, "total": 2743},
    "edges": {"mean": 4.4, "sd": 3.1, "total": 3865},
    "depth": {"mean": 2.5, "sd": 1.3},
}
"""Tab. 7, six locales; the unit of depth is not stated."""

CONSENSUS: dict[str, dict[str, int]] = {
    "en-GB": {"majority": 106, "none": 11},
    "es-MX": {"majority": 109, "none": 0},
    "ja-JP": {"majority": 95, "none": 1},
    "ar-EG": {"majority": 247, "none": 4},
    "ru-RU": {"majority": 140, "none": 3},
    "ta-IN": {"majority": 157, "none": 1},
}
"""Tab. 9: three votes of Gemini-2.5-Pro in the first round; by the counts, of nodes."""

PEOPLE_AGREE = 0.885
"""D.3: share of a tagger's labels that people share, on 60 questions."""

OTHER_TAGGER = 0.02
"""D.3: by about how much the shares of perception and reasoning differ with another tagger (GPT-5)."""
