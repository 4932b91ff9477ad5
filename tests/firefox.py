"""A real Firefox, spoken to by its own protocol (Marionette), as geckodriver does."""

import json
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager

NAMES = ("firefox-esr", "firefox")
START = 90
"""Seconds that a start may take on a busy machine."""


def installed():
    """Return the path of a Firefox, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Firefox:
    """One window. Scripts see the page's elements, not the page's own variables."""

    def __init__(self, connection):
        self._file = connection.makefile("rwb")
        self._number = 0
        self._read()
        self._ask("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {}}})
        self._ask("WebDriver:SetTimeouts", {"script": 120_000, "pageLoad": 120_000})

    def _read(self):
        length = b""
        while (sign := self._file.read(1)) != b":":
            length += sign
        return json.loads(self._file.read(int(length)))

    def _ask(self, name, parameters):
        self._number += 1
        line = json.dumps([0, self._number, name, parameters]).encode()
        self._file.write(b"%d:%s" % (len(line), line))
        self._file.flush()
        _, _, error, result = self._read()
        assert error is None, error
        return result

    def open(self, address, *, width, height=900):
        """Open a page in a window whose inside is so wide."""
        self._ask("WebDriver:Navigate", {"url": "about:blank"})
        self._ask("WebDriver:SetWindowRect", {"width": width, "height": height})
        spare = width - self.run("return innerWidth")
        self._ask("WebDriver:SetWindowRect", {"width": width + spare, "height": height})
        self._ask("WebDriver:Navigate", {"url": address})

    def run(self, script, *arguments):
        """Return what a function's body gives; a promise is waited for."""
        given = {"script": script, "args": list(arguments), "newSandbox": False}
        return self._ask("WebDriver:ExecuteScript", given)["value"]

    def wait(self, condition):
        """Wait until an expression is true."""
        self.run(
            f"return new Promise((go) => {{ const look = () => ({condition}) ? go() : setTimeout(look, 50); look(); }})"
        )


@contextmanager
def firefox(folder):
    """Start a Firefox without a window and with a profile of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "user.js").write_text(
        f'user_pref("marionette.port", {port});\n'
        'user_pref("remote.prefs.recommended", true);\n'
        'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
    )
    command = [installed(), "--headless", "--marionette", "--no-remote", "--profile", folder]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with _connected(port, process) as connection:
                yield Firefox(connection)
        finally:
            process.terminate()


def _connected(port, process):
    end = time.monotonic() + START
    while True:
        assert process.poll() is None, "Firefox has ended"
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=180)
        except ConnectionRefusedError:
            assert time.monotonic() < end, f"Firefox did not start in {START} s"
            time.sleep(0.2)
