"""`reelbench list` and `reelbench path`."""

from reelbench.cli import console
from reelbench.cli.option_groups import Json


def list_benchmarks(*, as_json: Json = False) -> None:
    """List the benchmarks, their tasks, and which data is here."""
    from reelbench.registry import discovery
    from reelbench.registry.data import presence

    found = {spec.id: (spec, presence.find_local(spec)) for spec in discovery.specs().values()}
    if as_json:
        console.write_json(
            {
                name: {
                    "title": spec.title,
                    "tasks": [t.name for t in spec.tasks],
                    "data": here.data,
                    "media": here.media,
                }
                for name, (spec, here) in found.items()
            },
            indent=1,
        )
        return
    for name, (spec, here) in found.items():
        tasks = [task.name for task in spec.tasks if not task.only]
        parts = len(spec.tasks) - len(tasks)
        console.write(f"{name}  {spec.title}" + (f": {spec.summary}" if spec.summary else ""))
        console.write(f"    tasks  {', '.join(tasks)}" + (f", and {parts} for parts of it" if parts else ""))
        console.write(f"    data   {here.data}")
        console.write(f"    media  {here.media}")


def path() -> None:
    """Print the folder for lmms-eval's --include-path.

    `lmms-eval tasks list` and `power` need it.
    """
    from reelbench.lmms_eval_plugin import tasks_folder

    console.write(str(tasks_folder()))
