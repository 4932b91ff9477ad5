"""A local server that speaks enough of the Hugging Face Hub's protocol for the real `huggingface_hub` client.

Repositories live in memory, with commits, branches and pull requests. Large files
(`Repo.lfs_suffixes`, or over 10 MB) are served as on the Hub: a redirect to another origin, here
`HubServer.cdn`, with the size and the sha256 in headers. There are no xet headers, so the client
downloads over plain HTTP; for uploads it needs `HF_HUB_DISABLE_XET=1`.

    with HubServer() as server:
        repo = server.add("org/name", {"data.json": b"[]"}, gated=True)
        server.tokens["hf_reader"] = Token("reader", reads={"org/name"})
        repo.commit({"data.json": b"[1]"}, "move main")
        server.fail("GET /datasets/org/name/resolve/.*", status=500)
        server.cdn.fail("GET .*", cut_at=100)
"""

import base64
import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import parse_qs, quote, unquote

import pytest
import yaml

from tests.servers.files import FileServer, Request, Response
from tests.servers.hub_repos import Blob, Commit, Repo, Token
from tests.servers.pull_requests import DATE, PullRequest

_KINDS = {"models": "model", "datasets": "dataset", "spaces": "space"}
_LICENSES = {
    "mit",
    "apache-2.0",
    "bsd-3-clause",
    "cc-by-4.0",
    "cc-by-sa-4.0",
    "cc-by-nc-4.0",
    "cc-by-nc-sa-4.0",
    "cc0-1.0",
    "other",
}
_POINTER = 134  # bytes of a git-lfs pointer file


