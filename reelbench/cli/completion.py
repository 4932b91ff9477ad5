"""What a shell completes: the names of benchmarks and tasks, and models seen. Typer filters by what was typed."""

import re
from pathlib import Path


def benchmark_names() -> list[str]:
    """Return every benchmark's name."""
    from reelbench.registry import discovery

    return list(discovery.specs())


def task_names() -> list[str]:
    """Return every benchmark's name, and its tasks' (of those cut from a task, not each part's)."""
    from reelbench.registry import discovery

    specs = discovery.specs().values()
    return list(
        dict.fromkeys(name for spec in specs for name in (spec.id, *(t.name for t in spec.tasks if not t.only)))
    )


def model_names() -> list[str]:
    """Return the providers' prefixes, and the models of which replies are kept in the file of replies."""
    from reelbench.llm.ask_options import cache_place
    from reelbench.llm.cache import open_store
    from reelbench.llm.served import PROVIDERS

    place, seen = cache_place(), list[str]()
    if isinstance(place, Path) and place.is_file():
        models = (kept.model for kept in open_store(place, print).models())
        seen = [model for model in models if re.fullmatch(r"[\w./:@+-]+", model)]  # a shell reads them
    return [*seen, *(f"{name}/" for name in PROVIDERS)]
