"""A large change of places, and the loss of the log of changes, under three servers: no request fails,
and every server comes to the newest places. Prints what clients notice.

The servers' loops and the clients have a processor to themselves; with POI_TEST_SHARED=1 all share all of them.
POI_TEST_RATIO=2 fails where 99 of 100 responses take more than twice as long as while nothing changes.
"""

import os
import random
import re
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from loads import PLACES_SQL, Requests, plain_request, result
from processes import wait_for
from psql import psql
from service_database import migrate

PLACES, SECONDS = 300_000, 20
# Requests a second and server. The processors of this machine do the reading, too, and PostgreSQL's part of it.
RATE = 200
RATIO = float(os.environ.get("POI_TEST_RATIO", "inf"))
SERVERS, CHANGED, PATIENCE = 3, 100_000, 120
MOVE = "UPDATE locations SET latitude = -latitude WHERE id <= {};"
COMMITS = {
    "nothing": [],
    f"{CHANGED:,} rows in a commit": [MOVE.format(CHANGED)],
    # The servers are away for the moment in which what they would follow is there.
    "a pruned log": [
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'poi_serve';", MOVE.format(1),
        MOVE.format(2), "DELETE FROM dataset_log WHERE revision < (SELECT max(revision) FROM dataset_log);"],
}


def requests():
    source = random.Random(26)
    for number in range(4096):
        target = f"/locations?lat={source.uniform(-80, 80):.5f}&long={source.uniform(-180, 180):.5f}"
        target += {1: "&category=cafe", 2: "&featured=true", 3: "&limit=100"}.get(number % 8, "")
        yield plain_request(target)


def revision(server):
    """The revision of the places that a server has; None where it says nothing."""
    found = re.search(r"^poi_index_revision (\S+)", server.metrics(), re.M)
    return float(found[1]) if found else None


@contextmanager
def separated(servers, postmaster):
    """Gives the servers' loops and the clients a processor of their own, since PostgreSQL, other servers and clients are on
    other machines, and what reads places has a processor beside the loops; yields the command that runs clients."""
    own, *others = sorted(os.sched_getaffinity(0))
    if not others or os.environ.get("POI_TEST_SHARED"):
        yield []
        return
    for server in servers:
        for thread in Path(f"/proc/{server.process.pid}/task").iterdir():
            is_loop = (thread / "comm").read_text().startswith("poi-loop")
            os.sched_setaffinity(int(thread.name), {own} if is_loop else set(others))
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    for process in [postmaster, *map(int, children)]:
        os.sched_setaffinity(process, set(others))
    yield ["taskset", "--cpu-list", str(own)]


@pytest.mark.soak
def test_a_large_commit_costs_clients_no_request(poi, database, fleet, load):
    owner = database.url("poi_migrate")
    migrate(poi, owner)
    psql(owner, PLACES_SQL.format(PLACES))
    servers = fleet(database.url("poi_serve"), SERVERS, POI_LOOPS="1")

    def wait_for_newest():
        newest = float(psql(owner, "SELECT max(revision) FROM dataset_log").stdout)

        def are_newest():
            # Asking takes processor time, too.
            time.sleep(0.3)
            return all(revision(server) == newest for server in servers)

        wait_for(are_newest, PATIENCE, "the newest places")

    wait_for_newest()
    asked, quiet = Requests(load, requests()), None
    with separated(servers, int((database.data / "postmaster.pid").read_text().split()[0])) as prefix:
        for name, commits in COMMITS.items():
            loads = [asked.start(server.port, 8, SECONDS, RATE, prefix=prefix) for server in servers]
            time.sleep(1)
            if commits:
                database.psql(database.database, *[part for sql in commits for part in ("--command", sql)])
            committed = time.monotonic()
            wait_for_newest()
            seconds = time.monotonic() - committed
            results = [result(one) for one in loads]
            slowest = max(one["p99"] for one in results) / 1000
            quiet = quiet or slowest
            print(f"{name}: newest places after {seconds:.1f} s; p50 "
                  f"{max(one['p50'] for one in results) / 1000:.2f} ms, p99 {slowest:.2f} ms")
            assert not any(one["failed"] + one["unsent"] for one in results)
            assert slowest <= RATIO * quiet
