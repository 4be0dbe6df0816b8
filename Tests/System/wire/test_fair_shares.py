"""What one client with 250 connections can take of others' plain requests, filtered maps and events, by kind of attack, with
200,000 places in memory: as the others see it, and by the server's own clocks, which what sends the requests takes nothing of.
Documentation/security.md has a table of a run."""

import gzip
import json
import os
import time
from pathlib import Path
from contextlib import nullcontext

import pytest

from loads import Greedy, Requests, result, separate
from processes import wait_for
from psql import psql
from request_cases import request, upload

pytestmark = pytest.mark.alone

SETTINGS = {"POI_LOOPS": "1", "POI_ACCESS_LOG": "true"}
PLACES = 200_000
# Only where it is set, since other programs of the machine count, too: POI_TEST_MILLISECONDS=50.
MAXIMUM_MILLISECONDS = float(os.environ.get("POI_TEST_MILLISECONDS", "inf"))
# As many as one client may have, but for the normal ones' own address, which is another.
CONNECTIONS = 250
ATTACKER = "127.0.1.1"
# Two of the words each, so that no place has all, and every one has to be looked at.
PLACES_SQL = f"""
SELECT setseed(0.5);
INSERT INTO locations (name, category, latitude, longitude, featured)
SELECT word[1 + number % 6] || ' ' || word[1 + number / 6 % 6] || ' ' || number,
    (ARRAY['cafe', 'park', 'museum', 'library', 'school', 'bar'])[1 + number % 6],
    round((degrees(asin(2 * random() - 1)))::numeric, 6), round((360 * random() - 180)::numeric, 6), number % 50 = 0
FROM generate_series(1, {PLACES}) AS number, (SELECT ARRAY['Hotel', 'Crown', 'Taverna', 'Aria', 'Casa', 'Saint'] AS word) AS words;
VACUUM ANALYZE locations;
"""
SEARCH = "/locations?lat=51.5&long=-0.12&q=hotel+crown+taverna+aria+casa+saint"
WORLD = "/locations/clusters?bbox=-180,-90,180,90&zoom=0&category=cafe,park,museum,library,school&q=h"
# Words of one letter, of which each place has two.
LETTERS = "h+c+t+a"
NUMBERS = gzip.compress(b"[" + b",".join([b"1e308"] * 170_000) + b"]")
BOMB = request("/events", f"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {len(NUMBERS)}\r\n",
               "POST", NUMBERS)
NORMAL = {
    "plain": (300, [request(f"/locations?lat={number}&long=-121.9") for number in range(64)]),
    "maps": (40, [request(f"/locations/clusters?bbox={west},20,{west + 60},60&zoom=2&category=cafe,park&featured=false")
                  for west in range(-120, 100, 20)]),
    "events": (20, [upload(100) for _ in range(100)]),
}
# Requests that follow each other on each connection as fast as the responses come, or a kind of greedy clients.
ATTACKS = {
    "nothing": None,
    "plain requests": request("/locations?lat=51.5&long=-0.12"),
    "searches by many words": request(SEARCH),
    "filtered maps of the Earth": request(WORLD),
    "lists by short words": request(f"/locations?lat=51.5&long=-0.12&limit=100&q={LETTERS}"),
    "relevance by short words": request(f"/locations?sort=relevance&limit=100&q={LETTERS}"),
    "maps by short words": request(f"/locations/clusters?bbox=-180,-90,180,90&zoom=0&q={LETTERS}"),
    "searches that are reset": "resets",
    "heads without a body": "heads",
    "bytes one by one": "slow",
    "number bombs": BOMB,
    "responses not read": "silent",
}


class Loop:
    """An attack by a request again and again."""

    def __init__(self, load, request, port, seconds):
        self.requests, self.port, self.seconds = Requests(load, [request]), port, seconds

    def __enter__(self):
        self.load = self.requests.start(self.port, CONNECTIONS, self.seconds + 1.5, 0, source=ATTACKER)

    def __exit__(self, *_):
        # It ends by itself, or where the server closes a connection.
        self.load.communicate()


