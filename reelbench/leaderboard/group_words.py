"""What a table is of and who scored it, in words: the same on a page, in files and in figures."""

from reelbench.leaderboard.board import Board
from reelbench.leaderboard.entries import RankingGroup, prompts_in_words
from reelbench.registry.spec import BenchmarkSpec


def split_words(group: RankingGroup) -> str:
    """Return the split and how it was asked."""
    own_data = "data of one’s own" if group.data else None
    parts = (group.split, group.subset, group.setting, group.protocol, group.errata, own_data)
    return ", ".join(part for part in parts if part)


def judge_words(spec: BenchmarkSpec, group: RankingGroup) -> str:
    """Return the judge and its prompts. Empty of a benchmark that needs none."""
    if group.judge is None:
        return "not judged" if spec.judge is not None else ""
    is_authors_judge = spec.judge is not None and group.judge == spec.judge.default_model
    if is_authors_judge and group.prompts == "official":
        return f"{group.judge}, the authors’ judge and prompts"
    judge = f"{group.judge} (the authors’ judge)" if is_authors_judge else group.judge
    return f"{judge}, {prompts_in_words(group.prompts)}"


def scoring_words(board: Board, group: RankingGroup) -> str:
    """Return the judge, the version, and the reason for no ranking."""
    version = f"version {group.version}" if group.version > 1 else None
    parts = (judge_words(board.spec(group), group), version, board.listed_only.get(group))
    return " · ".join(part for part in parts if part)


def table_words(board: Board, group: RankingGroup) -> str:
    """Return the words that tell a benchmark's tables apart."""
    parts = (split_words(group), scoring_words(board, group))
    return " · ".join(part for part in parts if part)
