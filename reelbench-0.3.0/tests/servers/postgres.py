"""A real PostgreSQL in a folder of its own, as an unprivileged user: started, stopped and killed as in life."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

WHY_NOT = "PostgreSQL's server (initdb, pg_ctl) is not on this machine; Debian: apt-get install postgresql"
PASSWORD = "a pass/word: %"  # noqa: S105


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs, or None where they are not here."""
    on_path = shutil.which("initdb")
    folders = [Path(on_path).resolve().parent] if on_path else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next(
        (
            folder
            for folder in folders
            if (folder / "initdb").exists() and (folder / "pg_ctl").exists()
        ),
        None,
    )


class PostgresServer:
    """A server on a port of this machine, for as long as it is entered."""

    def __init__(self) -> None:
        self._programs = programs()
        self._root = Path(tempfile.mkdtemp(prefix="reelbench-postgres-"))
        self._user = None
        if os.geteuid() == 0:  # the server refuses to run as root
            self._user = next(
                user.pw_name for user in pwd.getpwall() if user.pw_name in {"postgres", "nobody"}
            )
            shutil.chown(self._root, self._user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    def __enter__(self):
        (self._root / "password").write_text(PASSWORD)
        (self._root / "password").chmod(0o644)
        self._run(
            "initdb", "--pgdata", self._root / "data", "--username", "reelbench", "--encoding", "SQL_ASCII",
            "--locale", "C", "--auth", "scram-sha-256", "--pwfile", self._root / "password", "--no-sync",
        )  # fmt: skip
        self.start()
        return self

    def __exit__(self, *_):
        self.stop("immediate")
        shutil.rmtree(self._root)

    def start(self):
        """Start it, and wait until it takes connections."""
        options = f"-p {self.port} -h 127.0.0.1 -k {self._root}"
        self._run(
            "pg_ctl",
            "start",
            "-w",
            "-D",
            self._root / "data",
            "-l",
            self._root / "log",
            "-o",
            options,
        )

    def stop(self, mode="fast"):
        """Stop it: `fast` ends connections, `immediate` is a crash."""
        self._run("pg_ctl", "stop", "-w", "-D", self._root / "data", "-m", mode)

    def certified(self) -> Path:
        """Take encrypted connections too from now on, as `localhost` -> the certificate to trust."""
        import psycopg

        certificate, secret = self._root / "data" / "server.crt", self._root / "data" / "server.key"
        command = [
            "openssl",
            "req",
            "-new",
            "-x509",
            "-nodes",
            "-subj",
            "/CN=localhost",
            "-days",
            "2",
        ]
        command += [
            "-addext",
            "subjectAltName=DNS:localhost",
            "-out",
            certificate,
            "-keyout",
            secret,
        ]
        subprocess.run(command, check=True, capture_output=True)
        for file in (certificate, secret):
            file.chmod(0o600)
            if self._user:
                shutil.chown(file, self._user)
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("ALTER SYSTEM SET ssl = on")
            connection.execute("SELECT pg_reload_conf()")
        while True:  # the server reads it when it comes to it
            with psycopg.connect(self.address) as connection:
                if connection.execute("SELECT current_setting('ssl')::boolean").fetchone() == (
                    True,
                ):
                    break
        trusted = self._root / "trusted.crt"
        shutil.copyfile(certificate, trusted)
        return trusted

    def database(self) -> str:
        """Empty the database -> its address, password and all."""
        import psycopg

        # One for all tests: after a crash the server syncs every file of every database, for
        # seconds.
        with psycopg.connect(self.address, autocommit=True) as connection:
            connection.execute("DROP SCHEMA IF EXISTS reelbench CASCADE")
        return self.address

    @property
    def address(self) -> str:
        """The database's address."""
        return f"postgresql://reelbench:a%20pass%2Fword%3A%20%25@127.0.0.1:{self.port}/postgres"

    def _run(self, program, *arguments):
        command = [self._programs / program, *map(str, arguments)]
        done = subprocess.run(
            command, user=self._user, cwd=self._root, env={"LC_ALL": "C"}, check=False,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE if program == "initdb" else None,
        )  # fmt: skip
        assert done.returncode == 0, f"{program}: {done.stderr}"
