"""The entry point of lmms-eval: adds our tasks to its index and our baseline to its models.

A task of ours whose data or videos are not here is left out of a run with one line that says why:
lmms-eval itself would give up all the tasks of the run.

lmms-eval has an entry-point group for models only, and its `LMMS_EVAL_PLUGINS` does not register
tasks (0.7.3). The models' entry points run before any `TaskManager` exists, so that is where our
folder of tasks is added to the index. This module must never raise: an entry point that does stops
all later ones, other people's too.
"""
# ruff: noqa: ANN401 - what lmms-eval hands over

import atexit
import inspect
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from reelbench.base import settings
from reelbench.base.credentials import without_credentials

log = logging.getLogger("reelbench")

_LEFT_OUT = "_reelbench_left_out"
_listed: dict[str, Any] = {}
"""lmms-eval's own tasks, as it lists them."""

_FILES = "benchmark.yaml files"
_NO_KEY = "EMPTY"
"""What servers that need no key are usually sent."""


def tasks_folder(package: str = "reelbench.tasks") -> Path:
    """Return the folder of a package's tasks, for lmms-eval's `--include_path`."""
    # Finds the folder without importing it, in every way of installing.
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(f"{package} is not a package that is installed; reinstall what names it")
    return Path(next(iter(spec.submodule_search_locations))).resolve()


def manifests() -> list[Any]:
    """Register our tasks and return our models' manifests.

    It is the entry point of the group `lmms_eval.models`.
    """
    try:
        _wrap_all()
        _silence_traceback()
        from lmms_eval.models.registry_v2 import ModelManifest

        from reelbench.tasks.lmms import head_start, process

        head_start.begin(sys.argv[1:])
        # lmms-eval reads its arguments after this.
        sys.argv[1:] = process.by_name(sys.argv[1:])
        manifest = ModelManifest(
            model_id="reelbench_baseline",
            simple_class_path="reelbench.methods.baseline.SimpleBaseline",
            chat_class_path="reelbench.methods.baseline.ChatBaseline",
        )
    except Exception:
        log.warning(
            "reelbench could not register with this lmms-eval; use --include_path", exc_info=True
        )
        return []
    return [manifest]


def _silence_traceback() -> None:
    """Leave out the traceback before lmms-eval's line on what ended a run of `reelbench run`."""
    # `reelbench run` leaves the judge empty here, and asks it afterwards.
    is_of_run = settings.JUDGE.name in os.environ and not settings.JUDGE.is_set
    if not is_of_run or "DEBUG" in sys.argv:
        return
    program = sys.modules.get("lmms_eval.__main__")
    if program is None or getattr(program, "traceback", None) is not traceback:
        return
    names = {**vars(traceback), "print_exc": lambda *_, **__: None}
    program.traceback = SimpleNamespace(**names)  # type: ignore[attr-defined] - its own name


@contextmanager
def _checked_server(model_args: object) -> Iterator[None]:
    """Check the address of the server that is asked, while its client is made.

    That holds whatever started lmms-eval. The client demands a key: where there is none and the
    server is the user's own, it gets a placeholder.
    """
    address = re.search(r"base_url=(([a-z]+://)(?:[^@/,]*@)?([^:/,\s]+)[^,\s]*)", str(model_args))
    if address is None:
        yield
        return
    url = address[1]
    host = address[3]
    _warn_of_missing_path(url)
    key = settings.OPENAI_API_KEY
    if host == "api.openai.com" or key.is_set or "api_key=" in str(model_args):
        yield
        return
    log.warning("%s is not set: %s is sent to %s in its place", key.name, _NO_KEY, host)
    previous_key = os.environ.get(key.name, "")
    os.environ[key.name] = _NO_KEY
    try:
        yield
    finally:
        os.environ[key.name] = previous_key


def _warn_of_missing_path(url: str) -> None:
    """Warn of an address without a path.

    There lmms-eval counts each 404 as an answer that failed.
    """
    if re.fullmatch(r"[a-z]+://[^/]+/?", url):
        log.warning(
            "base_url=%s has no path, and most servers have /v1",
            without_credentials(url.rstrip("/")),
        )


