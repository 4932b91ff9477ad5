"""A copy of a benchmark of the gallery, which its user may change."""

import re
import shutil
from difflib import get_close_matches
from pathlib import Path

from reelbench.base.errors import InputError
from reelbench.base.files import replacing_folder, write_text
from reelbench.registry import gallery
from reelbench.registry.benchmark_file import NAME
from reelbench.tasks.benchmark_folder import refuse_existing_folder


def copy_from_gallery(new_id: str, like: str, folder: Path) -> None:
    """Write a copy of a gallery's benchmark under another id, or the same.

    Its tasks have the new id. One with the gallery's id hides the gallery's, and keeps the names of
    its tasks: those without `reelbench_` are lmms-eval's own.

    Raises:
        InputError: There is no such benchmark, the id can't be one, or the folder is there already.
    """
    if like not in gallery.names():
        close = get_close_matches(like, gallery.names(), n=1)
        advice = f"did you mean {close[0]!r}?" if close else "`reelbench list --gallery` shows them"
        raise InputError(f"--like {like}: is not in the gallery; {advice}")
    if re.fullmatch(r"[a-z][a-z0-9_]*", new_id) is None:
        raise InputError(
            f"{new_id}: an id is lower-case letters, digits and _, beginning with a letter"
        )
    refuse_existing_folder(folder)
    source = gallery.folder() / like
    with replacing_folder(folder) as new_folder:
        left_out = shutil.ignore_patterns("parity.json")  # it is of the gallery's file
        shutil.copytree(source, new_folder, dirs_exist_ok=True, ignore=left_out)
        text = (source / NAME).read_text(encoding="utf-8")
        write_text(new_folder / NAME, _renamed(text, like, new_id))


def _renamed(text: str, old_id: str, new_id: str) -> str:
    """Return a file's text under another id, or the same."""
    if new_id == old_id:
        return text
    task = f"{gallery.TASK_PREFIX}{old_id}"
    text = text.replace(f"id: {old_id}\n", f"id: {new_id}\n", 1)
    text = text.replace(f"task: {task}\n", "", 1)
    return text.replace(task, new_id)
