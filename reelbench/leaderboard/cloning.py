"""Make a store of a published results dataset: the same board, byte for byte.

Whoever can write the dataset's main is one of its maintainers, so its ledger, settings and names
are taken as they are. A pull request's are never read.
"""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from reelbench.base.errors import InputError, number_of
from reelbench.base.files import replacing_folder
from reelbench.data.hub_write import Repository
from reelbench.leaderboard import (
    aliases,
    board_settings,
    ledger,
    maintainers_files,
    results_dataset,
    store,
)
from reelbench.leaderboard.board_state import state_of
from reelbench.leaderboard.results_dataset import LEDGER_PATH, RESULTS


def clone(source: str, place: Path, note: Callable[[str], None]) -> int:
    """Make a store of a results dataset and return its number of rows.

    Args:
        source: ORG/NAME, or a folder.
        place: The store, which must not be there yet.
        note: Called with each line that people should read.

    Returns:
        The number of rows.

    Raises:
        InputError: It is no results dataset, or its ledger is broken.
    """
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise InputError(f"{place}: is there already; name a store that is not there yet")
    if Path(source).is_dir():
        return _clone_folder(Path(source), place, note)
    repository = Repository(source, "dataset")
    with repository.errors_in_one_line():
        head = repository.head()
    if head.commit is None:
        raise InputError(f"{repository.page}: not there, or private; set HF_TOKEN if it is yours")
    files = {
        path: file for path, file in head.files.items() if results_dataset.is_part_of_board(path)
    }
    with TemporaryDirectory(prefix="reelbench-clone-") as folder:
        with repository.errors_in_one_line():
            results_dataset.download(source, str(head.commit), files, Path(folder))
        try:
            return _clone_folder(Path(folder), place, note)
        except InputError as error:  # names the dataset, and not a folder that is gone
            raise InputError(str(error).replace(f"{folder}/", f"{repository.page}, ")) from None


def _clone_folder(folder: Path, place: Path, note: Callable[[str], None]) -> int:
    ledger_file = folder / LEDGER_PATH
    if not ledger_file.is_file() or ledger_file.is_symlink():
        raise InputError(
            f"{folder}: has no {LEDGER_PATH}, so it is not a results dataset of this version; "
            "its results are added one by one: `reelbench leaderboard add FOLDER --store STORE`"
        )
    lines = ledger.read_lines(ledger_file.read_bytes(), str(ledger_file))
    state = state_of(lines)
    # Before anything is copied: each has its bound, and is named where it lies.
    board_settings.read(folder / RESULTS)
    aliases.read(folder / RESULTS)
    unfiled: set[str] = set()
    with replacing_folder(place) as aside:
        for path in _paths(folder):
            key = results_dataset.key_of_path(path)
            if key is not None and key not in state.rows:
                unfiled.add(key)
                continue
            target = aside / path.removeprefix(f"{RESULTS}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / path, target)
        maintainers_files.remember([aside / name for name in maintainers_files.FILES], aside)
        changed: dict[str, str] = {}
        store.read(aside, left_out=changed.__setitem__)
    names = aliases.read(place)
    for key in changed:
        command = f"reelbench leaderboard replace {place / key} --store {place}"
        owner = state.owner_of(state.rows[key], names)
        if owner is not None:
            command += f" --account {owner}"
        note(
            f"{key}: its files there are not those that the ledger has, so no board shows it; a "
            f"corrected run that was merged is filed with `{command}`"
        )
    if unfiled:
        note(
            f"{number_of(len(unfiled), 'result')} there that no ledger has, the first "
            f"{min(unfiled)}: merged and not filed yet, or withdrawn; `reelbench leaderboard add` "
            "files it"
        )
    return len(state.rows)


def _paths(folder: Path) -> Iterator[str]:
    """Yield the paths that a board is made from, links left out."""
    for file in sorted((folder / RESULTS).rglob("*")):
        path = file.relative_to(folder).as_posix()
        is_own = not file.is_symlink() and file.resolve().is_relative_to(folder.resolve())
        if file.is_file() and is_own and results_dataset.is_part_of_board(path):
            yield path
