"""Predictions in a data set on the Hugging Face Hub: `hf://datasets/ORG/NAME[@REVISION][/FILE]`."""

import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from reelbench.registry.data import hub
from reelbench.registry.errors import InputError, first_of
from reelbench.tasks.predictions import SUFFIXES

SCHEME = "hf://"

_ADDRESS = re.compile(r"hf://datasets/(?P<repo>[^/@\s]+/[^/@\s]+)(?:@(?P<revision>[^/\s]+))?(?:/(?P<file>.+?))?/?")


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file of a data set on this machine; `origin` names it with its commit, `repo_id` its data set."""

    path: Path
    repo_id: str
    origin: str


def fetch(address: str) -> Fetched:
    """Fetch the file of predictions that an address names, or finds it in the cache.

    Without a revision it is what `main` is now; without a file, the one in the data set that can hold predictions.

    Raises:
        InputError: That is not such an address, or several files could be meant.
        DataUnavailableError: The data set can't be had.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None:
        raise InputError(f"{address}: not an address of predictions; expected hf://datasets/ORG/NAME[@REVISION][/FILE]")
    repo, name = match["repo"], match["file"]
    listing = hub.list_files(repo, unquote(match["revision"] or "main"))
    if name is None:
        files = [file for file in sorted(listing.files) if PurePosixPath(file).suffix in SUFFIXES]
        if not files:
            raise InputError(f"{address}: no file that can hold predictions ({', '.join(SUFFIXES)}) in this data set")
        if len(files) > 1:
            several = f"{len(files)} files could be meant ({first_of(files)})"
            raise InputError(f"{address}: {several}; end the address with one")
        [name] = files
    path = hub.download(repo, name, revision=listing.commit)
    return Fetched(path, repo, f"hf://datasets/{repo}@{listing.commit}/{name}")
