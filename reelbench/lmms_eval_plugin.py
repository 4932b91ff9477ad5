"""What lmms-eval loads through its entry point: our tasks join its index, our baseline joins its models.

lmms-eval has an entry-point group for models only, and its `LMMS_EVAL_PLUGINS` does not register tasks (0.7.3). The
models' entry points run before any `TaskManager` exists, so that is where our folder of tasks is added to the index.
This module must never raise: an entry point that does stops all later ones, other people's too.
"""

import inspect
import logging
from collections.abc import Callable, Iterator
from functools import wraps
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

log = logging.getLogger("reelbench")

_MARK = "_reelbench_wrapped"
_EXPECTED = ("self", "include_path", "include_defaults")


def tasks_folder() -> Path:
    """Return the folder for lmms-eval's `--include_path`."""
    spec = find_spec("reelbench.tasks")  # finds the folder without importing it, in every way of installing
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("reelbench.tasks is not installed beside reelbench; reinstall reelbench")
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def manifests() -> list[Any]:
    """Register our tasks and return our models' manifests; the entry point of the group `lmms_eval.models`."""
    try:
        _register_tasks()
        return list(_models())
    except Exception:
        log.warning("reelbench could not register with this lmms-eval; use --include_path", exc_info=True)
        return []


def _models() -> Iterator[Any]:
    from lmms_eval.models.registry_v2 import ModelManifest

    yield ModelManifest(
        model_id="reelbench_baseline",
        simple_class_path="reelbench.baseline.SimpleBaseline",
        chat_class_path="reelbench.baseline.ChatBaseline",
    )


def _register_tasks() -> None:
    from lmms_eval.tasks import TaskManager

    if entry_points(group="lmms_eval.tasks"):
        return  # this lmms-eval has a way of its own
    original = TaskManager.initialize_tasks
    if getattr(original, _MARK, False):
        return
    if tuple(inspect.signature(original).parameters) != _EXPECTED:
        log.warning(
            "this lmms-eval indexes tasks in a way that reelbench does not know; use --include_path %s", tasks_folder()
        )
        return
    setattr(TaskManager, "initialize_tasks", _with_ours(original))  # noqa: B010 - says that it replaces a method


def _with_ours(original: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    @wraps(original)
    def initialize_tasks(self: Any, include_path: Any = None, include_defaults: bool = True) -> dict[str, Any]:  # noqa: ANN401
        index = original(self, include_path, include_defaults)
        for name, entry in _index(self).items():
            known = index.setdefault(name, entry)
            if known is not entry and known["type"] == entry["type"] == "tag":
                known["task"].extend(task for task in entry["task"] if task not in known["task"])
        return index

    setattr(initialize_tasks, _MARK, True)
    return initialize_tasks


def _index(manager: Any) -> dict[str, Any]:  # noqa: ANN401 - lmms-eval's TaskManager
    """Index our tasks, one benchmark's folder at a time: a broken YAML costs that folder only, and never the index."""
    index: dict[str, Any] = {}
    for folder in sorted(path for path in tasks_folder().iterdir() if (path / "__init__.py").is_file()):
        try:
            found = manager._get_task_and_group(str(folder))  # noqa: SLF001 - the one way to index a folder
        except Exception as error:  # noqa: BLE001 - whatever a YAML does to lmms-eval's indexer
            log.warning("%s: its tasks are left out: %s: %s", folder, type(error).__name__, error)
            continue
        for name, entry in found.items():
            if entry["type"] == "tag" and name in index:
                index[name]["task"].extend(entry["task"])
            else:
                index[name] = entry
    return index
