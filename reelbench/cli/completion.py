"""What a shell completes: the names of benchmarks and tasks. Typer filters by what was typed."""


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
