"""lmms-eval kept running for several runs in a row, so that a model that they share is loaded once.

    python -P -m reelbench.tasks.lmms.worker SOCKET

is what `Worker` starts: it reads each run, a line of JSON, from a socket (a file descriptor) and
says there how it ended. lmms-eval takes a model apart at the end of each run; here the next run
gets it whole, if it asks for the same.
"""

import json
import os
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TextIO

from reelbench.tasks.lmms import adapters


@dataclass(eq=False, repr=False)
class ModelCache:
    """The model of the last run, kept for the next; `loads` counts how often one was made."""

    loads: int = 0
    _model: Any = None
    _key: object = None
    _arguments: dict[str, str] = field(default_factory=dict[str, str])

    def watch(self) -> None:
        """Stand in for the one way in which lmms-eval makes a model."""
        from lmms_eval.api.model import lmms

        original = lmms.__dict__["create_from_arg_string"].__func__

        @wraps(original)
        def create_from_arg_string(
            cls: type, arg_string: str, additional_config: Any = None
        ) -> Any:  # noqa: ANN401
            given = adapters.values_in(arg_string)
            frames = {name: given.pop(name) for name in adapters.FRAME_COUNTS if name in given}
            # By name: the class may be made anew for each run.
            key = (cls.__module__, cls.__qualname__, tuple(given.items()), repr(additional_config))
            if self._model is None or key != self._key or not self._takes(frames):
                self.drop()
                self._model = original(cls, arg_string, additional_config)
                self._model.clean = lambda: None  # at the end of a run
                self._key = key
                self.loads += 1
            self._arguments = frames
            return self._model

        lmms.create_from_arg_string = classmethod(create_from_arg_string)  # type: ignore[method-assign]

    def _takes(self, frames: Mapping[str, str]) -> bool:
        """Set the model's number of frames, if it keeps that as it was given; return whether it does."""
        if not self._arguments.keys() <= frames.keys():
            return False
        for name in frames:
            value = getattr(self._model, name, None)
            if type(value) is not int or str(value) != self._arguments.get(name, str(value)):
                return False
        for name, value in frames.items():
            setattr(self._model, name, int(value))
        return True

    def drop(self) -> None:
        """Give up the model, as lmms-eval itself does at the end of a run."""
        if self._model is not None:
            del self._model.clean
            self._model.clean()
            self._model = None


@dataclass(eq=False)
class Worker(AbstractContextManager["Worker"]):
    """Runs of lmms-eval in one process, each started by a call as `process.lmms_eval` is; use it in a `with`."""

    loads: int = 0
    """How many models were loaded for all runs that ended."""
    _before: int = 0  # by processes that ended
    _process: Any = None
    _runs: Any = None

    def __exit__(self, *_: object) -> None:
        self._end()

    def __call__(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str] | None = None,
        kept_open: Sequence[int] = (),
        stdout: int | None = None,
    ) -> None:
        """Run lmms-eval; ReelbenchError where it fails, and the next run then has a process of its own."""
        from reelbench.tasks.lmms import process

        if self._process is None:
            ours, theirs = socket.socketpair()
            with ours, theirs:
                words = ["reelbench.tasks.lmms.worker", str(theirs.fileno())]
                self._process = process.start(words, {}, (*kept_open, theirs.fileno()), stdout)
                self._runs = ours.makefile("rw")
            self._before = self.loads
        answer = ""
        with suppress(ConnectionError):
            self._runs.write(
                json.dumps({"arguments": list(arguments), "environ": dict(environ or {})}) + "\n"
            )
            self._runs.flush()
            answer = self._runs.readline()
        if not answer:
            raise process.run_error(self._end())
        reply = json.loads(answer)
        self.loads = self._before + reply["loads"]
        if reply["status"]:
            raise process.run_error(reply["status"])

    def _end(self) -> int:
        """Close the socket, wait for the process, and return its exit status."""
        if self._process is None:
            return 0
        with suppress(ConnectionError):
            self._runs.close()
        status = self._process.wait()
        self._process = self._runs = None
        return status


def serve(runs: TextIO) -> None:
    """Run each request, a line of JSON, until there is no more, and write how it ended."""
    from lmms_eval.__main__ import cli_evaluate

    models, inherited = ModelCache(), dict(os.environ)
    models.watch()
    for line in runs:
        request = json.loads(line)
        os.environ.clear()
        os.environ.update(inherited | request["environ"])
        sys.argv = ["lmms-eval", *request["arguments"]]
        status: Any = 0
        try:
            cli_evaluate()
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else 1 if stop.code else 0
        except Exception:  # noqa: BLE001 - whatever ends one run, the next may do
            traceback.print_exc()
            status = 1
        runs.write(json.dumps({"status": status, "loads": models.loads}) + "\n")
        runs.flush()


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as ours, ours.makefile("rw") as asked:
        serve(asked)