def _wrap_all() -> None:
    """Wrap the parts of lmms-eval that we change, each once.

    Where one takes other arguments than we know, a warning says what is lost.
    """
    from lmms_eval.tasks import TaskManager

    from reelbench.tasks.lmms.wrapping import wrap

    this = "this lmms-eval"
    # An lmms-eval that has a way of its own to register tasks needs none of ours.
    if not entry_points(group="lmms_eval.tasks") and not _wrap_index():
        use = f"use --include_path {tasks_folder()}"
        log.warning("%s indexes tasks in a way that reelbench does not know; %s", this, use)
    wrap(TaskManager, "_get_task_and_group", _listed_once, "self task_dir")
    if not _wrap_loading():
        log.warning(
            "%s loads tasks in a way that reelbench does not know; absent data ends the whole run",
            this,
        )
    from lmms_eval.api.model import lmms

    wrap(lmms, "create_from_arg_string", _create_model, kind=classmethod)
    from lmms_eval.models.registry_v2 import ModelRegistryV2

    if not wrap(
        ModelRegistryV2, "get_model_class", _patched_adapter, "self model_name force_simple"
    ):
        log.warning("%s looks adapters up in a way that reelbench does not know; no beams", this)
    from lmms_eval.caching.response_cache import ResponseCache

    wrap(ResponseCache, "_is_valid_response", _is_worth_keeping, kind=staticmethod)


def _wrap_index() -> bool:
    """Have lmms-eval index our tasks. Return False where it can't be done."""
    from lmms_eval.tasks import TaskManager

    from reelbench.tasks.lmms.wrapping import wrap

    arguments = "self include_path include_defaults"
    if not wrap(TaskManager, "initialize_tasks", _with_our_tasks, arguments):
        return False
    return wrap(TaskManager, "_get_config", _declared_config, "self name")


def _wrap_loading() -> bool:
    """Have lmms-eval leave out tasks without data. Return False where it can't be done."""
    from lmms_eval.tasks import TaskManager

    from reelbench.tasks.lmms.wrapping import wrap

    arguments = "self name_or_config task_type parent_name update_config"
    if not wrap(TaskManager, "_load_individual_task_or_group", _load_what_is_here, arguments):
        return False
    return wrap(TaskManager, "load_task_or_group", _load_anything, "self task_list task_type")


# --- in the place of lmms-eval's
# ----------------------------------------------------------------------------------


def _create_model(original: Callable[..., Any], cls: type, *args: Any, **kwargs: Any) -> Any:
    """Make a model, and note whether it sends videos on as they are.

    Only the model itself knows.

    Raises:
        InputError: It takes pictures alone, and our tasks are to tell it their times. That is
            raised before it is loaded.
    """
    from reelbench.tasks.lmms import adapters, process, visuals

    if process.wanted_tasks(sys.argv):
        adapters.check_times(visuals.sampling(), {_task_type(cls)})
    model_args = kwargs.get("arg_string")
    if args:
        model_args = args[0]
    with _checked_server(model_args):
        model = original(cls, *args, **kwargs)
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        atexit.unregister(_leave_group)
        atexit.register(_leave_group)
    adapters.passes_video = getattr(model, adapters.PASS_VIDEO, False) is True
    adapters.task_type = _task_type(model)
    return model


def _task_type(model: object) -> str:
    if getattr(model, "is_simple", True):
        return "simple"
    return "chat"


def _leave_group() -> None:
    """Leave the group of processes, as lmms-eval doesn't.

    torch's threads may abort Python where they outlive it.
    """
    from torch import distributed

    if distributed.is_initialized():
        distributed.destroy_process_group()


def _patched_adapter(original: Callable[..., type], *args: Any, **kwargs: Any) -> type:
    """Return an adapter's class that answers our tasks the way that was chosen.

    That is with candidates, or with the scores of options.
    """
    from reelbench.tasks.lmms.adapter_patches import patched_adapter

    return patched_adapter(original(*args, **kwargs))


