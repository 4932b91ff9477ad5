"""Reelbench: one hub for evaluating video-language models on story and culture.

The rooms (`registry`, `llm`, `hub_cards`, `judges`, `tasks`, `leaderboard`, `making`, `methods`) are sub-packages; this
package itself holds only the version, the thin command line and what lmms-eval loads through its entry point.
"""

__version__ = "0.1.0"
