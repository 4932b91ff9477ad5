"""Where Reelbench keeps what it makes: one folder, `$REELBENCH_HOME`, looked up when it is needed."""

from pathlib import Path

from reelbench.registry import settings


def home() -> Path:
    """Return `$REELBENCH_HOME`, by default `~/.cache/reelbench`; it need not exist yet."""
    return settings.expanded(settings.HOME.get()).absolute()