def _is_worth_keeping(
    original: Callable[[Any, str], bool], response: Any, request_type: str
) -> bool:
    """Return False for a request that failed, so that lmms-eval's response cache asks again.

    It would keep the mark of the failure as an answer.
    """
    from reelbench.scoring import aggregation

    text = getattr(response, "text", response)
    if isinstance(text, str) and aggregation.is_failure(text):
        return False
    return original(response, request_type)


def _with_our_tasks(
    original: Callable[..., dict[str, Any]], self: Any, *args: Any, **kwargs: Any
) -> dict[str, Any]:
    # lmms-eval logs HF_TOKEN, for what it may push; the Hub's client takes it by either name.
    if "--hf_hub_log_args" not in " ".join(sys.argv):
        token = os.environ.pop("HF_TOKEN", None)
        if token:
            os.environ.setdefault("HUGGING_FACE_HUB_TOKEN", token)
    index = original(self, *args, **kwargs)
    for name, entry in _our_index(self).items():
        present = index.setdefault(name, entry)
        if present is not entry and present["type"] == entry["type"] == "tag":
            new_tasks = [task for task in entry["task"] if task not in present["task"]]
            present["task"].extend(new_tasks)
    return index


def _listed_once(
    original: Callable[..., dict[str, Any]], self: Any, task_dir: str
) -> dict[str, Any]:
    """List lmms-eval's own tasks once in a process.

    It takes some 3 s, and each run of a sweep asks for it.
    """
    if Path(task_dir) != Path(inspect.getfile(type(self))).parent:
        return original(self, task_dir)
    if not _listed:
        _listed.update(original(self, task_dir))
    return deepcopy(_listed)


def _declared_config(
    original: Callable[..., dict[str, Any]], self: Any, name: str
) -> dict[str, Any]:
    from reelbench.tasks.lmms import codegen

    return codegen.config(name) or original(self, name)


def _our_index(manager: Any) -> dict[str, Any]:
    """Index the tasks of each benchmark: ours, other packages' and files'.

    One that is broken costs that benchmark only.
    """
    from reelbench.registry.discovery import registry

    index: dict[str, Any] = {}
    for source in (*sorted(registry().packages), _FILES):
        try:
            entries = _entries_of(manager, source)
        except Exception as error:  # noqa: BLE001 - whatever a YAML does to lmms-eval's indexer
            log.warning("%s: its tasks are left out: %s: %s", source, type(error).__name__, error)
            continue
        for name, entry in entries.items():
            if entry["type"] == "tag" and name in index:
                index[name]["task"].extend(entry["task"])
            else:
                index[name] = entry
    return index


def _open_named_gallery() -> None:
    """Open the benchmarks of the gallery whose tasks the command line names."""
    from reelbench.registry import discovery
    from reelbench.registry.gallery import TASK_PREFIX

    for argument in sys.argv:
        for word in re.split("[,=]", argument):
            if word.startswith(TASK_PREFIX):
                discovery.find_task(word)


def _entries_of(manager: Any, source: str) -> dict[str, Any]:
    from reelbench.registry.benchmark_file import NAME
    from reelbench.tasks.lmms import codegen

    if source == _FILES:
        _open_named_gallery()
        return codegen.index()
    folder = tasks_folder(source)
    # A benchmark's file is no YAML of lmms-eval's, and what it declares has none.
    if (folder / NAME).is_file():
        return {}
    entries: dict[str, Any] = manager._get_task_and_group(str(folder))  # noqa: SLF001
    return entries


