"""Asks the server at POI_BASE_URL at a constant rate, alone and beside greedy clients in turn, and compares."""

import os
import statistics
import sys

from greedy_load import Greedy, Requests, result, separate
from processes import wait_for
from running_server import descriptors, maximum_resident, resident, server_process

ROUNDS = int(os.environ.get("POI_CHECK_ROUNDS", 3))
SECONDS = float(os.environ.get("POI_CHECK_SECONDS", 4))
# Far from what the server can do, as in a service that has enough of it.
RATE, CONNECTIONS = 500, 32
GREEDY = {"slow": 2000, "silent": 1000, "idle": 500, "endless": 1}
# Only where it is set, since other programs of the machine count, too.
MAXIMUM_RATIO = float(os.environ.get("POI_CHECK_RATIO", "inf"))
MAXIMUM_MEMORY = 256 << 20


def fail(text):
    sys.exit(f"check-greedy-clients: {text}")


def ask(requests):
    """What 32 normal connections see."""
    seen = result(requests.start(CONNECTIONS, SECONDS, RATE))
    if seen["failed"] or seen["unsent"]:
        fail(f"of {seen['requests']} normal requests {seen['failed']} failed, and {seen['unsent']} weren't sent")
    return seen


def main():
    process, quiet, loud = server_process(), [], []
    separate(process)
    requests = Requests(
        f"GET /locations?lat={37 + number / 100}&long=-121.9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
        for number in range(64))
    ask(requests)
    before, opened = resident(process), descriptors(process)
    for _ in range(ROUNDS):
        quiet.append(ask(requests))
        with Greedy(GREEDY) as greedy:
            loud.append(ask(requests))
            during = descriptors(process)
        print(f"check-greedy-clients: alone p50 {quiet[-1]['p50']} us, p99 {quiet[-1]['p99']} us; beside greedy clients "
              f"{loud[-1]['p50']} us, {loud[-1]['p99']} us; {during} descriptors; {greedy.counts}", flush=True)
        wait_for(lambda: descriptors(process) <= opened, 30, f"no more than {opened} descriptors, as before")
    ratio = statistics.median(round["p99"] for round in loud) / statistics.median(round["p99"] for round in quiet)
    memory = maximum_resident(process)
    print(f"check-greedy-clients: {sum(round['requests'] for round in loud)} normal requests beside greedy clients, none "
          f"failed; p99 {ratio:.2f} times as long; resident {before / 2**20:.0f} MiB before, {memory / 2**20:.0f} at most, "
          f"{resident(process) / 2**20:.0f} afterwards")
    if ratio > MAXIMUM_RATIO:
        fail(f"p99 may be {MAXIMUM_RATIO} times as long")
    if memory > MAXIMUM_MEMORY:
        fail(f"{MAXIMUM_MEMORY >> 20} MiB are allowed")


try:
    main()
except TimeoutError as error:
    fail(error)
