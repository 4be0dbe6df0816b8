"""The cluster of deploy/cluster, broken under load: no read is wrong or fails for longer than it takes to notice the fault, no
acknowledged event is lost or doubled, and no migration is left half done. See Documentation/fleet.md."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from cluster_judgement import check_judgement, longest_failure, lost_and_doubled, recovery, wrong_reads
from cluster_load import INSERT_PLACES, PLACES, TARGET, Load
from clustered_service import ClusteredService
from database_cluster import FILES, HEAL_TIMEOUT, DatabaseCluster
from events import stored_events
from processes import wait_for
from scratch_postgres import programs
from servers import ROOT

pytestmark = pytest.mark.alone

TTL = int(re.search(r"\bttl: (\d+)", (FILES / "patroni.yml").read_text())[1])
# What the servers are told, and so how old a response may be: twice that, and two seconds until it is noticed.
MAXIMUM_LAG = 5
STALENESS = 2 * MAXIMUM_LAG + 2
# How long no read of a server may succeed: until the lease has expired, and another leader is there and known.
MAXIMUM_OUTAGE = TTL + 10


@dataclass
class Figures:
    """What the rounds of one fault have shown: numbers of reads, failed ones, events, lost and doubled ones, and
    more."""

    counts: Counter = field(default_factory=Counter)
    longest_failure: float = 0
    wrong: list = field(default_factory=list)
    migrations: Counter = field(default_factory=Counter)
    recoveries: list = field(default_factory=list)

    def __str__(self):
        return (f"{len(self.recoveries)} rounds; {dict(self.counts)}, failed for {self.longest_failure:.1f} s at most, "
                f"{len(self.wrong)} wrong; migrations {dict(self.migrations)}; recovered in "
                f"{statistics.median(self.recoveries):.1f} s, {max(self.recoveries):.1f} at most")

    def check(self):
        assert not self.wrong
        assert (self.counts["lost"], self.counts["doubled"]) == (0, 0), "acknowledged events"
        assert not self.migrations["broken"]
        assert self.counts["reads"] and self.counts["events"]
        assert self.longest_failure <= MAXIMUM_OUTAGE


# The faults: each breaks something, watches what comes of it for a while, and repairs it.

def another_leads(cluster, old):
    wait_for(lambda: cluster.leader() not in (None, old), 3 * TTL, "another leader")


def kill(cluster, old):
    """The machine's network fails a second before its power: what was committed in that second is on no standby."""
    for sender in cluster.query("SELECT pid FROM pg_stat_replication", old).split():
        os.kill(int(sender), signal.SIGSTOP)
    time.sleep(1)
    cluster.kill(old)
    another_leads(cluster, old)
    time.sleep(2)
    cluster.start_patroni(old)


def freeze_patroni(cluster, old):
    """Its PostgreSQL goes on, as a primary that nobody should use any more."""
    cluster.freeze(old, postgres=False)
    another_leads(cluster, old)
    # Whoever reached it directly could read old places there for ever, but a commit is never acknowledged.
    with pytest.raises(subprocess.TimeoutExpired):
        cluster.query("CREATE TABLE check_cluster_deposed ()", old, timeout=3)
    time.sleep(STALENESS + 2)
    cluster.thaw(old)


def freeze_machine(cluster, old):
    cluster.freeze(old, postgres=True)
    another_leads(cluster, old)
    time.sleep(STALENESS + 2)
    cluster.thaw(old)


def cut_off(cluster, old):
    cluster.cut_off(old)
    another_leads(cluster, old)
    time.sleep(STALENESS + 2)
    cluster.reconnect(old)


def switch_over(cluster, old):
    cluster.switch_over(old, next(node for node in cluster.nodes if node.name == cluster.synchronous_standby()))
    another_leads(cluster, old)


