"""Breaks the cluster of deploy/cluster again and again, under load, and fails where a read was wrong or failed for too long,
where an acknowledged event is lost or doubled, or where a migration is neither whole nor absent."""

import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from cluster_backup import rehearse_backups
from cluster_cost import measure_cost
from cluster_judgement import check_judgement, longest_failure, lost_and_doubled, recovery, wrong_reads
from cluster_load import INSERT_PLACES, Load
from clustered_service import ClusteredService
from database_cluster import DATABASE, FILES, HEAL_TIMEOUT, ROOT, DatabaseCluster
from processes import wait_for

ROUNDS = int(os.environ.get("POI_CHECK_ROUNDS", 0))
# Faults of the cluster itself, for which the check has to fail.
PLANTS = {"": None, "asynchronous": {"synchronous_mode: true": "synchronous_mode: false",
                                     "synchronous_mode_strict: true": "synchronous_mode_strict: false"}}
PLANT = os.environ.get("POI_CHECK_PLANT", "")
TTL = int(re.search(r"\bttl: (\d+)", (FILES / "patroni.yml").read_text())[1])
# What the servers are told, and so how old a response may be: twice that, and two seconds until it is noticed.
MAXIMUM_LAG = 5
STALENESS = 2 * MAXIMUM_LAG + 2
# How long no read of a server may succeed: until the lease has expired, and another leader is there and known.
MAXIMUM_OUTAGE = TTL + 10


@dataclass
class Figures:
    """What the rounds of one fault have shown."""

    rounds: int = 0
    reads: int = 0
    failed_reads: int = 0
    longest_failure: float = 0
    wrong: list = field(default_factory=list)
    events: int = 0
    lost: int = 0
    doubled: int = 0
    migrations: dict = field(default_factory=lambda: {"whole": 0, "absent": 0, "broken": 0})
    recoveries: list = field(default_factory=list)

    HEADER = ["fault", "rounds", "reads", "failed", "longest s", "wrong", "events", "lost", "doubled",
              "migrations whole / absent / broken", "s to recover: median", "max"]

    def cells(self, fault):
        return [fault, self.rounds, self.reads, self.failed_reads, f"{self.longest_failure:.1f}", len(self.wrong),
                self.events, self.lost, self.doubled, " / ".join(map(str, self.migrations.values())),
                f"{statistics.median(self.recoveries):.1f}", f"{max(self.recoveries):.1f}"]

    def faults(self):
        found = self.wrong[:5] + [text for number, text in [
            (self.lost, f"{self.lost} acknowledged events are lost"), (self.doubled, f"{self.doubled} events are doubled"),
            (self.migrations["broken"], f"{self.migrations['broken']} migrations are neither whole nor absent"),
        ] if number]
        if min(self.reads, self.events) == 0:
            found.append("nothing was read, or no event was acknowledged")
        if self.longest_failure > MAXIMUM_OUTAGE:
            found.append(f"a server served no read for {self.longest_failure:.1f} s")
        return found


# The faults: each breaks something, watches what comes of it for a while, and repairs it.

def another_leads(cluster, old):
    wait_for(lambda: cluster.leader() not in (None, old), 3 * TTL, "another leader")


def kill(cluster, old):
    """The machine's network fails a second before its power: what was committed in that second is on no standby."""
    senders = [int(process) for process in cluster.psql(
        "postgres", "--command", "SELECT pid FROM pg_stat_replication", node=old).split()]
    for process in senders:
        os.kill(process, signal.SIGSTOP)
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
    try:
        cluster.psql(DATABASE, "--command", "CREATE TABLE check_cluster_deposed ()", node=old, timeout=3)
        raise RuntimeError("a deposed leader has acknowledged a commit")
    except subprocess.TimeoutExpired:
        pass
    time.sleep(STALENESS + 2)
    cluster.thaw(old)


def freeze_machine(cluster, old):
    cluster.freeze(old, postgres=True)
    another_leads(cluster, old)
    time.sleep(STALENESS + 2)
    cluster.thaw(old)


def cut_off(cluster, old):
    old.cut_file.touch()
    another_leads(cluster, old)
    time.sleep(STALENESS + 2)
    old.cut_file.unlink()


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
        node.cut_file.touch()
    wait_for(lambda: cluster.leader() is None, 3 * TTL, "no leader")
    time.sleep(STALENESS + 2)
    for node in cluster.nodes:
        node.cut_file.unlink()


FAULTS = {"kill": kill, "switchover": switch_over, "freeze-patroni": freeze_patroni, "freeze-machine": freeze_machine,
          "cut-off": cut_off, "freeze-standby": freeze_standby, "lose-etcd": lose_etcd}


