"""Rehearses the backups of a cluster, as Documentation/backups.md has them: one leader after the other archives, a standby
that was away for long takes from the archive what the leader has no more, and all is restored to a moment."""

import os
import re
import shutil
import subprocess
import time

import pytest

from archived_postgres import make_repository, pgbackrest_environment
from database_cluster import AS_DATABASE_USER, FILES, HEAL_TIMEOUT, DatabaseCluster
from processes import wait_for
from scratch_postgres import programs

ROWS = 1000


class ArchivedCluster(DatabaseCluster):
    """A cluster with the archiving that patroni.yml has in comments. Its leaders keep little log, so that it takes little to
    need the archive."""

    def __init__(self):
        lines = re.findall(r"^ +#\w+: .*$", (FILES / "patroni.yml").read_text(), re.M)
        super().__init__({"wal_keep_size: 1GB": "wal_keep_size: 32MB", **{line: line.replace("#", "", 1) for line in lines}})
        self.repository = make_repository(self.folder)

    def pgbackrest_environment(self, node):
        return {**self.repository, **pgbackrest_environment(self.folder, node.data, node.port)}

    def patroni_environment(self, node):
        return {**super().patroni_environment(node), **self.pgbackrest_environment(node)}

    def run(self, node, *command):
        """Runs one of the programs of a machine's PostgreSQL as its user."""
        subprocess.run([*AS_DATABASE_USER, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/",
                       env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **self.pgbackrest_environment(node)})

    def pgbackrest(self, node, *arguments):
        self.run(node, "pgbackrest", "--stanza=poi", "--log-level-console=error", "--log-level-stderr=error", *arguments)

    def is_primary(self, node):
        return node.is_leader() and self.query("SELECT pg_is_in_recovery()", node) == "f"

    def add_rows(self):
        self.query(f"INSERT INTO drill SELECT FROM generate_series(1, {ROWS})")

    def outgrow_kept_log(self, node):
        """Writes more than a leader keeps, so that a machine that is away no longer finds there what it has missed."""
        missing = self.query("SELECT pg_walfile_name(pg_current_wal_lsn())")
        while (node.data / "pg_wal" / missing).exists():
            for _ in range(4):
                self.query("SELECT pg_logical_emit_message(true, 'drill', repeat('x', 1000000)); SELECT pg_switch_wal()")
            self.query("CHECKPOINT")

    def restore(self, node, moment):
        """As the document says it."""
        for other in self.nodes:
            other.patroni.terminate()
            other.patroni.wait()
            shutil.rmtree(other.data)
        begun = time.monotonic()
        self.pgbackrest(node, "restore", "--type=time", f"--target={moment}", "--target-action=promote")
        # Each machine has its own port here.
        self.run(node, programs() / "pg_ctl", "--pgdata", node.data, "--wait", "--log", node.folder / "recovery.log", "--options",
                 f"-c listen_addresses= -c port={node.port} -c unix_socket_directories={self.folder}", "start")
        wait_for(lambda: self.query("SELECT pg_is_in_recovery()", node) == "f", HEAL_TIMEOUT, "the end of the recovery")
        self.run(node, programs() / "pg_ctl", "--pgdata", node.data, "--wait", "stop")
        subprocess.run([*AS_DATABASE_USER, self.folder / "patronictl", "remove", "poi"], check=True, text=True,
                       input="poi\nYes I am aware\n", stdout=subprocess.DEVNULL, cwd="/")
        self.start_patroni(node)
        wait_for(lambda: self.is_primary(node), HEAL_TIMEOUT, "a leader")
        led = time.monotonic()
        for other in self.nodes:
            if other is not node:
                self.start_patroni(other)
        wait_for(self.is_whole, HEAL_TIMEOUT, "a whole cluster")
        return led - begun, time.monotonic() - begun


@pytest.mark.soak
def test_a_cluster_is_restored_from_what_both_of_its_leaders_archived():
    with ArchivedCluster() as cluster:
        first = cluster.leader()
        for arguments in [["stanza-create"], ["check"], ["backup", "--type=full"]]:
            cluster.pgbackrest(first, *arguments)
        cluster.query("CREATE TABLE drill ()")
        cluster.add_rows()
        cluster.kill(first)
        second = wait_for(lambda: next((node for node in cluster.nodes if node is not first and cluster.is_primary(node)), None),
                          HEAL_TIMEOUT, "another leader")
        cluster.add_rows()
        cluster.pgbackrest(second, "check")
        cluster.pgbackrest(second, "backup", "--type=diff")

        # The former leader takes from the archive what the second one has no more.
        cluster.outgrow_kept_log(second)
        cluster.start_patroni(first)
        wait_for(cluster.is_whole, HEAL_TIMEOUT, "the former leader as a standby")
        assert "restored log file" in (first.folder / "patroni.log").read_text()

        cluster.add_rows()
        moment = cluster.query("SELECT clock_timestamp()")
        cluster.query("DELETE FROM drill")
        cluster.add_rows()
        cluster.pgbackrest(second, "check")
        led, whole = cluster.restore(second, moment)
        assert cluster.query("SELECT count(*) FROM drill") == str(3 * ROWS)
        cluster.pgbackrest(second, "check")
        cluster.pgbackrest(second, "backup", "--type=full")
        print(f"restored to the moment before a mistake: a leader after {led:.0f} s, all three machines after {whole:.0f} s")
