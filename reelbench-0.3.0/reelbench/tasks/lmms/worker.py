"""Keep lmms-eval running for several runs in a row, so that their model is loaded once.

    python -P -m reelbench.tasks.lmms.worker SOCKET

is the process that `Worker` starts. It reads each run, a line of JSON, from a socket (a file
descriptor) and writes back how it ended. lmms-eval takes a model apart at the end of each run. Here
the next run gets it whole, if it asks for the same.
"""

import json
import os
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from reelbench.tasks.lmms import adapters

if TYPE_CHECKING:
    import subprocess


class ModelCache:
    """The model of the last run, kept for the next.

    `loads` counts the models that were made.
    """

    def __init__(self) -> None:
        self.loads = 0
        self._model: Any = None
        self._key: object = None
        self._frame_counts: dict[str, str] = {}

    def watch(self) -> None:
        """Replace the one function with which lmms-eval makes a model."""
        from lmms_eval.api.model import lmms

        original = lmms.__dict__["create_from_arg_string"].__func__

        @wraps(original)
        def create_from_arg_string(
            cls: type, arg_string: str, additional_config: object = None
        ) -> object:
            make = partial(original, cls, arg_string, additional_config)
            # By name: the class may be made anew for each run.
            kind = (cls.__module__, cls.__qualname__, repr(additional_config))
            return self._model_for(kind, adapters.values_in(arg_string), make)

        lmms.create_from_arg_string = classmethod(create_from_arg_string)  # type: ignore[method-assign]

    def _model_for(
        self, kind: tuple[str, ...], arguments: dict[str, str], make: Callable[[], Any]
    ) -> object:
        """Return the last run's model where it is the same, else a new one."""
        frame_counts: dict[str, str] = {}
        for name in adapters.FRAME_COUNTS & arguments.keys():
            frame_counts[name] = arguments.pop(name)
        key = (kind, arguments)
        if self._model is None or key != self._key or not self._set_frame_count(frame_counts):
            self.drop()
            self._model = make()
            self._model.clean = lambda: None  # at the end of a run
            self._key = key
            self.loads += 1
        self._frame_counts = frame_counts
        return self._model

    def _set_frame_count(self, frame_counts: Mapping[str, str]) -> bool:
        """Set the model's number of frames. Return False where that can't be."""
        if not self._frame_counts.keys() <= frame_counts.keys():
            return False
        for name in frame_counts:
            value = getattr(self._model, name, None)
            if type(value) is not int or str(value) != self._frame_counts.get(name, str(value)):
                return False
        for name, count in frame_counts.items():
            setattr(self._model, name, int(count))
        return True

    def drop(self) -> None:
        """Give up the model, as lmms-eval itself does at the end of a run."""
        if self._model is not None:
            del self._model.clean
            self._model.clean()
            self._model = None


class _RunningProcess(NamedTuple):
    """A process that lmms-eval runs in, and the file on its socket."""

    popen: "subprocess.Popen[Any]"
    runs: TextIO


class Worker(AbstractContextManager["Worker"]):
    """Runs of lmms-eval in one process. Use it in a `with`.

    Each run is started by a call as `process.lmms_eval` is. `loads` is the number of models that
    were loaded for all runs that ended.
    """

    def __init__(self) -> None:
        self.loads = 0
        self._loads_before = 0  # by processes that ended
        self._process: _RunningProcess | None = None

    def __exit__(self, *_: object) -> None:
        self._end_process()

    def __call__(
        self,
        arguments: Sequence[str],
        environ: Mapping[str, str] | None = None,
        kept_open: Sequence[int] = (),
        stdout: int | None = None,
    ) -> None:
        """Run lmms-eval.

        Raises:
            ReelbenchError: It fails. The next run then has a process of its own.
        """
        from reelbench.tasks.lmms import process

        if self._process is None:
            self._process = self._start_process(kept_open, stdout)
            self._loads_before = self.loads
        answer = ""
        with suppress(ConnectionError):
            run = {"arguments": list(arguments), "environ": dict(environ or {})}
            self._process.runs.write(json.dumps(run) + "\n")
            self._process.runs.flush()
            answer = self._process.runs.readline()
        if not answer:
            raise process.run_error(self._end_process())
        reply = json.loads(answer)
        self.loads = self._loads_before + reply["loads"]
        if reply["status"]:
            raise process.run_error(reply["status"])

    @staticmethod
    def _start_process(kept_open: Sequence[int], stdout: int | None) -> _RunningProcess:
        from reelbench.tasks.lmms import process

        near, far = socket.socketpair()
        with near, far:
            words = ["reelbench.tasks.lmms.worker", str(far.fileno())]
            popen = process.start(words, {}, (*kept_open, far.fileno()), stdout)
            return _RunningProcess(popen, near.makefile("rw"))

    def _end_process(self) -> int:
        """Close the socket, wait for the process, and return its exit status."""
        if self._process is None:
            return 0
        with suppress(ConnectionError):
            self._process.runs.close()
        status = self._process.popen.wait()
        self._process = None
        return status


def serve(runs: TextIO) -> None:
    """Run each request, a line of JSON, and write how it ended."""
    models = ModelCache()
    models.watch()
    inherited = dict(os.environ)
    for line in runs:
        request = json.loads(line)
        os.environ.clear()
        os.environ.update(inherited | request["environ"])
        sys.argv = ["lmms-eval", *request["arguments"]]
        status = _run_status()
        runs.write(json.dumps({"status": status, "loads": models.loads}) + "\n")
        runs.flush()


def _run_status() -> int:
    """Run lmms-eval with the arguments in `sys.argv`, and return its exit status."""
    from lmms_eval.__main__ import cli_evaluate

    try:
        cli_evaluate()
    except SystemExit as stop:
        if isinstance(stop.code, int):
            return stop.code
        return 1 if stop.code else 0
    except Exception:  # noqa: BLE001 - whatever ends one run, the next may do
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    with (
        socket.socket(fileno=int(sys.argv[1])) as run_socket,
        run_socket.makefile("rw") as run_file,
    ):
        serve(run_file)