def freeze_standby(cluster, leader):
    """The standby that commits wait for is gone, until the other one has its place."""
    standby = next(node for node in cluster.nodes if node.name == cluster.synchronous_standby())
    cluster.freeze(standby, postgres=True)
    wait_for(lambda: cluster.synchronous_standby() not in (None, standby.name), 3 * TTL, "another synchronous standby")
    time.sleep(2)
    cluster.thaw(standby)


def lose_etcd(cluster, old):
    """Nobody knows who may lead, so nobody does."""
    for node in cluster.nodes:
        cluster.cut_off(node)
    wait_for(lambda: cluster.leader() is None, 3 * TTL, "no leader")
    time.sleep(STALENESS + 2)
    for node in cluster.nodes:
        cluster.reconnect(node)


class Migrations:
    """A folder of migrations that grows by one a round: a table of two thousand rows that takes a while to fill."""

    SQL = """-- migrate:up
CREATE TABLE check_cluster_{number} (n integer);
INSERT INTO check_cluster_{number} SELECT generate_series(1, 1000);
SELECT pg_sleep({seconds});
INSERT INTO check_cluster_{number} SELECT generate_series(1001, 2000);
-- migrate:down
DROP TABLE check_cluster_{number};
"""

    def __init__(self, service):
        self.service, self.number = service, 9000
        self.folder = Path(tempfile.mkdtemp(dir=service.cluster.folder))
        shutil.copytree(ROOT / "Migrations", self.folder, dirs_exist_ok=True)

    def start(self, seconds):
        self.number += 1
        sql = self.SQL.format(number=self.number, seconds=seconds)
        (self.folder / f"{self.number}_check_cluster_{self.number}.sql").write_text(sql)
        self.process = self.service.start_migration(self.folder)

    def outcome(self, cluster):
        """What is there of it, after which it is run again and has to be there."""
        is_acknowledged = self.process.wait(60) == 0
        state = self.state(cluster)
        if is_acknowledged and state != "whole":
            return "broken"
        self.service.start_migration(self.folder, wait=True)
        return state if self.state(cluster) == "whole" else "broken"

    def state(self, cluster):
        table = f"check_cluster_{self.number}"
        is_listed, exists = cluster.query(f"""
            SELECT EXISTS (SELECT FROM schema_migrations WHERE version = '{self.number}'),
            to_regclass('{table}') IS NOT NULL""").split("|")
        if (is_listed, exists) == ("f", "f"):
            return "absent"
        count = exists == "t" and cluster.query(f"SELECT count(*) FROM {table}")
        return "whole" if (is_listed, count) == ("t", "2000") else "broken"


class Rehearsal:
    """Rounds of faults in a cluster under load."""

    def __init__(self, cluster, service):
        self.cluster, self.service = cluster, service
        self.migrations = Migrations(service)
        self.state = 0
        assert service.psql(INSERT_PLACES).returncode == 0
        wait_for(lambda: all(len(server.json(TARGET)) == PLACES for server in service.servers), 30, "the places")

    def run(self, fault, rounds):
        """The figures of so many rounds; where one can't be finished, the logs are kept."""
        figures = Figures()
        try:
            for _ in range(rounds):
                self.run_once(fault, figures)
        except BaseException:
            self.cluster.keep_logs()
            raise
        print(figures)
        return figures

    def run_once(self, fault, figures):
        """The fault under load, until the cluster is whole again."""
        load = Load(self.service, self.state)
        load.start()
        try:
            time.sleep(2)
            # Its commit comes at another moment in each round: before the fault, and until some seconds after it.
            self.migrations.start(seconds=(1 + len(figures.recoveries) * 1.1) % 8)
            time.sleep(0.7)
            old, fault_at = self.cluster.leader(), time.monotonic()
            fault(self.cluster, old)
            wait_for(self.cluster.is_whole, HEAL_TIMEOUT, "the cluster is whole again")
            time.sleep(2)
        finally:
            load.stop()
        self.state = load.state
        self.take(figures, load, fault_at)

    def take(self, figures, load, fault_at):
        figures.longest_failure = max(figures.longest_failure, longest_failure(load.reads))
        figures.wrong += wrong_reads(load.commits, load.reads, STALENESS)
        stored = stored_events(self.cluster.query, "check-cluster")
        lost, doubled = lost_and_doubled(load.acknowledged, stored)
        failed = sum(read.state is None and not read.fault for read in load.reads)
        figures.counts.update(
            reads=len(load.reads), failed=failed, events=len(load.acknowledged), lost=lost, doubled=doubled)
        figures.recoveries.append(recovery(load, fault_at))
        figures.migrations[self.migrations.outcome(self.cluster)] += 1
        if load.unfinished:
            figures.wrong.append(f"{load.unfinished} batches of events were never acknowledged")


