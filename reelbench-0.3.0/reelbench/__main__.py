"""`python -m reelbench` is `reelbench`."""

from reelbench.cli import main

if __name__ == "__main__":
    main()
