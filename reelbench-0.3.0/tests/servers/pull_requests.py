"""A pull request on the local Hub as its API gives it, and what the Hub's webhooks say of one."""

from dataclasses import dataclass, field
from typing import Any

DATE = "2026-01-01T00:00:00.000Z"


@dataclass
class PullRequest:
    """A pull request: what was said of it, and committed to it, in `events`."""

    num: int
    title: str
    description: str
    author: str
    status: str = "open"
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ref(self) -> str:
        return f"refs/pr/{self.num}"

    @property
    def comments(self) -> list[str]:
        """What the comments say now, without the opening one."""
        return [
            event["data"]["latest"]["raw"] for event in self.events if event["type"] == "comment"
        ][1:]

    def add_comment(self, text: str, author: str) -> dict[str, Any]:
        latest = {"raw": text, "html": "", "updatedAt": DATE, "author": {"name": author}}
        return self._add(
            "comment", author, {"edited": False, "hidden": False, "history": [], "latest": latest}
        )

    def add_commit(self, oid: str, title: str, author: str) -> None:
        self._add("commit", author, {"subject": title, "oid": oid})

    def _add(self, kind: str, author: str, data: dict[str, Any]) -> dict[str, Any]:
        event = {"id": f"{self.num:04x}{len(self.events):020x}", "type": kind, "createdAt": DATE}
        self.events.append({**event, "author": {"name": author}, "data": data})
        return self.events[-1]

    def edit(self, event: dict[str, Any], text: str) -> None:
        event["data"]["history"].append(dict(event["data"]["latest"]))
        event["data"]["latest"]["raw"] = text
        event["data"]["edited"] = True

    def listed(self, repo_id: str, kind: str) -> dict[str, Any]:
        return {
            "num": self.num,
            "title": self.title,
            "author": {"name": self.author},
            "createdAt": DATE,
            "status": self.status,
            "isPullRequest": True,
            "repo": {"name": repo_id, "type": kind},
        }

    def detailed(self, repo_id: str, kind: str) -> dict[str, Any]:
        more = {"changes": {"base": "refs/heads/main"}, "filesWithConflicts": [], "diff": ""}
        return {**self.listed(repo_id, kind), "events": self.events, **more}

    def payloads(self, repo_id: str, kind: str, url: str, sha: str) -> list[dict[str, Any]]:
        """Return the two events (version 3) of its opening: a discussion, and a new ref at `sha`."""
        pages = {"web": f"{url}/{kind}s/{repo_id}", "api": f"{url}/api/{kind}s/{repo_id}"}
        repo = {
            "type": kind,
            "name": repo_id,
            "id": "1" * 24,
            "private": False,
            "url": pages,
            "owner": {"id": "2" * 24},
        }
        shared = {"repo": repo, "webhook": {"id": "3" * 24, "version": 3}}
        numbered = {name: f"{address}/discussions/{self.num}" for name, address in pages.items()}
        discussion = {
            "id": "5" * 24,
            "title": self.title,
            "url": numbered,
            "status": self.status,
            "author": {"id": "4" * 24},
            "num": self.num,
            "isPullRequest": True,
            "changes": {"base": "refs/heads/main"},
        }
        comment = {
            "id": "6" * 24,
            "author": {"id": "4" * 24},
            "content": self.description,
            "hidden": False,
            "url": {"web": numbered["web"]},
        }
        ref = {"ref": self.ref, "oldSha": None, "newSha": sha}
        opened = {
            "event": {"action": "create", "scope": "discussion"},
            "discussion": discussion,
            "comment": comment,
        }
        return [
            opened | shared,
            {"event": {"action": "update", "scope": "repo.content"}, "updatedRefs": [ref]} | shared,
        ]
