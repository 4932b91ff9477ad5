"""Where Reelbench keeps what it makes: one folder, `$REELBENCH_HOME`, looked up when it is needed."""

import os
from pathlib import Path


def home() -> Path:
    """Return `$REELBENCH_HOME`, by default `~/.cache/reelbench`; it need not exist yet."""
    return Path(os.environ.get("REELBENCH_HOME") or "~/.cache/reelbench").expanduser().absolute()
