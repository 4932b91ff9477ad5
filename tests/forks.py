"""Processes of the `reelbench` command without the second that each spends on imports.

A server process imports what most commands need, once, and forks for every call: the child has the
caller's arguments, environment and folder, runs `reelbench.cli.main` and ends as any process does.
What is decided while Python starts (PYTHONPATH, the locale, the time zone) can't be given to a
child; such a call starts a process of its own.

What each child would make anew, and alike, the server keeps for all of them: the command line of
a command, the versions of installed packages, what answers are read by, and the mini clips. No child waits for a disk.
"""

# pyright: reportArgumentType=false
# pyright: reportAttributeAccessIssue=false
# pyright: reportIndexIssue=false
# pyright: reportOptionalContextManager=false

import atexit
import contextlib
import functools
import gc
import hashlib
import json
import os
import pkgutil
import resource
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from filelock import FileLock

from tests.rooms import ROOMS, ROOT

_AT_START = ("PYTHON", "LC_", "LANG", "TZ")
_LIBRARIES = (
    *(
        "PIL.JpegImagePlugin",
        "PIL.PngImagePlugin",
        "aiohttp",
        "av.subtitles.stream",
        "configparser",
    ),
    *("encodings.idna", "filelock", "numpy", "openai.resources.chat", "openai.resources.files"),
    *("openai.resources.batches", "pandas", "pyarrow.parquet", "rich._emoji_codes", "rich.console"),
    *("rich.table", "tqdm.auto", "typer._adapters", "typer._click.decorators", "yaml"),
)
_LEFT_OUT = (".lmms", ".hf_metrics", ".baseline")
"""What imports the libraries below."""
KILL_AT = "KILL_AT_CHANGE"
"""In a call's environment "n file": it is killed before the n-th change that it makes to any disk; if it makes fewer,
their number is in the file.
"""
FULL_AT = "FULL_AT_BYTES"
"""In a call's environment: no file that it writes becomes longer, as on a disk that is full."""
NO_NETWORK = "NO_NETWORK_ASKED_IN"
"""In a call's environment: whatever it connects to or looks up fails, and is listed in that file."""
_LATER = ("datasets", "huggingface_hub", "torch", "transformers")
"""They read the environment when they are imported, so a child imports them."""


