"""A PostgreSQL for one run of a check: on a free port of 127.0.0.1, with the service's roles and their passwords."""

import contextlib
import os
import random
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

from psql import PSQL


# PostgreSQL doesn't run as root.
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] if os.geteuid() == 0 else []


def free_port():
    """None of the ports that systems give to connections, one of which could have it a moment later."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(20_000, 32_000)))
            return probe.getsockname()[1]


def programs():
    """The newest installed server's programs."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[4]))
    if not folders:
        raise SystemExit("scratch_postgres: no PostgreSQL below /usr/lib/postgresql")
    return folders[-1].parent


class ScratchPostgres:
    """As a context manager: made and started, then stopped and removed. Runs as `postgres`, so it needs root."""

    database = "points_of_interest"

    def __init__(self, roles_file, passwords):
        self.roles_file = roles_file
        self.passwords = passwords
        self.port = free_port()
        self.programs = programs()
        # What the server's own commands, such as its archive_command, have in their environment beside this one's.
        self.environment = {}

    def url(self, role):
        """A libpq URI for a role."""
        return f"postgresql://{role}:{self.passwords[role]}@127.0.0.1:{self.port}/{self.database}"

    def __enter__(self):
        # A socket's path has 107 bytes at most, and postgres has to get there.
        self.folder = Path(tempfile.mkdtemp(prefix="poi-scratch-", dir="/tmp"))
        shutil.chown(self.folder, "postgres", "postgres")
        self.data = self.folder / "data"
        self.as_postgres("initdb", "--pgdata", self.data, "--auth-local=trust", "--auth-host=scram-sha-256",
                         "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions")
        self.start()
        try:
            self.psql("postgres", "--command", f"CREATE DATABASE {self.database}")
            self.psql(self.database, "--file", self.roles_file, environment={
                f"{role.upper()}_PASSWORD": password for role, password in self.passwords.items()})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)

    def start(self):
        """Starts the server, and waits until it takes connections."""
        self.as_postgres(
            "pg_ctl", "--pgdata", self.data, "--wait", "--silent", "--log", self.folder / "log", "--options",
            f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder}"
            " -c fsync=off -c max_connections=100", "start")

    def stop(self):
        """Ends the server as a crash would."""
        self.as_postgres("pg_ctl", "--pgdata", self.data, "--mode=immediate", "--silent", "stop")

    def as_postgres(self, program, *arguments):
        """Runs one of PostgreSQL's programs, or another one that has its whole path."""
        subprocess.run(
            [*AS_POSTGRES, str(self.programs / program), *map(str, arguments)], check=True, cwd="/",
            stdout=subprocess.DEVNULL, env={**os.environ, **self.environment})

    def psql(self, database, *arguments, environment=None):
        """psql as the superuser, through the Unix socket; returns what it prints."""
        return subprocess.run(
            [*PSQL, "--host", str(self.folder), "--port", str(self.port), "--username=postgres", "--dbname", database,
             *map(str, arguments)],
            check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})}).stdout

    def query(self, statement):
        return self.psql(self.database, "--command", statement).strip()
