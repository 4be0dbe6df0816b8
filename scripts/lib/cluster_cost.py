"""Measures what it costs that commits wait for a standby: pgbench inserts events, one a commit, by turns with and without."""

import re
import statistics
import subprocess

from database_cluster import DATABASE
from processes import wait_for
from scratch_postgres import programs

SCRIPT = """INSERT INTO events (id, time, user_id, name, value, is_test)
VALUES (gen_random_uuid(), now(), 'check-cluster', 'cost', '{"page": "location-detail"}', false);
"""
CLIENTS, TURNS, SECONDS = (1, 8), 3, 4


def rate(url, script, clients):
    """Commits a second."""
    output = subprocess.run(
        [programs() / "pgbench", "--no-vacuum", "--client", str(clients), "--time", str(SECONDS), "--file", script, url],
        check=True, capture_output=True, text=True).stdout
    return float(re.search(r"tps = ([0-9.]+)", output)[1])


def wait_for_standby(cluster, is_synchronous):
    cluster.configure({"synchronous_mode": is_synchronous, "synchronous_mode_strict": is_synchronous})
    count = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
    wait_for(lambda: cluster.psql(DATABASE, "--command", count) == str(int(is_synchronous)), 30, "the change")


def measure_cost(cluster, url):
    script = cluster.folder / "insert.sql"
    script.write_text(SCRIPT)
    rates = {}
    for _ in range(TURNS):
        for is_synchronous in (True, False):
            wait_for_standby(cluster, is_synchronous)
            for clients in CLIENTS:
                rates.setdefault((clients, is_synchronous), []).append(rate(url, script, clients))
    print("| clients | commits/s, waiting for a standby | without | ratio |\n|---|---|---|---|")
    for clients in CLIENTS:
        waiting, plain = (statistics.median(rates[clients, is_synchronous]) for is_synchronous in (True, False))
        print(f"| {clients} | {waiting:.0f} | {plain:.0f} | {waiting / plain:.2f} |")