_MEMBER = b"join"
"""What a caller that keeps the server begins with, where others send the length of what they ask for."""
_PROGRAM = """#!{python} -IS
import json, os, signal, socket

with socket.socket(socket.AF_UNIX) as connection:
    connection.connect({address!r})
    request = {{"argv": [{command!r}, *os.sys.argv[1:]], "cwd": os.getcwd(), "env": dict(os.environ)}}
    text = json.dumps(request).encode()
    socket.send_fds(connection, [len(text).to_bytes(4, "big")], [0, 1, 2])
    connection.sendall(text)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: connection.send(bytes([number])))
    pid = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big")
    with open(f"{{__file__}}.{{os.getpid()}}", "w") as file:
        file.write(str(pid))
    status = int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big", signed=True)
if status < 0:
    if -status != signal.SIGKILL:
        signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


_started: list[subprocess.Popen[str]] = []
"""Others may need a server longer than who started it."""


class Forks:
    """The server, as its caller sees it: all workers of a run of tests have one, which ends once they have."""

    def __init__(self, folder: Path) -> None:
        self._address = str(folder / "forks")
        self._environment = dict(os.environ)
        folder.mkdir(exist_ok=True)
        self._member = socket.socket(socket.AF_UNIX)
        with FileLock(folder / "lock"):
            try:
                self._member.connect(self._address)
            except (FileNotFoundError, ConnectionRefusedError):
                self._start()
                self._member.connect(self._address)
            self._member.sendall(_MEMBER)

    def _start(self) -> None:
        command = [sys.executable, "-m", "tests.forks", self._address]
        server = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        _started.append(server)
        with server.stdout as said:
            assert said.readline() == "ready\n"

    def run(self, arguments: list[str], cwd: Path | None, env: dict[str, str], timeout: float):
        """Run the command; returns what `subprocess.run` would, or None where only a process of its own can.

        The command is killed where its caller does not wait for its end.
        """
        if any(
            env.get(key) != self._environment.get(key)
            for key in env | self._environment
            if key.startswith(_AT_START)
        ):
            assert not {KILL_AT, FULL_AT, NO_NETWORK} & env.keys(), (
                "a test left a PYTHON… set: no fork"
            )
            return None
        command = [str(Path(sys.executable).with_name("reelbench")), *arguments]
        with (
            tempfile.TemporaryFile() as out,
            tempfile.TemporaryFile() as err,
            socket.socket(socket.AF_UNIX) as connection,
        ):
            connection.settimeout(timeout)
            connection.connect(self._address)
            request = json.dumps(
                {"argv": command, "cwd": str(cwd or Path.cwd()), "env": env}
            ).encode()
            socket.send_fds(
                connection, [len(request).to_bytes(4, "big")], [out.fileno(), err.fileno()]
            )
            connection.sendall(request)
            _number(connection)
            try:
                status = _number(connection)
            except TimeoutError:
                raise subprocess.TimeoutExpired(command, timeout) from None
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8").replace("\r\n", "\n"))
        return subprocess.CompletedProcess(command, status, *texts)

    def program(self, folder: Path, name: str = "reelbench") -> Path:
        """Write a program to `folder`: it has what it is told done by a fork, to which it hands on signals.

        It is `reelbench`, or a `python` that takes `-c CODE` and `-m MODULE`.
        """
        path = folder / name
        command = str(Path(sys.executable).with_name(name))
        path.write_text(
            _PROGRAM.format(python=sys.executable, address=self._address, command=command)
        )
        path.chmod(0o755)
        return path

    def close(self) -> None:
        """Need the server no more."""
        self._member.close()


def pid_of(process: subprocess.Popen[str]) -> int:
    """Return the process id of the command that a `program` has a fork run."""
    return int(Path(f"{process.args[0]}.{process.pid}").read_text())


def kill(process: subprocess.Popen[str]) -> None:
    """Kill the command that a `program` has a fork run, and wait for both."""
    os.kill(pid_of(process), signal.SIGKILL)
    process.wait()


def _number(connection: socket.socket) -> int:
    data = b""
    while len(data) < 8:
        more = connection.recv(8 - len(data))
        assert more, "the server of forks is gone"
        data += more
    return int.from_bytes(data, "big", signed=True)


def write_without_waiting() -> None:
    """Let what is written reach the disk when it does: no test cuts the power."""
    os.fsync = lambda _: None


def serve(address: str) -> None:
    """Listen at `address`, and fork a process that looks after each call."""
    write_without_waiting()
    for library in _LIBRARIES:
        import_module(library)
    if find_spec("mcp") is not None:  # of an extra
        import_module("mcp.server.lowlevel")
    sys.modules["openai"].OpenAI(api_key="none").close()  # what it sends by is imported only then
    for room in ("cli", *ROOMS):
        package = import_module(f"reelbench.{room}")
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not any(name in module.name for name in _LEFT_OUT):
                import_module(module.name)
    if early := [name for name in _LATER if name in sys.modules]:
        sys.exit(
            f"tests/forks.py: {', '.join(early)} is imported; name what imports it in _LEFT_OUT"
        )
    import_module("reelbench.base.software").versions()  # the versions, which it keeps
    _keep_how_answers_are_read()
    _keep_clips(Path(address).with_name("clips"))
    build = _keep_command_lines()
    with socket.socket(socket.AF_UNIX) as listener:
        Path(address).unlink(missing_ok=True)  # of a server that is gone
        listener.bind(address)
        listener.listen(64)
        gc.freeze()  # a child's collector need not touch what is the server's
        print("ready", flush=True)  # noqa: T201 - what the caller waits for
        signal.signal(
            signal.SIGCHLD, signal.SIG_IGN
        )  # nobody waits for those that look after a call
        for connection, head, fds in _callers(listener):
            request = json.loads(connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
            build(next((word for word in request["argv"][1:] if not word.startswith("-")), None))
            if os.fork():
                connection.close()
                for fd in fds:
                    os.close(fd)
                continue
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            break
        else:
            return
    pid = os.fork()
    if pid:
        _look_after(pid, connection)
        os._exit(0)
    connection.close()
    _become(request, fds)


def _callers(listener: socket.socket) -> Iterator[tuple[socket.socket, bytes, list[int]]]:
    """Yield who calls, what he begins with, and his files: until the last is gone who keeps the server."""
    members: list[socket.socket] = []
    while True:
        ready, _, _ = select.select([listener, *members], [], [])
        left = [member for member in members if member not in ready]
        if members and not left:
            return
        members = left
        if listener in ready:
            connection, _ = listener.accept()
            head, fds, _, _ = socket.recv_fds(connection, 4, 3)
            if head == _MEMBER:
                members.append(connection)
            else:
                yield connection, head, fds


def _look_after(pid: int, connection: socket.socket) -> None:
    """Tell the caller how the command ended; hand the caller's signals on to it."""
    ended = threading.Event()

    def hand_on() -> None:
        while number := connection.recv(1):
            os.kill(pid, number[0])
        if not ended.is_set():
            os.kill(pid, signal.SIGKILL)  # its caller is gone

    connection.sendall(pid.to_bytes(8, "big", signed=True))
    threading.Thread(target=hand_on, daemon=True).start()
    _, status = os.waitpid(pid, 0)
    ended.set()
    with contextlib.suppress(BrokenPipeError):
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


