"""The rows of a task of the installed lmms-eval, as its YAML names them.

The YAML is read as text: none of the task's code is imported or run.
"""

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from reelbench.base import bounds
from reelbench.base.errors import InputError, first_of
from reelbench.base.files import read_text
from reelbench.base.yaml_text import read_mapping
from reelbench.data import file_patterns, hub

_REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")
_SPLIT = re.compile(r"\w[\w.-]*")
_MOST_INCLUDES = 5


@dataclass(frozen=True, slots=True)
class TwinSource:
    """A task's rows on the Hub.

    Attributes:
        repo_id: The dataset.
        commit: Its commit.
        filenames: Names of the files, with `*`, the best first.
        first_file: The first of them, on this machine.
    """

    repo_id: str
    commit: str
    filenames: tuple[str, ...]
    first_file: Path

    @property
    def key(self) -> str:
        """The key `source` of a `benchmark.yaml`."""
        names = ", ".join(f'"{name}"' for name in self.filenames)
        return f"{{hub: {self.repo_id}, revision: {self.commit}, file: [{names}]}}"


def twin_source(task: str) -> TwinSource:
    """Fetch a task's rows from the Hub, as far as their first file.

    Raises:
        InputError: lmms-eval is not installed, has no such task, or its rows are elsewhere.
        DataUnavailableError: The Hub can't be asked.
    """
    settings = _settings_of_task(task)
    repo_id = str(settings.get("dataset_path") or "")
    split = str(settings.get("test_split") or settings.get("validation_split") or "")
    if _REPOSITORY.fullmatch(repo_id) is None or _SPLIT.fullmatch(split) is None:
        raise InputError(
            f"--twin {task}: its rows are not a split of a dataset on the Hub; give them with "
            f"--from FILE --set twin={task}"
        )
    filenames = _patterns(str(settings.get("dataset_name") or ""), split)
    commit = hub.resolve_commit(repo_id, None, token=False)
    files = hub.list_files(repo_id, commit, token=False).files
    for pattern in filenames:
        names = file_patterns.matching(files, pattern)
        if names:
            first_file = hub.download(repo_id, names[0], revision=commit, token=False)
            return TwinSource(repo_id, commit, filenames, first_file)
    expected_files = " or ".join(filenames)
    present = first_of(sorted(files)) or "nothing"
    raise InputError(
        f"--twin {task}: {hub.page(repo_id)} has no {expected_files}; it has {present}; "
        f"give its rows with --from FILE --set twin={task}"
    )


def _patterns(config: str, split: str) -> tuple[str, ...]:
    """Return the names that the Parquet files of a dataset's split may have."""
    if config:
        return (f"{config}/{split}-*.parquet", f"*{config}/{split}*.parquet")
    return (f"data/{split}-*.parquet", f"*{split}-*.parquet", f"*{split}*.parquet")


def _settings_of_task(task: str) -> dict[str, Any]:
    """Return the settings in a task's YAML and those that it includes."""
    package = find_spec("lmms_eval")
    if package is None or not package.submodule_search_locations:
        raise InputError("--twin: lmms-eval is not installed; pip install 'reelbench[lmms-eval]'")
    folder = Path(next(iter(package.submodule_search_locations))) / "tasks"
    for file in sorted(folder.rglob("*.yaml")):
        if _states_task(read_text(file, most=bounds.SETTINGS_BYTES), task):
            return _settings_in(file, folder, _MOST_INCLUDES)
    raise InputError(f"--twin {task}: the installed lmms-eval has no such task")


def _states_task(text: str, task: str) -> bool:
    """Return True for the YAML of a task of this name."""
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key == "task" and value.strip().strip("\"'") == task:
            return True
    return False


def _settings_in(file: Path, folder: Path, most_includes: int) -> dict[str, Any]:
    """Return the settings of a file over those of the file that it includes."""
    text = read_text(file, most=bounds.SETTINGS_BYTES)
    settings = read_mapping(text, str(file), as_text=True)
    include = settings.get("include")
    if not isinstance(include, str) or most_includes == 0:
        return settings
    included_file = (file.parent / include).resolve()
    if not included_file.is_relative_to(folder.resolve()):
        raise InputError(f"{file}: includes a file outside of lmms-eval's tasks")
    return {**_settings_in(included_file, folder, most_includes - 1), **settings}
