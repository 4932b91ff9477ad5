"""Completion as `--install-completion` installs it, asked of the shells themselves: what the Tab key is given."""

import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.alarms import PATIENCE_S

PROGRAMS = Path(sys.executable).parent


@pytest.fixture(params=["bash", "zsh", "fish"])
def shell(request, tmp_path):
    """A shell in a home of its own, in which the one line of the documents was typed -> its name, its environment."""
    name = request.param
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed here (Debian's package `{name}`)")
    env = {
        **{
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("XDG_", "ZDOTDIR"))
        },
        "HOME": str(tmp_path),
        "PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}",
        "REELBENCH_HOME": str(tmp_path / "kept"),
        "TERM": "dumb",
        "PS1": "$ ",
    }
    done = subprocess.run(
        [name, "-c", "reelbench --install-completion; true"],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"{name} completion installed" in done.stdout, done.stderr
    return name, env


def completed(shell, line):
    """Return what the shell offers for the last word of a line."""
    name, env = shell
    if name == "zsh":
        return typed(env, line)
    words = line.split(" ")
    asked = {
        "bash": f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _reelbench_completion reelbench; "
        'echo "${COMPREPLY[*]}"',
        "fish": f"complete -C '{line}'",
    }
    done = subprocess.run(
        [name, "-ic", asked[name]], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def typed(env, line):
    """Type a line and two tabs at zsh's prompt, which completes for a person only -> what stands on the screen."""
    pid, screen = pty.fork()
    if not pid:
        os.execvpe("zsh", ["zsh", "-i"], env)  # noqa: S606
    shown = b""
    os.set_blocking(screen, False)
    os.write(screen, f"{line}\t\t".encode())
    until = time.monotonic() + PATIENCE_S
    while b"rextime_test" not in shown and b"openrouter/" not in shown and time.monotonic() < until:
        try:
            shown += os.read(screen, 65536)
        except BlockingIOError:
            time.sleep(0.05)
    os.write(screen, b"\x15exit\n")
    os.close(screen)
    os.waitpid(pid, 0)
    return shown.decode("utf-8", "replace")


def test_each_shell_completes_benchmarks_and_providers(shell):
    for line, wanted in (
        ("reelbench eval rextime", "rextime_test"),
        ("reelbench eval x --model open", "openrouter/"),
    ):
        assert wanted in (offered := completed(shell, line)), offered