class _HubError(Exception):
    def __init__(
        self, status: int, code: str | None, message: str, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.response = _json({"error": message}, status)
        self.response.headers |= {"X-Error-Message": message, **(headers or {})}
        if code is not None:
            self.response.headers["X-Error-Code"] = code


@dataclass
class _Call:
    """A request to one repository."""

    request: Request
    repo: Repo
    token: Token | None
    action: str
    rest: str
    query: dict[str, list[str]] = field(default_factory=dict)

    @property
    def json(self) -> Any:
        return json.loads(self.request.body or b"{}")


def skip_unless_cards_are_validated_here() -> None:
    """Skip where the installed client sends cards to huggingface.co for validation, whatever `HF_ENDPOINT` is."""
    from huggingface_hub import RepoCard

    if "https://huggingface.co" in inspect.getsource(RepoCard.validate):
        pytest.skip("this huggingface_hub validates cards at huggingface.co alone")


class HubServer(FileServer):
    """The server; `tokens` says who may do what, `page_size` how long a page of a file tree is."""

    def __init__(self) -> None:
        super().__init__()
        self.cdn = FileServer(
            "localhost"
        )  # another host by name: some clients don't follow the Hub to another port
        self.repos: dict[tuple[str, str], Repo] = {}
        self.tokens: dict[str, Token] = {"hf_owner": Token("owner")}
        self.page_size = 1000
        self.boards: dict[str, list[dict[str, Any]]] = {}
        self._uploads: dict[str, bytes] = {}
        self.cdn.handle = self._cdn_handle  # type: ignore[method-assign]

    def __enter__(self) -> Self:
        self.cdn.__enter__()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.cdn.__exit__(*error)

    def add(
        self,
        repo_id: str,
        files: Mapping[str, bytes | str] | None = None,
        *,
        kind: str = "dataset",
        gated: bool = False,
        private: bool = False,
    ) -> Repo:
        """Create a repository with one commit."""
        repo = Repo(repo_id, kind, gated=gated, private=private)
        repo.commit({".gitattributes": "*.mp4 filter=lfs\n", **(files or {})}, "initial commit")
        self.repos[kind, repo_id] = repo
        return repo

    def repo(self, repo_id: str, kind: str = "dataset") -> Repo:
        """Return a repository, also one that a client has created."""
        return self.repos[kind, repo_id]

    def env(self, home: object) -> dict[str, str]:
        """Return the variables that point a new process's client at this server, with its caches under `home`."""
        return {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        }

    def use(self, monkeypatch: pytest.MonkeyPatch, home: object) -> None:
        """Point this process's client at the server. It keeps some variables from its import, so those are set too."""
        from huggingface_hub import constants, hf_api

        for name in (
            "HF_TOKEN",
            "HUGGING_FACE_HUB_TOKEN",
            "HF_HUB_OFFLINE",
            "TRANSFORMERS_OFFLINE",
            "HF_HUB_CACHE",
        ):
            monkeypatch.delenv(name, raising=False)
        for name, value in self.env(home).items():
            monkeypatch.setenv(name, value)
        template = self.url + "/{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "ENDPOINT", self.url)
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", f"{home}/hub")
        monkeypatch.setattr(constants, "HF_TOKEN_PATH", f"{home}/token")
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
        monkeypatch.setattr(hf_api.api, "endpoint", self.url)  # what `DatasetCard.push_to_hub` uses

    # --- routing ---

    def handle(self, request: Request) -> Response:
        if request.token is not None and request.token not in self.tokens:
            return _HubError(401, None, "Invalid credentials in Authorization header").response
        try:
            return self._route(request)
        except _HubError as error:
            return error.response

    def _route(self, request: Request) -> Response:
        path = request.path
        if path in self.files:
            return super().handle(request)
        fixed = {
            "/api/whoami-v2": self._whoami,
            "/api/repos/create": self._create,
            "/api/validate-yaml": _validate_yaml,
        }
        if path in fixed:
            return fixed[path](request)
        if found := re.fullmatch(
            r"/api/(models|datasets|spaces)/([^/]+/[^/]+)(?:/([^/]+)(?:/(.*))?)?", path
        ):
            return self._api(
                request, _KINDS[found[1]], found[2], found[3] or "info", found[4] or ""
            )
        if found := re.fullmatch(r"/api/organizations/([^/]+)/members", path):
            return self._members(found[1])
        if found := re.fullmatch(
            r"(?:/(datasets|spaces))?/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path
        ):
            kind = _KINDS[found[1] or "models"]
            return self._resolve_file(
                self._call(request, kind, found[2], unquote(found[3]), unquote(found[4]))
            )
        if found := re.fullmatch(
            r"(?:/(datasets|spaces))?/([^/]+/[^/]+)\.git/info/lfs/objects/(batch|verify)", path
        ):
            return self._lfs(
                self._call(request, _KINDS[found[1] or "models"], found[2], found[3], "")
            )
        raise _HubError(404, None, f"Sorry, we can't find {path}")

    def _call(self, request: Request, kind: str, repo_id: str, action: str, rest: str) -> _Call:
        token = self.tokens.get(request.token) if request.token else None
        repo = self.repos.get((kind, repo_id))
        hidden = repo is not None and repo.private and not self._may_read(repo, token)
        if repo is None or hidden:
            # The Hub doesn't tell a stranger whether a repository is private or isn't there.
            raise _HubError(404 if token else 401, "RepoNotFound", "Repository not found")
        return _Call(request, repo, token, action, rest, parse_qs(request.query))

    def _may_read(self, repo: Repo, token: Token | None) -> bool:
        return token is not None and (
            repo.id in token.reads or repo.id.split("/")[0] in {token.user, *token.orgs}
        )

    def _check_gate(self, call: _Call) -> None:
        if call.repo.gated and not self._may_read(call.repo, call.token):
            message = f"Access to {call.repo.kind} {call.repo.id} is restricted to those who accepted its terms."
            raise _HubError(403 if call.token else 401, "GatedRepo", message)

    def _check_write(self, call: _Call, *, pull_request: bool = False) -> Token:
        if call.token is None:
            raise _HubError(401, None, "Invalid username or password.")
        if call.token.role != "write" or not (pull_request or call.token.may_write(call.repo.id)):
            raise _HubError(
                403, None, "Forbidden: you don't have the rights to write to this repository"
            )
        return call.token

    def _proposes(self, call: _Call) -> bool:
        # Whoever opened a pull request may also commit to it.
        mine = {
            pr.ref
            for pr in call.repo.pull_requests
            if call.token is not None and pr.author == call.token.user
        }
        return "create_pr" in call.query or unquote(call.rest) in mine

    def _commit_of(self, call: _Call, revision: str) -> Commit:
        try:
            return call.repo.commits[call.repo.resolve(revision)]
        except KeyError:
            raise _HubError(404, "RevisionNotFound", f"Invalid rev id: {revision}") from None

    def _api(self, request: Request, kind: str, repo_id: str, action: str, rest: str) -> Response:
        call = self._call(request, kind, repo_id, action, rest)
        method = getattr(self, f"_{request.method.lower()}_{action.replace('-', '_')}", None)
        if method is None:
            raise _HubError(404, None, f"Sorry, {request.method} {action} isn't served here")
        return method(call)

    # --- reading ---

    def _get_info(self, call: _Call) -> Response:
        return self._info(call, "main")

    def _get_revision(self, call: _Call) -> Response:
        return self._info(call, unquote(call.rest))

    def _info(self, call: _Call, revision: str) -> Response:
        repo, commit = call.repo, self._commit_of(call, revision)
        siblings = []
        for path, blob in sorted(commit.files.items()):
            sibling: dict[str, Any] = {"rfilename": path}
            if "blobs" in call.query:
                sibling |= {"size": len(blob.data), "blobId": blob.git_sha1}
                if blob.lfs:
                    sibling["lfs"] = {
                        "sha256": blob.sha256,
                        "size": len(blob.data),
                        "pointerSize": _POINTER,
                    }
            siblings.append(sibling)
        card = (
            _front_matter(commit.files["README.md"].data.decode())
            if "README.md" in commit.files
            else None
        )
        info = {
            "_id": "0" * 24,
            "id": repo.id,
            "author": repo.id.split("/")[0],
            "sha": commit.oid,
            "lastModified": DATE,
            "createdAt": DATE,
            "private": repo.private,
            "gated": "manual" if repo.gated else False,
            "disabled": False,
            "tags": [],
            "downloads": 0,
            "likes": 0,
            "siblings": siblings,
            **({"cardData": card} if isinstance(card, dict) else {}),
            **({"modelId": repo.id} if repo.kind == "model" else {}),
            **({"sdk": "static"} if repo.kind == "space" else {}),
        }
        return _json(info)

    def _get_leaderboard(self, call: _Call) -> Response:
        rows = self.boards.get(call.repo.id)
        if rows is None:
            raise _HubError(404, None, "This dataset has no leaderboard")
        return _json(rows)

    def _get_auth_check(self, call: _Call) -> Response:
        self._check_gate(call)
        if call.rest == "write":
            self._check_write(call)
        return _json({})

    def _get_tree(self, call: _Call) -> Response:
        self._check_gate(call)
        revision, _, folder = call.rest.partition("/")
        commit = self._commit_of(call, unquote(revision))
        folder = unquote(folder).strip("/")
        inside = {
            path: blob
            for path, blob in commit.files.items()
            if not folder or path.startswith(f"{folder}/")
        }
        if folder and not inside:
            raise _HubError(
                404, "EntryNotFound", f"{folder} does not exist", {"X-Repo-Commit": commit.oid}
            )
        recursive = (call.query.get("recursive") or ["false"])[0].lower() in {"true", "1"}
        depth = len(folder.split("/")) if folder else 0
        entries: dict[str, dict[str, Any]] = {}
        for path, blob in sorted(inside.items()):
            parts = path.split("/")
            for level in range(depth + 1, len(parts) if recursive else min(depth + 2, len(parts))):
                name = "/".join(parts[:level])
                oid = hashlib.sha1(name.encode(), usedforsecurity=False).hexdigest()
                entries[name] = {"type": "directory", "oid": oid, "size": 0, "path": name}
            if recursive or len(parts) == depth + 1:
                entries[path] = _entry(path, blob)
        start = int((call.query.get("cursor") or ["0"])[0])
        page = list(entries.values())[start : start + self.page_size]
        response = _json(page)
        if start + self.page_size < len(entries):
            others = "&".join(f"{k}={quote(v[0])}" for k, v in call.query.items() if k != "cursor")
            address = f"{self.url}{call.request.path}?{others}&cursor={start + self.page_size}"
            response.headers["Link"] = f'<{address}>; rel="next"'
        return response

    def _post_paths_info(self, call: _Call) -> Response:
        self._check_gate(call)
        commit = self._commit_of(call, unquote(call.rest))
        if (call.request.headers.get("Content-Type") or "").startswith("application/json"):
            paths = call.json["paths"]
        else:
            paths = parse_qs(call.request.body.decode())["paths"]
        return _json([_entry(path, commit.files[path]) for path in paths if path in commit.files])

    def _get_commits(self, call: _Call) -> Response:
        self._check_gate(call)
        self._commit_of(call, unquote(call.rest))
        return _json(
            [
                {
                    "id": commit.oid,
                    "title": commit.title,
                    "message": commit.description,
                    "authors": [{"user": commit.author}],
                    "date": DATE,
                }
                for commit in call.repo.history(unquote(call.rest))
            ]
        )

    def _get_refs(self, call: _Call) -> Response:
        refs = call.repo.refs
        branches = [
            {"name": name, "ref": f"refs/heads/{name}", "targetCommit": oid}
            for name, oid in refs.items()
            if not name.startswith("refs/")
        ]
        pulls = [
            {"name": pr.ref, "ref": pr.ref, "targetCommit": refs[pr.ref]}
            for pr in call.repo.pull_requests
        ]
        return _json({"branches": branches, "converts": [], "tags": [], "pullRequests": pulls})

    def _get_discussions(self, call: _Call) -> Response:
        self._check_gate(call)
        if call.rest:
            return _json(self._pull_request(call, call.rest).detailed(call.repo.id, call.repo.kind))
        wanted, kind = ((call.query.get(name) or ["all"])[0] for name in ("status", "type"))
        pulls = [
            pr
            for pr in reversed(call.repo.pull_requests)
            if kind != "discussion"
            and wanted in ("all", "open" if pr.status in ("open", "draft") else "closed")
        ]
        size = min(self.page_size, 50)
        start = size * int((call.query.get("p") or ["0"])[0])
        page = [pr.listed(call.repo.id, call.repo.kind) for pr in pulls[start : start + size]]
        return _json({"discussions": page, "count": len(pulls), "start": start})

    def _post_discussions(self, call: _Call) -> Response:
        """Take a comment of anybody who is logged in, or the edit of one by who wrote it."""
        if call.token is None or call.token.role != "write":
            raise _HubError(
                401 if call.token is None else 403, None, "You may not take part in discussions"
            )
        num, _, action = call.rest.partition("/")
        pull_request = self._pull_request(call, num)
        if action in ("merge", "status"):
            return self._end(
                call,
                pull_request,
                call.json.get("status", "merged") if call.request.body else "merged",
            )
        if action == "comment":
            text = call.json["comment"]
            if not text or len(text) > 65_536:
                raise _HubError(400, None, "Invalid comment")
            return _json({"newMessage": pull_request.add_comment(text, call.token.user)})
        found = re.fullmatch(r"comment/([0-9a-f]+)/edit", action)
        event = next(
            (event for event in pull_request.events if found and event["id"] == found[1]), None
        )
        if event is None or event["author"]["name"] != call.token.user:
            raise _HubError(403 if event else 404, None, "No such comment of yours")
        pull_request.edit(event, call.json["content"])
        return _json({"updatedComment": event})

    def _end(self, call: _Call, pull_request: PullRequest, status: str) -> Response:
        """Merge a pull request, or close it: what its dataset's own people may."""
        self._check_write(call)
        if pull_request.status != "open":
            raise _HubError(400, None, f"This pull request is {pull_request.status}")
        if status == "merged":
            if conflicts := call.repo.conflicts(pull_request):
                raise _HubError(409, None, f"Merge conflicts in {conflicts[0]}")
            call.repo.merge(pull_request)
        pull_request.status = status
        event = {"id": f"{pull_request.num:024x}", "type": "status-change", "createdAt": DATE}
        return _json(
            {"newStatus": event | {"author": {"name": "owner"}, "data": {"status": status}}}
        )

    def _pull_request(self, call: _Call, num: str) -> PullRequest:
        pull_request = next((pr for pr in call.repo.pull_requests if str(pr.num) == num), None)
        if pull_request is None:
            raise _HubError(404, None, "No such discussion")
        return pull_request

    def _resolve_file(self, call: _Call) -> Response:
        self._check_gate(call)
        commit = self._commit_of(call, call.action)
        named = {"X-Repo-Commit": commit.oid}
        blob = commit.files.get(call.rest)
        if blob is None:
            raise _HubError(404, "EntryNotFound", "Entry not found", named)
        if not blob.lfs:
            return Response(
                200, blob.data, {**named, "ETag": f'"{blob.etag}"', "Content-Type": "text/plain"}
            )
        linked = {
            "X-Linked-Size": str(len(blob.data)),
            "X-Linked-ETag": f'"{blob.etag}"',
            "ETag": f'"{blob.etag}"',
        }
        location = f"{self.cdn.url}/{call.repo.id}/{blob.sha256}/{quote(call.rest)}"
        self.cdn.files[unquote(location.removeprefix(self.cdn.url))] = Response(
            200, blob.data, {"ETag": f'"{blob.etag}"'}
        )
        return Response(302, b"", {**named, **linked, "Location": location})

    def _cdn_handle(self, request: Request) -> Response:
        if request.method == "PUT":
            self._uploads[request.path.rpartition("/")[2]] = request.body
            return Response(200, b"", {"ETag": '"uploaded"'})
        # Signed addresses refuse a second means of authentication, and a token must not leave the
        # Hub.
        if request.token is not None:
            return Response(400, b"only one auth mechanism allowed")
        return FileServer.handle(self.cdn, request)

    # --- writing ---

    def _whoami(self, request: Request) -> Response:
        token = self.tokens.get(request.token or "")
        if token is None:
            raise _HubError(401, None, "Invalid username or password.")
        return _json(
            {
                "type": "user",
                "id": "0" * 24,
                "name": token.user,
                "fullname": token.user,
                "isPro": False,
                "orgs": [{"type": "org", "name": org, "roleInOrg": "write"} for org in token.orgs],
                "auth": {
                    "type": "access_token",
                    "accessToken": {"displayName": "test", "role": token.role},
                },
            }
        )

    def _members(self, organization: str) -> Response:
        users = [token.user for token in self.tokens.values() if organization in token.orgs]
        if not users:
            raise _HubError(404, None, "This organization does not exist")
        return _json(
            [
                {"user": user, "fullname": user, "type": "user", "avatarUrl": "/a.svg"}
                for user in users
            ]
        )

    def _create(self, request: Request) -> Response:
        asked = json.loads(request.body)
        token = self.tokens.get(request.token or "")
        if token is None:
            raise _HubError(401, None, "Invalid username or password.")
        kind = asked.get("type") or "model"
        repo_id = f"{asked.get('organization') or token.user}/{asked['name']}"
        if not token.may_write(repo_id):
            raise _HubError(
                403, None, f"You don't have the rights to create a {kind} under this namespace"
            )
        address = f"{self.url}{'' if kind == 'model' else f'/{kind}s'}/{repo_id}"
        if (kind, repo_id) in self.repos:
            return _json({"error": f"You already created this {kind} repo", "url": address}, 409)
        self.add(
            repo_id,
            kind=kind,
            private=asked.get("visibility") == "private" or bool(asked.get("private")),
        )
        return _json({"url": address, "name": repo_id, "id": "0" * 24})

    def _post_preupload(self, call: _Call) -> Response:
        self._check_write(call, pull_request=self._proposes(call))
        commit = self._commit_of(call, unquote(call.rest))
        files = []
        for file in call.json["files"]:
            there = commit.files.get(file["path"])
            lfs = file["path"].endswith(Repo.lfs_suffixes) or file["size"] > 10_000_000
            files.append(
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if lfs else "regular",
                    "shouldIgnore": False,
                    "oid": there.etag if there else None,
                }
            )
        return _json({"files": files})

    def _lfs(self, call: _Call) -> Response:
        self._check_write(call, pull_request=True)
        if call.action == "verify":
            whole = (
                hashlib.sha256(self._uploads.get(call.json["oid"], b"")).hexdigest()
                == call.json["oid"]
            )
            return _json(
                {} if whole else {"error": "not the bytes that were announced"},
                200 if whole else 422,
            )
        verify = f"{self.url}{call.request.path.removesuffix('batch')}verify"
        objects = [
            {
                **thing,
                "authenticated": True,
                "actions": {
                    "upload": {"href": f"{self.cdn.url}/upload/{thing['oid']}"},
                    "verify": {"href": verify},
                },
            }
            for thing in call.json["objects"]
        ]
        return _json({"transfer": "basic", "objects": objects})

    def _post_commit(self, call: _Call) -> Response:
        create_pr = "create_pr" in call.query
        token = self._check_write(call, pull_request=self._proposes(call))
        revision = unquote(call.rest)
        with call.repo.lock:
            base = self._commit_of(call, revision)
            lines = [json.loads(line) for line in call.request.body.splitlines() if line.strip()]
            header = next(line["value"] for line in lines if line["key"] == "header")
            parent = header.get("parentCommit")
            if parent is not None and parent != base.oid:
                raise _HubError(
                    412, None, "A commit has happened since. Please refresh and try again."
                )
            files, deleted = self._changes(base, lines)
            pull_request = None
            branch = revision
            if create_pr:
                num = len(call.repo.pull_requests) + 1
                pull_request = PullRequest(
                    num, header["summary"], header.get("description", ""), token.user
                )
                pull_request.add_comment(pull_request.description, token.user)
                call.repo.pull_requests.append(pull_request)
                branch = pull_request.ref
                call.repo.refs[branch] = base.oid
            oid = call.repo.commit(
                files,
                header["summary"],
                delete=deleted,
                branch=branch,
                author=token.user,
                description=header.get("description", ""),
            )
            changed = next((pr for pr in call.repo.pull_requests if pr.ref == branch), None)
            if changed is not None:
                changed.add_commit(oid, header["summary"], token.user)
        page = f"{self.url}{call.repo.prefix}/{call.repo.id}"
        return _json(
            {
                "success": True,
                "commitOid": oid,
                "commitUrl": f"{page}/commit/{oid}",
                "pullRequestUrl": f"{page}/discussions/{pull_request.num}"
                if pull_request
                else None,
                "hookOutput": "",
            }
        )

    def _post_super_squash(self, call: _Call) -> Response:
        # As `HfApi.super_squash_history` calls it: the branch's files in one commit without a parent.
        token = self._check_write(call)
        with call.repo.lock:
            branch = unquote(call.rest)
            files = self._commit_of(call, branch).files
            del call.repo.refs[branch]
            call.repo.commit(
                files, json.loads(call.request.body)["message"], branch=branch, author=token.user
            )
        return _json({})

    def _changes(
        self, base: Commit, lines: list[dict[str, Any]]
    ) -> tuple[dict[str, Blob], list[str]]:
        files: dict[str, Blob] = {}
        deleted: list[str] = []
        for line in lines:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = Blob(base64.b64decode(value["content"]), lfs=False)
            elif line["key"] == "lfsFile":
                known = next(
                    (blob for blob in base.files.values() if blob.sha256 == value["oid"]), None
                )
                data = self._uploads.get(value["oid"], known.data if known else None)
                if data is None:
                    raise _HubError(400, None, f"LFS object {value['oid']} was not uploaded")
                files[value["path"]] = Blob(data, lfs=True)
            elif line["key"] in {"deletedFile", "deletedFolder"}:
                path = value["path"]
                if not any(
                    name == path or name.startswith(path.rstrip("/") + "/") for name in base.files
                ):
                    raise _HubError(404, "EntryNotFound", "A file with this name doesn't exist")
                deleted.append(path)
        return files, deleted