@pytest.fixture(scope="module")
def attacked(server, load):
    """The server with its places in memory, and a processor of its own; and what others ask of it."""
    count = psql(server.database, PLACES_SQL + "SELECT count(*) FROM locations;").stdout.split()[-1]
    wait_for(lambda: sum(category["count"] for category in server.json("/categories")) == int(count), 120, "places in memory")
    server.normal = {kind: Requests(load, requests) for kind, (_, requests) in NORMAL.items()}
    with separate(server.process.pid):
        measure(server, 3)
        yield server


def measure(server, seconds):
    """What the normal clients see, all kinds at the same time: p50 and p99 in milliseconds, and failures."""
    loads = {kind: requests.start(server.port, 8, seconds, NORMAL[kind][0]) for kind, requests in server.normal.items()}
    seen = {kind: result(load) for kind, load in loads.items()}
    return {kind: (one["p50"] / 1000, one["p99"] / 1000, one["failed"] + one["unsent"]) for kind, one in seen.items()}


def percentiles(values):
    values = sorted(values) or [0]
    return values[len(values) // 2], values[len(values) * 99 // 100]


class OwnClocks:
    """What the server's log and threads say of a stretch of time."""

    def __init__(self, server):
        self.log, self.tasks = server.log, Path(f"/proc/{server.process.pid}/task")

    def spent(self):
        """The processor time of the threads that search, in nanoseconds."""
        return sum(int((task / "schedstat").read_text().split()[0]) for task in self.tasks.iterdir()
                   if (task / "comm").read_text().startswith("poi-search"))

    def __enter__(self):
        self.offset, self.before, self.start = self.log.stat().st_size, self.spent(), time.monotonic()
        return self

    def __exit__(self, *_):
        self.busy = (self.spent() - self.before) / 1e9 / (time.monotonic() - self.start)
        with self.log.open("rb") as log:
            log.seek(self.offset)
            lines = [json.loads(line) for line in log if b'"event":"request"' in line and line.endswith(b"\n")]
        others = [line for line in lines if line.get("client") not in (ATTACKER, None)]
        self.attacks = len(lines) - len(others)
        # From a request's last byte until its response is sent, and of that the wait for a turn.
        self.seen = {kind: [percentiles(line.get(field, 0) for line in others if line["path"] == path)
                            for field in ("durationMs", "waitMs")]
                     for kind, path in (("plain", "/locations"), ("maps", "/locations/clusters"), ("events", "/events"))}

    def __str__(self):
        seen = " | ".join(f"{kind} {own[0]:.2f} {own[1]:.2f}, turn {turn[0]:.2f} {turn[1]:.2f}"
                          for kind, (own, turn) in self.seen.items())
        return f"{seen} | {self.attacks} attacks, {self.busy:.2f} of a processor searches"


@pytest.mark.parametrize(("name", "seconds"), [
    *[pytest.param(name, 3, marks=pytest.mark.ci) for name in ("searches by many words", "searches that are reset", "number bombs")],
    *[pytest.param(name, 15, marks=pytest.mark.soak) for name in ATTACKS]])
def test_an_attack_costs_others_no_request(attacked, load, name, seconds):
    attack = ATTACKS[name]
    if attack is None:
        beside = nullcontext()
    elif isinstance(attack, bytes):
        beside = Loop(load, attack, attacked.port, seconds)
    else:
        beside = Greedy(attacked.port, target=SEARCH, **{attack: CONNECTIONS})
    with OwnClocks(attacked) as own, beside:
        seen = measure(attacked, seconds)
    print(" | ".join(f"{kind} {p50:.2f} {p99:.2f}" for kind, (p50, p99, _) in seen.items()),
          f"| own: {own} | resident {attacked.resident() >> 20} MiB, {attacked.maximum_resident() >> 20} at most")
    assert not any(failed for _, _, failed in seen.values()), seen
    assert all(p99 <= MAXIMUM_MILLISECONDS for _, p99, _ in seen.values())
