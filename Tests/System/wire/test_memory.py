"""A server that serves from memory takes no more and more of it while places change.

The run has twenty parts, each with a twentieth of the requests, of the changes and of the short connections at the same
time; the first two warm up. Memory goes up and down while parts of the index are merged, so the highest medians of five
parts are compared. In the end as many descriptors are open as after the warm-up.
"""

import os
import random
import socket
import statistics
import threading

import pytest

from loads import PLACES_SQL, Requests, plain_request, result
from processes import wait_for
from psql import psql

# One loop, and no growing log.
SETTINGS = {"POI_LOOPS": "1", "POI_ACCESS_LOG": "false", "POI_SEEDS": "false",
            "POI_MAX_CONNECTIONS_PER_CLIENT": "1000"}
REQUESTS = int(os.environ.get("POI_TEST_REQUESTS", 2_000_000))
CHANGES, SHORT_CONNECTIONS, PLACES = REQUESTS // 100, REQUESTS // 20, 100_000
PARTS, WARM_UP = 20, 2
# How much more the last parts may take than the first ones: what isn't returned to the system at once.
TOLERANCE = 1.05
CONNECTIONS, INTERVAL = 16, 0.1
# A part that takes longer has failed.
MAXIMUM_SECONDS = 600


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
        yield plain_request(target, coding)


def changes(count, source):
    """Each moves ten places, and gives them names as long as they were."""
    for _ in range(count):
        first, name = source.randrange(1, PLACES - 10), source.randrange(10**8)
        yield (f"UPDATE locations SET name = 'Place {name:08d}', latitude = -latitude, longitude = -longitude "
               f"WHERE id >= {first} AND id < {first + 10};\n")


def open_short_connections(port, count):
    """Each sends one request and ends in one of three ways: by the server, before the request is whole, before the response
    is read."""
    request = b"GET /locations?lat=1&long=2&limit=100 HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
    for number in range(count):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(request[:-10] if number % 3 == 1 else request)
            while number % 3 == 0 and connection.recv(1 << 16):
                pass


def memory_of_a_part(server, asked, source):
    """Sends a part's requests while its changes are committed; the median of the server's memory meanwhile."""
    samples, is_over = [server.resident()], threading.Event()

    def watch():
        while not is_over.wait(INTERVAL):
            samples.append(server.resident())

    threads = [threading.Thread(target=watch),
               threading.Thread(target=open_short_connections, args=(server.port, SHORT_CONNECTIONS // PARTS))]
    load = asked.start(server.port, CONNECTIONS, MAXIMUM_SECONDS, 0, REQUESTS // PARTS)
    for thread in threads:
        thread.start()
    try:
        # What is measured doesn't wait for the disk.
        psql(server.database, "SET synchronous_commit = off;\n" + "".join(changes(CHANGES // PARTS, source)))
        sent = result(load)
        threads[1].join()
    finally:
        is_over.set()
        threads[0].join()
    assert not sent["failed"] and sent["requests"] == REQUESTS // PARTS
    return statistics.median(samples)


def wait_for_places(server):
    wait_for(lambda: server.json("/locations?lat=1&long=2&limit=1"), 60, "the places")


@pytest.mark.soak
@pytest.mark.timeout(PARTS * MAXIMUM_SECONDS)
def test_memory_and_descriptors_stay_as_they_are(server, load):
    psql(server.database, PLACES_SQL.format(PLACES))
    wait_for_places(server)
    asked, source, medians = Requests(load, requests()), random.Random(16), []
    for number in range(PARTS):
        if number == WARM_UP:
            opened = server.descriptors()
        medians.append(memory_of_a_part(server, asked, source))
        print(f"part {number + 1} of {PARTS}: {medians[-1] / 2**20:.1f} MiB", flush=True)
    wait_for_places(server)
    assert max(medians[-5:]) <= max(medians[WARM_UP:WARM_UP + 5]) * TOLERANCE
    assert server.descriptors() <= opened
