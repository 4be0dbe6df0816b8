"""Commits a large change of places, and loses the log of changes, under three servers that serve from memory; measures what
their clients notice. Fails where a request failed or was answered by the database, where a server stays behind, or where
clients waited for too long."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from database_cluster import ROOT, free_ports
from processes import end, start, wait_for
from psql import psql
from scratch_postgres import ScratchPostgres

POI, LOAD = os.environ["POI_BINARY"], os.environ["LOAD_BINARY"]
PLACES = int(os.environ.get("POI_CHECK_PLACES", 300_000))
SECONDS = int(os.environ.get("POI_CHECK_SECONDS", 20))
# Requests a second and server. The processors of this machine do the reading, too, and PostgreSQL's part of it.
RATE = int(os.environ.get("POI_CHECK_RATE", 200))
# How many times as long as otherwise 99 of 100 responses may take; nil only measures.
RATIO = float(os.environ.get("POI_CHECK_RATIO", 0))
SERVERS, CHANGED, PATIENCE = 3, 100_000, 120
PASSWORDS = {"poi_migrate": "migratepassword", "poi_serve": "servepassword", "poi_events": "eventspassword"}
PLACES_SQL = f"""
SELECT setseed(0.5);
INSERT INTO locations (name, category, latitude, longitude, featured)
SELECT 'Place ' || lpad(n::text, 8, '0'), CASE WHEN n % 3 = 0 THEN 'cafe' ELSE 'park' END,
    degrees(asin(random() * 2 - 1)), random() * 360 - 180, n % 1000 = 0
FROM generate_series(1, {PLACES}) AS n;
VACUUM ANALYZE;
"""
MOVE = "UPDATE locations SET latitude = -latitude WHERE id <= {};"
COMMITS = {
    f"{CHANGED:,} rows in a commit": [MOVE.format(CHANGED)],
    # The servers are away for the moment in which what they would follow is there.
    "a pruned log": [
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'poi_serve';", MOVE.format(1),
        MOVE.format(2), "DELETE FROM dataset_log WHERE revision < (SELECT max(revision) FROM dataset_log);"],
}


class Server:
    """A `poi serve`."""

    def __init__(self, database, folder, number):
        self.port, self.admin_port = free_ports(2)
        self.log = folder / f"server{number}.log"
        self.process = start([POI, "serve"], self.log, {
            "POI_MIGRATIONS_DIR": str(ROOT / "Migrations"), "DATABASE_URL": database.url("poi_serve"),
            "PORT": str(self.port), "POI_ADMIN_PORT": str(self.admin_port), "POI_LOOPS": "1", "POI_INDEX": "on"})

    def revision(self):
        """The revision that it serves from memory; None where it serves none."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}/metrics", timeout=5) as response:
                metrics = response.read().decode()
        except OSError:
            return None
        revision = re.search(r"^poi_index_revision (\S+)", metrics, re.M)
        return float(revision[1]) if 'poi_index_state{state="serving"} 1' in metrics and revision else None

    def sources(self):
        """Where the responses to clients came from so far, by the log."""
        return re.findall(r'"path":"/locations[^}]*"source":"(\w+)"', self.log.read_text())


def separate(servers, postmaster):
    """Gives the servers' loops and the clients a processor of their own, since PostgreSQL, other servers and clients are on
    other machines, and what reads places has a processor beside the loops."""
    own, *others = sorted(os.sched_getaffinity(0))
    if not others or os.environ.get("POI_CHECK_SHARED"):
        return {own, *others}
    for server in servers:
        for thread in Path(f"/proc/{server.process.pid}/task").iterdir():
            is_loop = (thread / "comm").read_text().startswith("poi-loop")
            os.sched_setaffinity(int(thread.name), {own} if is_loop else set(others))
    children = subprocess.run(["pgrep", "--parent", str(postmaster)], capture_output=True, text=True).stdout.split()
    for process in [postmaster, *map(int, children)]:
        os.sched_setaffinity(process, set(others))
    return {own}


def write_requests(path):
    source = random.Random(26)
    with path.open("wb") as file:
        for number in range(4096):
            target = f"/locations?lat={source.uniform(-80, 80):.5f}&long={source.uniform(-180, 180):.5f}"
            target += {1: "&category=cafe", 2: "&featured=true", 3: "&limit=100"}.get(number % 8, "")
            request = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
            file.write(b"%d\n" % len(request) + request)


def measure(servers, requests, processors, change):
    """The load on all servers, with what `change` does a second after it began; what load.c says of each."""
    own = ",".join(map(str, processors))
    loads = [subprocess.Popen(["taskset", "--cpu-list", own, LOAD, str(server.port), str(requests), "8", str(SECONDS), str(RATE)],
                              stdout=subprocess.PIPE, text=True) for server in servers]
    time.sleep(1)
    change()
    return [json.loads(load.communicate()[0]) for load in loads]


def main():
    folder = Path(tempfile.mkdtemp(prefix="poi-large-commit-"))
    write_requests(folder / "requests")
    faults, quiet = [], None
    print(f"{'':28}{'requests':>10}{'failed':>8}{'by the database':>17}{'read after':>12}{'p50 ms':>8}{'p99 ms':>8}")
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", PASSWORDS) as database:
        subprocess.run([POI, "migrate", "up"], check=True, stdout=subprocess.DEVNULL, env={
            **os.environ, "DATABASE_URL": database.url("poi_migrate"), "POI_MIGRATIONS_DIR": str(ROOT / "Migrations")})
        psql(database.url("poi_migrate"), PLACES_SQL)
        servers = [Server(database, folder, number) for number in range(SERVERS)]
        try:
            def newest():
                return float(psql(database.url("poi_migrate"), "SELECT max(revision) FROM dataset_log").stdout)

            def wait_for_newest():
                revision = newest()

                def are_newest():
                    # Asking takes processor time, too.
                    time.sleep(0.3)
                    return all(server.revision() == revision for server in servers)

                wait_for(are_newest, PATIENCE, "the newest places")

            wait_for_newest()
            processors = separate(servers, int((database.data / "postmaster.pid").read_text().split()[0]))
            for name, commits in [("nothing", []), *COMMITS.items()]:
                seconds = 0

                def change():
                    nonlocal seconds
                    if commits:
                        database.psql(database.database, *[part for sql in commits for part in ("--command", sql)])
                        committed = time.monotonic()
                        wait_for_newest()
                        seconds = time.monotonic() - committed

                before = [len(server.sources()) for server in servers]
                results = measure(servers, folder / "requests", processors, change)
                # The log is written behind.
                time.sleep(1)
                sources = [source for server, count in zip(servers, before) for source in server.sources()[count:]]
                failed = sum(result["failed"] + int(result["unsent"]) for result in results)
                asked = sources.count("database")
                slowest = max(result["p99"] for result in results) / 1000
                median = max(result["p50"] for result in results) / 1000
                print(f"{name:28}{len(sources):10,}{failed:8,}{asked:17,}{seconds:10.1f} s{median:8.2f}{slowest:8.2f}",
                      flush=True)
                if failed or asked or not sources:
                    faults.append(f"{name}: {len(sources)} requests, {failed} failed, {asked} asked the database")
                quiet = quiet or slowest
                if RATIO and slowest > RATIO * quiet:
                    faults.append(f"{name}: 99 of 100 responses took {slowest:.2f} ms, {slowest / quiet:.1f} times as long")
        finally:
            for server in servers:
                end(server.process)
    shutil.rmtree(folder)
    for fault in faults:
        print(f"check-large-commit: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
