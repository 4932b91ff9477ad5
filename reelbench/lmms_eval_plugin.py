"""What lmms-eval loads through its entry point: our tasks join its index, our baseline joins its models.

A task of ours whose data or videos are not here is left out of a run with one line that says why: lmms-eval itself
would give up all the tasks of the run.

lmms-eval has an entry-point group for models only, and its `LMMS_EVAL_PLUGINS` does not register tasks (0.7.3). The
models' entry points run before any `TaskManager` exists, so that is where our folder of tasks is added to the index.
This module must never raise: an entry point that does stops all later ones, other people's too.
"""

import inspect
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable
from functools import partial, wraps
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from reelbench.registry import settings
from reelbench.registry.credentials import without_credentials

log = logging.getLogger("reelbench")

_MARK = "_reelbench_wrapped"
_LEFT_OUT = "_reelbench_left_out"
_NO_KEY = "EMPTY"
"""What servers that need no key are usually sent."""


def tasks_folder() -> Path:
    """Return the folder of our own tasks, for lmms-eval's `--include_path`."""
    return _folder("reelbench.tasks")


def _folder(package: str) -> Path:
    spec = find_spec(package)  # finds the folder without importing it, in every way of installing
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{package} is not a package that is installed; reinstall what names it")
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def manifests() -> list[Any]:
    """Register our tasks and return our models' manifests; the entry point of the group `lmms_eval.models`."""
    try:
        _wrap_all()
        _say_it_in_one_line()
        _look_at_the_server()
        from lmms_eval.models.registry_v2 import ModelManifest

        baseline = "reelbench.methods.baseline"
        chat, simple = f"{baseline}.ChatBaseline", f"{baseline}.SimpleBaseline"
        return [ModelManifest(model_id="reelbench_baseline", simple_class_path=simple, chat_class_path=chat)]
    except Exception:
        log.warning("reelbench could not register with this lmms-eval; use --include_path", exc_info=True)
        return []


def _look_at_the_server() -> None:
    """Look at the address of a server that is asked, on lmms-eval's own command line.

    A placeholder is set for a key where none is there and the server is one's own: its client demands one. What an
    address without a path lacks is said: lmms-eval counts each 404 as an answer that failed.
    """
    words = " ".join(sys.argv)
    host = re.search(r"base_url=[a-z]+://(?:[^@/,]*@)?([^:/,]+)", words)
    if host is not None and host[1] != "api.openai.com" and not settings.OPENAI_API_KEY.is_set:
        os.environ[settings.OPENAI_API_KEY.name] = _NO_KEY
        log.warning("%s is not set: %s is sent to %s in its place", settings.OPENAI_API_KEY.name, _NO_KEY, host[1])
    if bare := re.search(r"base_url=([a-z]+://[^/,\s]+)/?(?=[,\s]|$)", words):
        log.warning("base_url=%s has no path, and most servers have /v1", without_credentials(bare[1]))


def _say_it_in_one_line() -> None:
    """Where `reelbench run` started this, leave out the traceback before lmms-eval's own line on what ended a run."""
    program = sys.modules.get("lmms_eval.__main__")
    of_run = settings.JUDGE.name in os.environ and not settings.JUDGE.is_set  # it asks the judge afterwards
    if of_run and "DEBUG" not in sys.argv:
        quiet = SimpleNamespace(**{**vars(traceback), "print_exc": lambda *_, **__: None})
        if program is not None and getattr(program, "traceback", None) is traceback:
            program.traceback = quiet  # type: ignore[attr-defined] - what its own code calls so


def _wrap_all() -> None:
    """Wrap what lmms-eval calls, each method once; where it takes other arguments than we know, say what is lost."""
    from lmms_eval.tasks import TaskManager

    this = "this lmms-eval"
    # One that has a way of its own to register tasks needs none of ours.
    if not entry_points(group="lmms_eval.tasks") and not (
        _wrap(TaskManager, "initialize_tasks", "self include_path include_defaults", _with_our_tasks)
        and _wrap(TaskManager, "_get_config", "self name", _declared_config)
    ):
        use = f"use --include_path {tasks_folder()}"
        log.warning("%s indexes tasks in a way that reelbench does not know; %s", this, use)
    load = "_load_individual_task_or_group"
    if not (
        _wrap(TaskManager, load, "self name_or_config task_type parent_name update_config", _load_what_is_here)
        and _wrap(TaskManager, "load_task_or_group", "self task_list task_type", _load_anything)
    ):
        log.warning("%s loads tasks in a way that reelbench does not know; absent data ends the whole run", this)
    from lmms_eval.api.model import lmms

    _wrap(lmms, "create_from_arg_string", None, _create_model, classmethod)
    from lmms_eval.models.registry_v2 import ModelRegistryV2

    if not _wrap(ModelRegistryV2, "get_model_class", "self model_name force_simple", _patched_adapter):
        log.warning("%s looks adapters up in a way that reelbench does not know; no beams", this)
    from lmms_eval.caching.response_cache import ResponseCache

    _wrap(ResponseCache, "_is_valid_response", None, _is_no_failure, staticmethod)


