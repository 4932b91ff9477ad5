"""The repositories of the local Hub: commits, branches, files, and whose token may do what."""

import hashlib
import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from tests.servers.pull_requests import PullRequest


@dataclass(frozen=True)
class Token:
    """Whose token it is and what it allows: writing to the user's own namespaces, reading gated and private repos."""

    user: str
    role: str = "write"
    orgs: tuple[str, ...] = ()
    reads: frozenset[str] | set[str] = frozenset()

    def may_write(self, repo_id: str) -> bool:
        return self.role == "write" and repo_id.partition("/")[0] in {self.user, *self.orgs}


@dataclass(frozen=True)
class Blob:
    data: bytes
    lfs: bool

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def git_sha1(self) -> str:
        return hashlib.sha1(
            b"blob %d\0" % len(self.data) + self.data, usedforsecurity=False
        ).hexdigest()

    @property
    def etag(self) -> str:
        return self.sha256 if self.lfs else self.git_sha1


@dataclass(frozen=True)
class Commit:
    oid: str
    parent: str | None
    title: str
    description: str
    author: str
    files: dict[str, Blob]


class Repo:
    """A repository: `refs` name commits, a commit holds all of its files."""

    lfs_suffixes = (".mp4", ".mkv", ".webm", ".parquet", ".zip", ".gz", ".tar", ".png")

    def __init__(self, repo_id: str, kind: str, *, gated: bool, private: bool) -> None:
        self.id = repo_id
        self.kind = kind
        self.gated = gated
        self.private = private
        self.commits: dict[str, Commit] = {}
        self.refs: dict[str, str] = {}
        self.pull_requests: list[PullRequest] = []
        self.lock = threading.RLock()

    @property
    def head(self) -> str:
        """The commit that `main` is at."""
        return self.refs["main"]

    @property
    def prefix(self) -> str:
        """What stands before the id in the addresses of pages and files."""
        return "" if self.kind == "model" else f"/{self.kind}s"

    def files(self, revision: str = "main") -> dict[str, bytes]:
        """Return the files of a revision."""
        return {
            path: blob.data for path, blob in self.commits[self.resolve(revision)].files.items()
        }

    def resolve(self, revision: str) -> str:
        """Return the commit of a branch, a pull request's ref or a commit; KeyError where there is none."""
        if revision in self.refs:
            return self.refs[revision]
        if revision in self.commits:
            return revision
        raise KeyError(revision)

    def blob(self, path: str, data: bytes) -> Blob:
        return Blob(data, path.endswith(self.lfs_suffixes) or len(data) > 10_000_000)

    def commit(
        self,
        files: Mapping[str, bytes | str | Blob],
        title: str = "change files",
        *,
        delete: Iterable[str] = (),
        branch: str = "main",
        author: str = "owner",
        description: str = "",
    ) -> str:
        """Add, replace and delete files on a branch; return the new commit."""
        with self.lock:
            parent = self.refs.get(branch)
            tree = dict(self.commits[parent].files) if parent else {}
            for path in delete:
                for name in [
                    name for name in tree if name == path or name.startswith(path.rstrip("/") + "/")
                ]:
                    del tree[name]
            for path, content in files.items():
                data = content.encode() if isinstance(content, str) else content
                tree[path] = data if isinstance(data, Blob) else self.blob(path, data)
            state = json.dumps(
                [parent, title, len(self.commits), {name: tree[name].etag for name in sorted(tree)}]
            )
            oid = hashlib.sha1(f"{self.id} {state}".encode(), usedforsecurity=False).hexdigest()
            self.commits[oid] = Commit(oid, parent, title, description, author, tree)
            self.refs[branch] = oid
            return oid

    def history(self, revision: str = "main") -> list[Commit]:
        """Return the commits of a revision, newest first."""
        found, oid = [], self.resolve(revision)
        while oid is not None:
            found.append(self.commits[oid])
            oid = found[-1].parent
        return found

    def propose(
        self, files: Mapping[str, bytes | str | Blob], title: str, author: str
    ) -> PullRequest:
        """Open a pull request that adds files to `main`."""
        with self.lock:
            pull_request = PullRequest(len(self.pull_requests) + 1, title, "", author)
            pull_request.add_comment("", author)
            self.pull_requests.append(pull_request)
            self.refs[pull_request.ref] = self.head
            oid = self.commit(files, title, branch=pull_request.ref, author=author)
            pull_request.add_commit(oid, title, author)
        return pull_request

    def merge(self, pull_request: PullRequest) -> str:
        """Merge a pull request as Git does, three ways: what it changed since it left `main` is changed there too."""
        with self.lock:
            base = self._base(pull_request)
            tree = self.commits[self.refs[pull_request.ref]].files
            changed = {path: blob for path, blob in tree.items() if base.get(path) != blob}
            gone = [path for path in base if path not in tree]
            pull_request.status = "merged"
            return self.commit(changed, pull_request.title, delete=gone, author=pull_request.author)

    def conflicts(self, pull_request: PullRequest) -> list[str]:
        """Return the files that a pull request and `main` both changed, each to something else."""
        base = self._base(pull_request)
        theirs, ours = (self.commits[self.refs[ref]].files for ref in (pull_request.ref, "main"))
        changed = [path for path in {*theirs, *base} if theirs.get(path) != base.get(path)]
        return sorted(
            path for path in changed if ours.get(path) not in (base.get(path), theirs.get(path))
        )

    def _base(self, pull_request: PullRequest) -> dict[str, Blob]:
        """The files of the commit at which a pull request left `main`."""
        mine = {commit.oid for commit in self.history()}
        return next(commit for commit in self.history(pull_request.ref) if commit.oid in mine).files