@pytest.fixture(scope="module")
def cluster():
    with DatabaseCluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def rehearsal(poi, cluster):
    with ClusteredService(poi, cluster, settings={"POI_MAX_REPLICA_LAG": f"{MAXIMUM_LAG}s"}) as service:
        yield Rehearsal(cluster, service)


def test_each_kind_of_wrong_read_is_seen():
    check_judgement()


SOAK = [pytest.mark.soak, pytest.mark.timeout(3 * 3600)]


@pytest.mark.parametrize(("fault", "rounds"), [
    pytest.param(kill, 1, marks=pytest.mark.ci),
    *[pytest.param(fault, 20, marks=SOAK) for fault in [
        kill, switch_over, freeze_patroni, freeze_machine, cut_off, freeze_standby, lose_etcd]],
], ids=lambda one: one.__name__ if callable(one) else str(one))
def test_a_fault_loses_no_event_and_shows_no_old_place(rehearsal, fault, rounds):
    figures = rehearsal.run(fault, rounds)
    try:
        figures.check()
    except AssertionError:
        rehearsal.cluster.keep_logs()
        raise


@pytest.mark.soak
def test_events_are_lost_where_commits_wait_for_no_standby(poi):
    """A fault of the cluster itself, which has to be noticed."""
    settings = {f"{name}: true": f"{name}: false" for name in ["synchronous_mode", "synchronous_mode_strict"]}
    with DatabaseCluster(settings) as cluster, ClusteredService(
            poi, cluster, settings={"POI_MAX_REPLICA_LAG": f"{MAXIMUM_LAG}s"}) as service:
        figures = Rehearsal(cluster, service).run(kill, 1)
    assert figures.counts["lost"] and figures.wrong


@pytest.mark.soak
def test_commits_wait_for_a_standby_at_a_price(cluster, rehearsal):
    """Measures it: pgbench inserts events, one a commit, by turns with waiting and without."""
    script = cluster.folder / "insert.sql"
    script.write_text("""INSERT INTO events (id, time, user_id, name, value, is_test)
        VALUES (gen_random_uuid(), now(), 'check-cluster', 'cost', '{"page": "location-detail"}', false);""")
    url = cluster.variables("serve.env.example")["POI_EVENTS_DATABASE_URL"]
    rates = {}
    for _ in range(3):
        for is_synchronous in (True, False):
            cluster.configure({"synchronous_mode": is_synchronous, "synchronous_mode_strict": is_synchronous})
            count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
            wait_for(lambda: cluster.query(count) == str(int(is_synchronous)), 30, "the change")
            for clients in (1, 8):
                output = subprocess.run(
                    [programs() / "pgbench", "--no-vacuum", "--client", str(clients), "--time", "4", "--file", script, url],
                    check=True, capture_output=True, text=True).stdout
                rates.setdefault((clients, is_synchronous), []).append(float(re.search(r"tps = ([0-9.]+)", output)[1]))
    cluster.configure({"synchronous_mode": True, "synchronous_mode_strict": True})
    for clients in (1, 8):
        waiting, plain = (statistics.median(rates[clients, is_synchronous]) for is_synchronous in (True, False))
        print(f"{clients} clients: {waiting:.0f} commits/s, waiting for a standby; {plain:.0f} without; {waiting / plain:.2f}")
