"""A scratch PostgreSQL that pgBackRest archives, by the files of deploy/backup as they are; only folders and ports come
from the environment, which pgBackRest puts before its file."""

import re
import secrets
import shutil
import subprocess
import time
from contextlib import contextmanager

from processes import wait_for
from scratch_postgres import ScratchPostgres
from servers import ROOT

UNITS = ROOT / "deploy/systemd"


def make_repository(folder):
    """A repository in a folder, and pgBackRest's file beside it; returns what says where they are, with a passphrase."""
    # The repository's machine is another one: it outlives the database's.
    repository = folder / "repository"
    for name in ["", "lock", "log", "spool"]:
        (repository / name).mkdir()
        shutil.chown(repository / name, "postgres", "postgres")
    return {
        "PGBACKREST_CONFIG": str(shutil.copy(ROOT / "deploy/backup/pgbackrest.conf", folder)),
        "PGBACKREST_REPO1_PATH": str(repository),
        "PGBACKREST_REPO1_CIPHER_PASS": secrets.token_hex(32),
        "PGBACKREST_LOCK_PATH": str(repository / "lock"),
        "PGBACKREST_LOG_PATH": str(repository / "log"),
        "PGBACKREST_SPOOL_PATH": str(repository / "spool"),
    }


def pgbackrest_environment(socket_folder, data, port):
    """Where one PostgreSQL is."""
    return {
        "PGBACKREST_PG1_PATH": str(data), "PGBACKREST_PG1_PORT": str(port), "PGBACKREST_PG1_SOCKET_PATH": str(socket_folder)}


class ArchivedPostgres(ScratchPostgres):
    def __enter__(self):
        super().__enter__()
        try:
            self.environment = {
                "PGHOST": str(self.folder), "PGPORT": str(self.port), "PGDATABASE": self.database,
                **make_repository(self.folder), **pgbackrest_environment(self.folder, self.data, self.port)}
            with (self.data / "postgresql.conf").open("a") as file:
                file.write((ROOT / "deploy/backup/archiving.conf").read_text())
            self.stop()
            self.start()
            self.pgbackrest("stanza-create")
            self.pgbackrest("check")
        except BaseException:
            self.__exit__()
            raise
        return self

    def pgbackrest(self, *arguments):
        self.as_postgres("/usr/bin/pgbackrest", "--stanza=poi", *arguments)

    def copy(self, file):
        """A copy that postgres can read."""
        return shutil.copy(ROOT / file, self.folder)

    def back_up(self, kind):
        """A backup as the shipped unit takes it."""
        self.as_postgres(*self.command("poi-backup@.service").replace("%i", kind).split())

    def metrics(self):
        """The values that Prometheus gets from the shipped unit, by name; a labelled metric's are the highest."""
        output = self.folder / "repository/metrics"
        command = self.command("poi-database-metrics.service").replace("/usr/local/share/poi", str(self.folder))
        self.copy("deploy/backup/metrics.sql")
        self.as_postgres(*command.replace("poi-database.new", str(output)).split())
        subprocess.run(["promtool", "check", "metrics"], input=output.read_bytes(), check=True)
        values = {}
        for line in output.read_text().splitlines():
            if line.startswith("#"):
                continue
            series, value = line.split(" ")
            name = series.partition("{")[0]
            values[name] = max(float(value), values.get(name, 0))
        return values

    @staticmethod
    def command(unit):
        return re.search(r"^ExecStart=(.*)$", (UNITS / unit).read_text(), re.M).group(1)

    def close_segment(self):
        """Has the log's current segment archived; returns its name."""
        # An empty one isn't closed.
        self.query("SELECT pg_logical_emit_message(true, 'drill', '')")
        return self.query("SELECT pg_walfile_name(pg_switch_wal())")

    def wait_until_archived(self):
        """Until what has been written so far is in the archive."""
        segment = self.close_segment()
        wait_for(lambda: self.query("SELECT last_archived_wal FROM pg_stat_archiver") >= segment, 60, f"{segment} is archived")

    @contextmanager
    def broken_archive(self):
        """The repository takes nothing meanwhile."""
        archive = self.folder / "repository/archive"
        archive.rename(archive.with_name("away"))
        try:
            yield
        finally:
            archive.with_name("away").rename(archive)

    def lose(self):
        """The machine is gone, without a farewell."""
        self.stop()
        shutil.rmtree(self.data)

    def restore(self, *target):
        """Restores the data folder, and starts it; returns the seconds that the files took, and the log."""
        begun = time.monotonic()
        self.data.mkdir(mode=0o700)
        shutil.chown(self.data, "postgres", "postgres")
        self.pgbackrest("restore", *target)
        copied = time.monotonic()
        self.start()
        wait_for(lambda: self.query("SELECT pg_is_in_recovery()") == "f", 60, "the log is replayed")
        return copied - begun, time.monotonic() - copied