def _json(value: object, status: int = 200) -> Response:
    return Response(
        status, json.dumps(value).encode(), {"Content-Type": "application/json; charset=utf-8"}
    )


def _entry(path: str, blob: Blob) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "file",
        "oid": blob.git_sha1,
        "size": len(blob.data),
        "path": path,
    }
    if blob.lfs:
        entry["lfs"] = {"oid": blob.sha256, "size": len(blob.data), "pointerSize": _POINTER}
    return entry


def _front_matter(text: str) -> object:
    found = re.match(r"---\r?\n(.*?)\r?\n---", text, re.DOTALL)
    return yaml.safe_load(found[1]) if found else None


def _validate_yaml(request: Request) -> Response:
    asked = json.loads(request.body)
    errors: list[str] = []
    warnings: list[str] = []
    try:
        data = _front_matter(asked["content"])
    except yaml.YAMLError as error:
        data, errors = {}, [f"The metadata is no valid YAML: {error}"]
    if data is None:
        warnings.append("empty or missing yaml metadata in repo card")
    elif not isinstance(data, dict):
        errors.append("The metadata must be a mapping")
    else:
        for name in (
            data.get("license") if isinstance(data.get("license"), list) else [data.get("license")]
        ):
            if name is not None and name not in _LICENSES:
                errors.append(f'"license" must be one of the known ids, not {name!r}')
    body = {
        "errors": [{"message": message} for message in errors],
        "warnings": [{"message": message} for message in warnings],
    }
    return _json(body, 400 if errors else 200)
