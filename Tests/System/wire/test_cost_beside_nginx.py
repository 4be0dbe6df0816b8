"""What a page of 20 places costs beside nginx, which responds with as many bytes that never change: that is what the kernel and
HTTP cost at least. See Documentation/testing.md.

Both run all the time and take turns, so that whatever else the machine does hits both alike.
"""

import os
import statistics
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

import data
from loads import Requests, plain_request, result, separate
from processes import running, wait_for
from psql import PSQL, psql
from scratch_postgres import free_port
from servers import Client

pytestmark = pytest.mark.alone

PLACES = 1_000_000
# One loop, as nginx has one worker, and neither writes a log of requests.
SETTINGS = {"POI_LOOPS": "1", "POI_INDEX": "on", "POI_ACCESS_LOG": "false", "POI_SEEDS": "false"}
ROUNDS, REQUESTS, CONNECTIONS, MAXIMUM_SECONDS = 15, 60_000, 32, 60
# At half of poi's rate in the rounds.
TIMED_SECONDS = 10
# How many times nginx's processor time a request may take, in the median of the rounds: what was measured, and a tenth.
MAXIMUM_RATIO = float(os.environ.get("POI_TEST_RATIO", 1.83))
NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 100000000;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder}; uwsgi_temp_path {folder};
    scgi_temp_path {folder};
    server {{
        listen 127.0.0.1:{port};
        location / {{ default_type application/json; set $text '{text}'; return 200 '{body}'; }}
    }}
}}
"""


class Loaded:
    """The database of a server, as data.py loads it."""

    def __init__(self, url):
        self.url = url

    def psql(self, _, sql):
        return psql(self.url, sql).stdout.strip()

    def copy(self, _, command, rows):
        with subprocess.Popen([*PSQL, self.url, "--command", command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                              text=True, encoding="utf-8") as program:
            program.stdin.writelines(rows)
        assert program.returncode == 0


@contextmanager
def nginx(folder, length):
    """One nginx process whose responses have a body of so many bytes; yields its process id and port."""
    port, piece = free_port(), 1000
    body = "${text}" * (length // piece) + "x" * (length % piece)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port, text="x" * piece, body=body))
    with running(["nginx", "-e", "stderr", "-c", folder / "nginx.conf"], folder / "nginx.log") as process:
        wait_for(lambda: len(Client(port).request("GET", "/")[2]) == length, 20, "nginx")
        yield process.pid, port


def processor_seconds(process):
    """User and system time (proc(5))."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def round_of(requests, process, port):
    """The microseconds of the processor that a request takes, and how many there are in a second."""
    with separate(process):
        before = processor_seconds(process)
        sent = result(requests.start(port, CONNECTIONS, MAXIMUM_SECONDS, 0, REQUESTS))
        taken = processor_seconds(process) - before
    assert not sent["failed"] and sent["requests"] == REQUESTS
    return taken / REQUESTS * 1e6, REQUESTS / sent["seconds"]


@pytest.mark.soak
def test_a_page_costs_little_more_than_a_constant_of_nginx(server, load, tmp_path):
    towns = data.Towns()
    data.load(Loaded(server.database), None, data.made_places(towns, PLACES, seed=1))
    wait_for(lambda: f"\npoi_index_places {PLACES}\n" in server.metrics(), 120, "the places in memory")
    targets = [f"/locations?lat={latitude}&long={longitude}&limit=20" for latitude, longitude in data.centres(towns, 4096, seed=1)]
    requests = Requests(load, map(plain_request, targets))
    client = Client(server.port)
    length = round(statistics.mean(len(client.request("GET", target)[2]) for target in targets[:500]))
    print(f"{length} bytes a page")
    with nginx(tmp_path, length) as beside:
        sides, rounds = {"poi": (server.process.pid, server.port), "nginx": beside}, []
        for number in range(ROUNDS):
            order = list(sides) if number % 2 == 0 else list(reversed(sides))
            rounds.append({name: round_of(requests, *sides[name]) for name in order})
        rate = statistics.median(one["poi"][1] for one in rounds) / 2
        for name, (process, port) in sides.items():
            with separate(process):
                timed = result(requests.start(port, CONNECTIONS, TIMED_SECONDS, round(rate)))
            print(f"{name}: {statistics.median(one[name][0] for one in rounds):.1f} us and "
                  f"{statistics.median(one[name][1] for one in rounds):,.0f} requests/s in the median; at {rate:,.0f} "
                  f"requests/s p50 {timed['p50'] / 1000:.2f} ms, p99 {timed['p99'] / 1000:.2f} ms")
    ratios = sorted(one["poi"][0] / one["nginx"][0] for one in rounds)
    ratio = statistics.median(ratios)
    print(f"{ratio:.2f} times as much processor time as nginx ({ratios[0]:.2f} to {ratios[-1]:.2f})")
    assert ratio <= MAXIMUM_RATIO
