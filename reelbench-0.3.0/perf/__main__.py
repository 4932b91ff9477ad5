"""All measurements that need no files of others, one after the other: `make perf`. A quiet machine is fairer."""

import subprocess
import sys

MODULES = (
    *(
        "startup",
        "load",
        "answers",
        "predictions",
        "judge",
        "scale",
        "ace",
        "frames",
        "leaderboard",
        "view",
    ),
    *(
        "making",
        "counts",
        "profile",
        "review",
        "diagnose",
        "coverage",
        "pictures",
        "waiting",
        "store",
        "memory",
        "gpu",
        "asking",
        "pace",
    ),
)
"""`score` is the one that is left out: it needs the authors' ground truth."""


def main() -> int:
    """Run each as a process of its own; returns 1 if one failed."""
    failed = [
        name
        for name in MODULES
        if subprocess.run([sys.executable, "-m", f"perf.{name}"], check=False).returncode
    ]
    for name in failed:
        print(f"failed: perf.{name}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