def _load_what_is_here(
    original: Callable[..., Any], self: Any, name_or_config: Any = None, *args: Any, **kwargs: Any
) -> Any:
    """Load a task, or leave out one of ours whose data is not here.

    Then a line says why.
    """
    from reelbench.base.errors import ReelbenchError
    from reelbench.tasks.lmms import adapters

    task_name = _task_of_declaration(self, name_or_config)
    if task_name is not name_or_config:
        name_or_config = task_name
        # lmms-eval passes the type with a task's name, and not with a YAML.
        args = args or (adapters.task_type,)
    data = _rows_of(self, name_or_config)
    if data is None:
        return original(self, name_or_config, *args, **kwargs)
    # Some adapters take a clip's frames in pairs only.
    model_name = getattr(self, "model_name", None)
    adapters.running = None
    if isinstance(model_name, str):
        adapters.running = model_name
    problem = data.ready()
    if problem is None:
        try:
            return _asked_often(original(self, name_or_config, *args, **kwargs))
        except Exception as error:
            # Set where loading came upon nothing to ask.
            problem = data.problem
            # An error of ours says what is wrong with the task's own YAML.
            if not problem and isinstance(error, ReelbenchError):
                problem = str(error)
            if not problem:
                raise
    log.error("%s is left out of this run: %s", data.task, problem)
    self.__dict__.setdefault(_LEFT_OUT, {})[data.task] = problem
    return {}


def _asked_often(loaded: Any) -> Any:
    """Have tasks sampled as often as the environment's candidates say.

    lmms-eval's own `repeats` does it.
    """
    from reelbench.registry.decoding import Candidates

    candidates = settings.CANDIDATES.read(Candidates.parse)
    if candidates is None or candidates.how != "sample":
        return loaded
    for task in loaded.values():
        sampling = {"temperature": candidates.temperature, "do_sample": True}
        task.set_config("repeats", candidates.k)
        task.set_config("generation_kwargs", {**task.get_config("generation_kwargs"), **sampling})
    return loaded


def _load_anything(original: Callable[..., Any], self: Any, *args: Any, **kwargs: Any) -> Any:
    """Load what is asked for. DataUnavailableError where nothing is left of it."""
    left_out = self.__dict__[_LEFT_OUT] = {}
    loaded = original(self, *args, **kwargs)
    if left_out and not _has_tasks(loaded):
        from reelbench.base.errors import DataUnavailableError

        why = "; ".join(f"{name}: {problem}" for name, problem in left_out.items())
        raise DataUnavailableError(f"no task is left to run ({why})")
    return loaded


def _task_of_declaration(manager: Any, name_or_config: Any) -> Any:
    """Return the task's name where lmms-eval was passed a `benchmark.yaml`.

    It takes the file for a task's own YAML. For a name that is also a folder here lmms-eval reads
    every YAML in it, and a benchmark's folder is named after it.

    Anything else is returned as it is.
    """
    if not isinstance(name_or_config, dict):
        return name_or_config
    if not name_or_config.keys() >= {"id", "kind", "source", "columns"}:
        return name_or_config
    from reelbench.registry import discovery
    from reelbench.tasks.lmms import codegen
    from reelbench.tasks.lmms.process import named_by_path

    benchmark_id = str(name_or_config["id"])
    if benchmark_id not in discovery.specs():
        named_by_path(sys.argv)  # the file's benchmark has its id from now on
    spec = discovery.get(benchmark_id)
    for name, entry in codegen.index().items():
        if manager.task_index.setdefault(name, entry) is entry and name not in manager.all_tasks:
            manager.all_tasks.append(name)
    return spec.tasks[0].name


def _rows_of(manager: Any, name_or_config: Any) -> Any:
    """Return the rows of a task of ours, as its YAML names them.

    None for anything else.
    """
    from reelbench.data.rows_on_disk import RowsOnDisk
    from reelbench.registry import discovery

    config = name_or_config
    if not isinstance(config, dict):
        config = {"task": name_or_config}
    name = config.get("task")
    try:
        is_task = isinstance(name, str) and discovery.find_task(name) is not None
        if is_task and "dataset_path" not in config:
            # This is the one way to read a task's YAML as it will be.
            config = manager._get_config(name)  # noqa: SLF001
    except Exception as error:  # noqa: BLE001 - whatever is wrong, loading the task says it better
        log.debug("%s: %s", name, error)
        return None
    data = config.get("dataset_path")
    if isinstance(data, RowsOnDisk):
        return data
    return None


def _has_tasks(loaded: Any) -> bool:
    """Return True where a task is somewhere in nested groups."""
    return any(not isinstance(entry, dict) or _has_tasks(entry) for entry in loaded.values())
