"""Asks the server at POI_BASE_URL beside one client that attacks it, by kind of attack, all in one run: what the attack
takes of plain requests, filtered maps and events of others."""

import gzip
import json
import os
import sys
from urllib.request import urlopen

from greedy_load import Greedy, Requests, result, separate
from processes import wait_for
from psql import psql
from request_cases import request, upload
from running_server import maximum_resident, resident, server_process

SECONDS = float(os.environ.get("POI_CHECK_SECONDS", 3))
PLACES = int(os.environ.get("POI_CHECK_PLACES", 200_000))
MAXIMUM_MILLISECONDS = float(os.environ.get("POI_CHECK_MILLISECONDS", "inf"))
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
NUMBERS = gzip.compress(b"[" + b",".join([b"1e308"] * 170_000) + b"]")
BOMB = request("/events", f"Content-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: {len(NUMBERS)}\r\n",
               "POST", NUMBERS)
NORMAL = {
    "plain": (300, [request(f"/locations?lat={number}&long=-121.9") for number in range(64)]),
    "maps": (40, [request(f"/locations/clusters?bbox={west},20,{west + 60},60&zoom=2&category=cafe,park&featured=false")
                  for west in range(-120, 100, 20)]),
    "events": (20, [upload() for _ in range(100)]),
}


def fail(text):
    sys.exit(f"check-fair-shares: {text}")


class Loop:
    """An attack by requests that follow each other on each connection as fast as the responses come."""

    def __init__(self, *requests):
        self.requests = Requests(requests)

    def __enter__(self):
        self.load = self.requests.start(CONNECTIONS, SECONDS + 1.5, 0, ATTACKER)

    def __exit__(self, *_):
        # It ends by itself, or where the server closes a connection.
        self.load.communicate()


class Nothing:
    def __enter__(self):
        pass

    def __exit__(self, *_):
        pass


ATTACKS = {
    "nothing": Nothing,
    "plain requests": lambda: Loop(request("/locations?lat=51.5&long=-0.12")),
    "searches by many words": lambda: Loop(request(SEARCH)),
    "filtered maps of the Earth": lambda: Loop(request(WORLD)),
    "searches that are reset": lambda: Greedy({"resets": CONNECTIONS}),
    "heads without a body": lambda: Greedy({"heads": CONNECTIONS}),
    "bytes one by one": lambda: Greedy({"slow": CONNECTIONS}),
    "number bombs": lambda: Loop(BOMB),
    "responses not read": lambda: Greedy({"silent": CONNECTIONS}),
}


def measure(normal):
    """What the normal clients see, all kinds at the same time: for each its p50 and p99 in milliseconds, and failures."""
    loads = {kind: requests.start(8, SECONDS, NORMAL[kind][0]) for kind, requests in normal.items()}
    seen = {}
    for kind, load in loads.items():
        answer = result(load)
        seen[kind] = (answer["p50"] / 1000, answer["p99"] / 1000, answer["failed"] + answer["unsent"])
    return seen


def main():
    process = server_process()
    count = psql(os.environ["DATABASE_URL"], PLACES_SQL + "SELECT count(*) FROM locations;").stdout.split()[-1]
    wait_for(lambda: places_served() == int(count), 120, f"{count} places in memory")
    separate(process)
    normal = {kind: Requests(requests) for kind, (_, requests) in NORMAL.items()}
    measure(normal)
    os.environ["POI_GREEDY_TARGET"] = SEARCH
    before, faults = resident(process), []
    print(f"check-fair-shares: {count} places; beside one client with {CONNECTIONS} connections that sends …: p50 and p99 in "
          "milliseconds of others' requests", flush=True)
    for name, attack in ATTACKS.items():
        with attack():
            seen = measure(normal)
        print(f"check-fair-shares: {name:28}" + "".join(
            f" | {kind} {p50:7.2f} {p99:7.2f}" + (f" ({failed:.0f} failed)" if failed else "")
            for kind, (p50, p99, failed) in seen.items()), flush=True)
        faults += [f"{name}: {failed:.0f} normal requests failed" for _, _, failed in seen.values() if failed]
        faults += [f"{name}: a p99 of {p99:.1f} ms" for _, p99, _ in seen.values() if p99 > MAXIMUM_MILLISECONDS]
    print(f"check-fair-shares: resident {before / 2**20:.0f} MiB before, {maximum_resident(process) / 2**20:.0f} at most, "
          f"{resident(process) / 2**20:.0f} afterwards")
    if faults:
        fail("; ".join(faults))


def places_served():
    with urlopen(f"{os.environ['POI_BASE_URL']}/categories") as response:
        return sum(category["count"] for category in json.load(response))


try:
    main()
except TimeoutError as error:
    fail(error)