def _keep_how_answers_are_read() -> None:
    """Make what is made of the vocabulary and the patterns when the first answer is read."""
    from reelbench import read_option, read_span

    read_option('{"answer": "A"}. It is (B), the soup.', ["Tea", "Soup"])
    read_span("It is from 1 to 2 seconds.")


def _keep_clips(folder: Path) -> None:
    """Draw each mini clip once, and copy it from then on.

    Where changes of the disk are counted, or it is full, it is drawn as ever.
    """
    from reelbench.video import mini_clips

    folder.mkdir(exist_ok=True)
    draw = mini_clips.draw_clip

    def draw_once(path: Path, key: str, seconds: float) -> None:
        if {KILL_AT, FULL_AT} & os.environ.keys():
            draw(path, key, seconds)
            return
        kept = folder / hashlib.sha256(f"{seconds} {key}".encode()).hexdigest()
        if not kept.is_file():
            aside = kept.with_suffix(f".{os.getpid()}")
            draw(aside, key, seconds)
            aside.replace(kept)
        shutil.copyfile(kept, path)

    mini_clips.draw_clip = draw_once


def _keep_command_lines() -> Callable[[str | None], None]:
    """Make the command line of each command once; returns what makes it before a call."""
    import typer

    from reelbench.cli.program import FIRST_WORDS
    from reelbench.terminal.app import commands_of

    entry = import_module("reelbench.cli.main")
    entry.assembled = functools.cache(entry.assembled)
    typer.main.get_command = functools.cache(typer.main.get_command)

    @functools.cache
    def build(first_word: str | None) -> None:
        if first_word not in FIRST_WORDS or first_word == "help":
            return
        for _, command in commands_of(
            typer.main.get_command(entry.assembled(first_word, outline=False))
        ):
            for parameter in command.params:
                parameter.get_runtime_param()
        gc.freeze()

    return build


def _kill_at(change: str, counted: str) -> None:
    left, changes = int(change), 0

    def hook(event: str, arguments: tuple) -> None:
        nonlocal changes
        written = (
            event == "open"
            and isinstance(arguments[2], int)
            and arguments[2] & (os.O_WRONLY | os.O_RDWR)
        )
        if written or event in {
            "os.rename",
            "os.remove",
            "os.rmdir",
            "os.mkdir",
            "os.link",
            "ctypes.dlsym",
        }:
            changes += 1
            if changes == left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    atexit.register(lambda: Path(counted).write_text(str(changes)))


def _no_network(asked: str) -> None:
    def hook(event: str, arguments: tuple) -> None:
        if event in {"socket.connect", "socket.getaddrinfo"}:
            with Path(asked).open("a", encoding="utf-8") as file:
                print(event, arguments[:2], file=file)
            raise OSError("the network is forbidden")

    sys.addaudithook(hook)


def _run_python(main_module: ModuleType) -> None:
    """Do as `python -c CODE` and `python -m MODULE` do."""
    _, option, what, *_ = sys.argv
    sys.path[0] = ""
    sys.argv = [option, *sys.argv[3:]]
    if option == "-c":
        del main_module.__file__
        exec(compile(what, "<string>", "exec"), vars(main_module))  # noqa: S102 - as it was asked
    else:
        runpy.run_module(what, run_name="__main__", alter_sys=True)


def _become(request: dict, fds: list[int]) -> None:
    """Be the command that was asked for; returns never, as its exit is this process's."""
    if len(fds) == 2:  # nobody says anything to it
        fds = [os.open(os.devnull, os.O_RDONLY), *fds]
    for number, fd in enumerate(fds):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv = request["argv"]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    script = ModuleType("__main__")  # what a process of multiprocessing's runs again
    script.__file__ = sys.argv[0]
    script.__spec__ = None
    sys.modules["__main__"] = script
    if FULL_AT in os.environ:
        limit = int(os.environ.pop(FULL_AT))
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    if KILL_AT in os.environ:
        _kill_at(*os.environ.pop(KILL_AT).split(" ", 1))
    if NO_NETWORK in os.environ:
        _no_network(os.environ.pop(NO_NETWORK))

    try:
        if Path(sys.argv[0]).name == "python":
            _run_python(script)
        else:
            import_module("reelbench.cli.main").main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as Python itself ends
        sys.excepthook(*sys.exc_info())
        status = 1
    # As Python ends, but for taking two thousand modules apart.
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(ValueError, OSError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1])
