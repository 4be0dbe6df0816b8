"""Sends requests to the server at POI_BASE_URL while its places change, and fails where its memory grows.

The run has twenty parts, each with a twentieth of the requests, of the changes and of the short connections at the same
time; the first two warm up. Memory goes up and down while parts of the index are merged, so the highest medians of five
parts are compared. In the end as many descriptors are open as after the warm-up.
"""

import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from psql import psql
from running_server import PORT, descriptors, resident, server_process

REQUESTS = int(os.environ.get("POI_CHECK_REQUESTS", 2_000_000))
CHANGES = int(os.environ.get("POI_CHECK_CHANGES", 20_000))
SHORT_CONNECTIONS = int(os.environ.get("POI_CHECK_CONNECTIONS", 100_000))
PLACES = int(os.environ.get("POI_CHECK_PLACES", 100_000))
PARTS, WARM_UP = 20, 2
# How much more the last parts may take than the first ones: what isn't returned to the system at once.
TOLERANCE = 1.05
CONNECTIONS, INTERVAL = 16, 0.1
# A part that takes longer has failed.
MAXIMUM_SECONDS = 600
BASE_URL, DATABASE_URL = os.environ["POI_BASE_URL"], os.environ["DATABASE_URL"]
PLACES_SQL = f"""
SELECT setseed(0.5);
INSERT INTO locations (name, category, latitude, longitude, address, featured)
SELECT 'Place ' || lpad(n::text, 8, '0'), CASE WHEN n % 3 = 0 THEN 'cafe' ELSE 'park' END,
    degrees(asin(random() * 2 - 1)), random() * 360 - 180, CASE WHEN n % 2 = 0 THEN n || ' Long Street' END, n % 1000 = 0
FROM generate_series(1, {PLACES}) AS n;
VACUUM ANALYZE locations;
"""


def requests():
    """Of every kind, most of them plain; some for gzip."""
    source = random.Random(15)
    for number in range(4096):
        latitude, longitude = source.uniform(-80, 80), source.uniform(-180, 180)
        target = f"/locations?lat={latitude:.5f}&long={longitude:.5f}"
        kind = number % 16
        target += {1: "&category=cafe", 2: "&featured=true", 3: "&limit=100", 4: "&radius=500000",
                   5: f"&q=place%20{source.randrange(1, PLACES):08d}"}.get(kind, "")
        if kind == 6:
            target = f"/locations/{source.randrange(1, PLACES)}"
        if kind == 7:
            target = f"/locations?bbox={longitude / 2:.3f},{latitude / 2:.3f},{longitude / 2 + 5:.3f},{latitude / 2 + 5:.3f}"
        if kind == 8:
            target = "/categories"
        coding = "Accept-Encoding: gzip\r\n" if number % 5 == 0 else ""
        yield f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{coding}\r\n".encode()


def changes(count, source):
    """Each moves ten places, and gives them names as long as they were."""
    for _ in range(count):
        first, name = source.randrange(1, PLACES - 10), source.randrange(10**8)
        yield (f"UPDATE locations SET name = 'Place {name:08d}', latitude = -latitude, longitude = -longitude "
               f"WHERE id >= {first} AND id < {first + 10};\n")


def open_short_connections(count):
    """Each sends one request and ends in one of three ways: by the server, before the request is whole, before the response
    is read."""
    request = b"GET /locations?lat=1&long=2&limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    for number in range(count):
        with socket.create_connection(("127.0.0.1", PORT), timeout=10) as connection:
            connection.sendall(request[:-10] if number % 3 == 1 else request)
            while number % 3 == 0 and connection.recv(1 << 16):
                pass


class Part:
    """Sends a part's requests while its changes are committed, and watches the server's memory meanwhile."""

    def __init__(self, file, process, source):
        self.file, self.process, self.source = file, process, source
        self.samples, self.isOver = [], threading.Event()

    def run(self):
        watch = threading.Thread(target=self.watch)
        watch.start()
        load = subprocess.Popen(
            [os.environ["LOAD_BINARY"], str(PORT), self.file, str(CONNECTIONS), str(MAXIMUM_SECONDS), "0", str(REQUESTS // PARTS)],
            stdout=subprocess.PIPE, text=True)
        short = threading.Thread(target=open_short_connections, args=(SHORT_CONNECTIONS // PARTS,))
        short.start()
        # What is measured doesn't wait for the disk.
        psql(DATABASE_URL, "SET synchronous_commit = off;\n" + "".join(changes(CHANGES // PARTS, self.source)))
        sent = json.loads(load.communicate()[0])
        short.join()
        self.isOver.set()
        watch.join()
        if load.returncode != 0 or sent["failed"] or sent["requests"] != REQUESTS // PARTS:
            sys.exit(f"check-memory: of {REQUESTS // PARTS} requests {sent['requests']} were sent, {sent['failed']} failed")
        return statistics.median(self.samples)

    def watch(self):
        while True:
            self.samples.append(resident(self.process))
            if self.isOver.wait(INTERVAL):
                return


def wait_for_places():
    """Until they are served from memory: only responses by the database say how long that took."""
    for _ in range(600):
        with urllib.request.urlopen(f"{BASE_URL}/locations?lat=1&long=2&limit=1") as response:
            if not re.search(r"\bdb\b", response.headers.get("Server-Timing", "")) and json.load(response):
                return
        time.sleep(0.1)
    sys.exit("check-memory: the places are not served from memory")


def main():
    psql(DATABASE_URL, PLACES_SQL)
    wait_for_places()
    process, source = server_process(), random.Random(16)
    with tempfile.NamedTemporaryFile() as file:
        for request in requests():
            file.write(b"%d\n" % len(request) + request)
        file.flush()
        medians = []
        for number in range(PARTS):
            if number == WARM_UP:
                opened = descriptors(process)
            medians.append(Part(file.name, process, source).run())
            print(f"check-memory: part {number + 1} of {PARTS}: {medians[-1] / 2**20:.1f} MiB", flush=True)
    wait_for_places()
    first, last = max(medians[WARM_UP:WARM_UP + 5]), max(medians[-5:])
    print(f"check-memory: {REQUESTS} requests, {SHORT_CONNECTIONS} short connections, {CHANGES} commits of ten of {PLACES} "
          f"places: at most {first / 2**20:.1f} MiB after the warm-up, at most {last / 2**20:.1f} MiB at the end; "
          f"{opened} descriptors, then {descriptors(process)}")
    if last > first * TOLERANCE:
        sys.exit("check-memory: the server takes more and more memory")
    if descriptors(process) > opened:
        sys.exit("check-memory: descriptors stay open")


main()