def _wrap(
    owner: type,
    name: str,
    expected: str | None,
    ours: Callable[..., Any],
    kind: "type[classmethod[Any, Any, Any] | staticmethod[Any, Any]] | None" = None,
) -> bool:
    """Have `ours` called in a method's place, with the method first, if that takes what is expected.

    False, and nothing changed, if it doesn't, or is not of this `kind`.
    """
    original: Any = owner.__dict__.get(name) if kind else getattr(owner, name, None)
    if kind is not None:
        original = original.__func__ if isinstance(original, kind) else None
    if getattr(original, _MARK, False):
        return True
    if not callable(original) or (expected and [*inspect.signature(original).parameters] != expected.split()):
        return False

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as the original
        return ours(original, *args, **kwargs)

    setattr(method, _MARK, True)
    setattr(owner, name, kind(method) if kind else method)
    return True


# --- in the place of lmms-eval's ----------------------------------------------------------------------------------


def _create_model(original: Callable[..., Any], cls: type, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Learn of each model that is made whether it sends videos on as they are: only the model itself knows."""
    from reelbench.tasks.lmms import adapters

    model = original(cls, *args, **kwargs)
    adapters.passes_video = getattr(model, adapters.PASS_VIDEO, False) is True
    adapters.task_type = "simple" if getattr(model, "is_simple", True) else "chat"
    return model


def _patched_adapter(original: Callable[..., type], *args: Any, **kwargs: Any) -> type:  # noqa: ANN401
    """Have each adapter's class answer our tasks the way that was chosen: candidates, or the scores of options."""
    from reelbench.tasks.lmms.adapter_patches import patched

    return patched(original(*args, **kwargs))


def _is_no_failure(original: Callable[[Any, str], bool], response: Any, request_type: str) -> bool:  # noqa: ANN401
    """Have lmms-eval's response cache ask again where a request failed: it would keep the mark as an answer."""
    from reelbench.scoring import aggregation

    text = getattr(response, "text", response)
    return not (isinstance(text, str) and aggregation.is_failure(text)) and original(response, request_type)


def _with_our_tasks(original: Callable[..., dict[str, Any]], self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401
    index = original(self, *args, **kwargs)
    for name, entry in _index(self).items():
        known = index.setdefault(name, entry)
        if known is not entry and known["type"] == entry["type"] == "tag":
            known["task"].extend(task for task in entry["task"] if task not in known["task"])
    return index


def _declared_config(original: Callable[..., dict[str, Any]], self: Any, name: str) -> dict[str, Any]:  # noqa: ANN401
    from reelbench.tasks.lmms import codegen

    return codegen.config(name) or original(self, name)


def _index(manager: Any) -> dict[str, Any]:  # noqa: ANN401 - lmms-eval's TaskManager
    """Index each benchmark's tasks, ours, other packages' and files': a broken one costs that benchmark only."""
    from reelbench.registry.benchmark_file import NAME
    from reelbench.registry.discovery import packages
    from reelbench.tasks.lmms import codegen

    def of_package(package: str) -> dict[str, Any]:
        folder = _folder(package)
        # What a file declares has no YAML of lmms-eval's; and the file itself is none.
        return {} if (folder / NAME).is_file() else manager._get_task_and_group(str(folder))  # noqa: SLF001

    parts = {package: partial(of_package, package) for package in sorted(packages())}
    index: dict[str, Any] = {}
    for source, indexed in {**parts, "benchmark.yaml files": codegen.index}.items():
        try:
            entries = indexed()
        except Exception as error:  # noqa: BLE001 - whatever a YAML does to lmms-eval's indexer
            log.warning("%s: its tasks are left out: %s: %s", source, type(error).__name__, error)
            continue
        for name, entry in entries.items():
            if entry["type"] == "tag" and name in index:
                index[name]["task"].extend(entry["task"])
            else:
                index[name] = entry
    return index


def _load_what_is_here(
    original: Callable[..., Any],
    self: Any,  # noqa: ANN401
    name_or_config: Any = None,  # noqa: ANN401
    *args: Any,  # noqa: ANN401
    **kwargs: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """Load a task; of ours one whose data is not here is left out, with a line that says why."""
    from reelbench.registry.errors import ReelbenchError
    from reelbench.tasks.lmms import adapters

    if (named := _task_of_declaration(self, name_or_config)) is not name_or_config:
        name_or_config = named
        args = args or (adapters.task_type,)  # lmms-eval says it with a task's name, and not with a YAML
    data = _rows_of(self, name_or_config)
    if data is None:
        return original(self, name_or_config, *args, **kwargs)
    name = getattr(self, "model_name", None)
    adapters.running = name if isinstance(name, str) else None  # some take a clip's frames in pairs only
    problem = data.ready()
    if problem is None:
        try:
            return _asked_often(original(self, name_or_config, *args, **kwargs))
        except Exception as error:
            # Set where loading found nothing to ask; an error of ours says what is wrong with the task's own YAML.
            problem = data.problem or (str(error) if isinstance(error, ReelbenchError) else None)
            if problem is None:
                raise
    log.error("%s is left out of this run: %s", data.task, problem)
    self.__dict__.setdefault(_LEFT_OUT, {})[data.task] = problem
    return {}


def _asked_often(loaded: Any) -> Any:  # noqa: ANN401 - tasks by name
    """Have tasks sampled as often as the environment's candidates say: lmms-eval's own `repeats`."""
    from reelbench.registry.decoding import Candidates

    candidates = settings.CANDIDATES.read(Candidates.parse)
    if candidates is None or candidates.how != "sample":
        return loaded
    for task in loaded.values():
        sampling = {"temperature": candidates.temperature, "do_sample": True}
        task.set_config("repeats", candidates.k)
        task.set_config("generation_kwargs", {**task.get_config("generation_kwargs"), **sampling})
    return loaded


def _load_anything(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
    """Load what is asked for; DataUnavailableError where nothing is left of it."""
    left_out = self.__dict__[_LEFT_OUT] = {}
    loaded = original(self, *args, **kwargs)
    if left_out and not _has_tasks(loaded):
        from reelbench.registry.errors import DataUnavailableError

        why = "; ".join(f"{name}: {problem}" for name, problem in left_out.items())
        raise DataUnavailableError(f"no task is left to run ({why})")
    return loaded


def _task_of_declaration(manager: Any, asked: Any) -> Any:  # noqa: ANN401 - lmms-eval's TaskManager, a name or a config
    """Return the task's name where lmms-eval was given a `benchmark.yaml` as if it were a task's own YAML.

    For a name that is also a folder here lmms-eval reads every YAML in it, and a benchmark's folder is named after it.
    """
    if not isinstance(asked, dict) or not asked.keys() >= {"id", "kind", "source", "columns"}:
        return asked
    from reelbench.registry import discovery
    from reelbench.tasks.lmms import codegen
    from reelbench.tasks.lmms.process import named_by_path

    if str(asked["id"]) not in discovery.specs():
        named_by_path(sys.argv)  # what it opens has its id from now on
    spec = discovery.get(str(asked["id"]))
    for name, entry in codegen.index().items():
        if manager.task_index.setdefault(name, entry) is entry and name not in manager.all_tasks:
            manager.all_tasks.append(name)
    return spec.tasks[0].name


def _rows_of(manager: Any, name_or_config: Any) -> Any:  # noqa: ANN401 - lmms-eval's TaskManager, a name or a config
    """Return the rows of a task of ours, as its YAML names them; None for anything else."""
    from reelbench.registry import discovery
    from reelbench.registry.data.rows_on_disk import RowsOnDisk

    config = name_or_config if isinstance(name_or_config, dict) else {"task": name_or_config}
    name = config.get("task")
    try:
        if "dataset_path" not in config and isinstance(name, str) and discovery.find_task(name) is not None:
            config = manager._get_config(name)  # noqa: SLF001 - the one way to read a task's YAML as it will be
    except Exception as error:  # noqa: BLE001 - whatever is wrong, loading the task will say it better
        log.debug("%s: %s", name, error)
        return None
    data = config.get("dataset_path")
    return data if isinstance(data, RowsOnDisk) else None


def _has_tasks(loaded: Any) -> bool:  # noqa: ANN401 - tasks by name, or by name within groups
    return any(_has_tasks(found) if isinstance(found, dict) else True for found in loaded.values())