class Migrations:
    """A folder of migrations that grows by one a round: a table of two thousand rows that takes a while to fill."""

    SQL = """-- poi:oldest-program 0.1.0
-- migrate:up
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
        is_listed, exists = cluster.psql(DATABASE, "--command", f"""
            SELECT EXISTS (SELECT FROM schema_migrations WHERE version = '{self.number}'),
            to_regclass('{table}') IS NOT NULL""").split("|")
        if (is_listed, exists) == ("f", "f"):
            return "absent"
        count = exists == "t" and cluster.psql(DATABASE, "--command", f"SELECT count(*) FROM {table}")
        return "whole" if (is_listed, count) == ("t", "2000") else "broken"


class Check:
    def __init__(self, cluster, service):
        self.cluster, self.service = cluster, service
        self.migrations = Migrations(service)
        self.figures = {}
        self.state = 0
        if service.psql(INSERT_PLACES).returncode != 0:
            raise RuntimeError("the places can't be inserted")

    def run(self, fault):
        """One round: the fault under load, until the cluster is whole again."""
        figures = self.figures.setdefault(fault, Figures())
        load = Load(self.service, self.state)
        load.start()
        time.sleep(2)
        # Its commit comes at another moment in each round: before the fault, and until some seconds after it.
        self.migrations.start(seconds=(1 + figures.rounds * 1.1) % 8)
        time.sleep(0.7)
        old, fault_at = self.cluster.leader(), time.monotonic()
        try:
            FAULTS[fault](self.cluster, old)
            wait_for(self.cluster.is_whole, HEAL_TIMEOUT, "the cluster is whole again")
            time.sleep(2)
        finally:
            load.stop()
        self.state = load.state
        self.take(figures, load, fault_at)

    def take(self, figures, load, fault_at):
        figures.rounds += 1
        figures.reads += len(load.reads)
        figures.failed_reads += sum(read.state is None and not read.fault for read in load.reads)
        figures.longest_failure = max(figures.longest_failure, longest_failure(load.reads))
        figures.wrong += wrong_reads(load.commits, load.reads, STALENESS)
        lost, doubled = lost_and_doubled(load.acknowledged, self.stored())
        figures.events += len(load.acknowledged)
        figures.lost += lost
        figures.doubled += doubled
        figures.recoveries.append(recovery(load, fault_at))
        figures.migrations[self.migrations.outcome(self.cluster)] += 1
        if load.unfinished:
            figures.wrong.append(f"{load.unfinished} batches of events were never acknowledged")

    def stored(self):
        """How often each event is in the table."""
        rows = self.cluster.psql(DATABASE, "--command", "SELECT id, count(*) FROM events GROUP BY id").splitlines()
        return {id: int(count) for id, count in (row.split("|") for row in rows)}

    def report(self):
        print("| " + " | ".join(Figures.HEADER) + " |\n|" + "---|" * len(Figures.HEADER))
        for fault, figures in self.figures.items():
            print("| " + " | ".join(map(str, figures.cells(fault))) + " |")
        faults = [f"{fault}: {text}" for fault, figures in self.figures.items() for text in figures.faults()]
        for text in faults:
            print(f"check-cluster: {text}", file=sys.stderr)
        if faults:
            self.cluster.keep_logs()
        return 1 if faults else 0


def main():
    check_judgement()
    faults = sys.argv[1:] or (list(FAULTS) if ROUNDS else ["kill", "switchover"])
    unknown = set(faults) - set(FAULTS)
    if unknown and faults not in (["cost"], ["backup"]):
        print(f"check-cluster: {sorted(unknown)[0]} is none of {', '.join(FAULTS)}, cost, backup", file=sys.stderr)
        return 64
    if PLANT not in PLANTS:
        print(f"check-cluster: POI_CHECK_PLANT: {PLANT} is not asynchronous", file=sys.stderr)
        return 64
    if faults == ["backup"]:
        return rehearse_backups()
    began = time.monotonic()
    with DatabaseCluster(PLANTS[PLANT]) as cluster, ClusteredService(
            cluster, settings={"POI_MAX_REPLICA_LAG": f"{MAXIMUM_LAG}s"}) as service:
        if faults == ["cost"]:
            return measure_cost(cluster, cluster.variables("serve.env.example")["POI_EVENTS_DATABASE_URL"])
        check = Check(cluster, service)
        print(f"check-cluster: started in {time.monotonic() - began:.0f} s", flush=True)
        for number in range(ROUNDS or 1):
            for fault in faults:
                began = time.monotonic()
                check.run(fault)
                print(f"check-cluster: {fault} {number + 1}, {time.monotonic() - began:.0f} s", flush=True)
        return check.report()


try:
    sys.exit(main())
except (TimeoutError, RuntimeError) as error:
    sys.exit(f"check-cluster: {error}")
