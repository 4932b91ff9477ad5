"""Anthropic's and Google's servers on 127.0.0.1: the requests that their own clients send, kept and answered.

Anthropic: messages. Google: content of a model, and files that are sent beforehand by a resumable
upload.
"""

import base64
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class Owners:
    """`shown` has what each question came with: a list of pictures' and videos' bytes, by question."""

    def __init__(self, text: str, status: int = 200) -> None:
        self.text, self.status = text, status
        self.shown: list[list[bytes]] = []
        self._files: dict[str, bytes] = {}
        owners = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                document, headers = owners.reply(self.path, self.headers, body)
                data = json.dumps(document).encode()
                self.send_response(owners.status)
                for name, value in {
                    "Content-Type": "application/json",
                    "Content-Length": len(data),
                    **headers,
                }.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(data)

            do_DELETE = do_GET = do_POST  # noqa: N815 - as the base class looks them up

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def reply(self, path: str, headers: Any, body: bytes) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the document and the headers that answer a request."""
        path = path.partition("?")[0]
        if self.status != 200:
            return {
                "error": {
                    "type": "api_error",
                    "message": "scripted",
                    "code": self.status,
                    "status": "X",
                }
            }, {}
        if headers.get("X-Goog-Upload-Command") == "start":
            return {}, {
                "X-Goog-Upload-URL": f"{self.url}/upload/{len(self._files)}",
                "X-Goog-Upload-Status": "active",
            }
        if path.startswith("/upload/"):
            name = f"files/{path.rpartition('/')[2]}"
            self._files[name] = body
            file = {
                "name": name,
                "uri": f"{self.url}/{name}",
                "mimeType": "video/mp4",
                "state": "ACTIVE",
            }
            return {"file": file}, {"X-Goog-Upload-Status": "final"}
        if path.endswith("/messages"):
            parts = json.loads(body)["messages"][-1]["content"]
            self.shown.append(
                [
                    base64.b64decode(part["source"]["data"])
                    for part in parts
                    if part["type"] == "image"
                ]
            )
            usage = {"input_tokens": 100, "output_tokens": 10}
            said = {
                "id": "m1",
                "type": "message",
                "role": "assistant",
                "model": "m",
                "stop_reason": "end_turn",
            }
            return {
                **said,
                "stop_sequence": None,
                "usage": usage,
                "content": [{"type": "text", "text": self.text}],
            }, {}
        if path.endswith(":generateContent"):
            parts = [part for content in json.loads(body)["contents"] for part in content["parts"]]
            pictures = [
                base64.urlsafe_b64decode(part["inlineData"]["data"])
                for part in parts
                if "inlineData" in part
            ]
            files = [
                part["fileData"].get("fileUri") or part["fileData"]["file_uri"]
                for part in parts
                if "fileData" in part
            ]
            self.shown.append(
                pictures + [self._files[file.removeprefix(f"{self.url}/")] for file in files]
            )
            content = {"role": "model", "parts": [{"text": self.text}]}
            return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}, {}
        return {}, {}

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
