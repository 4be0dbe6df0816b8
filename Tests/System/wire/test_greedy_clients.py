"""Clients that take what they can get cost others no request, and the server no memory without bounds. See
Documentation/testing.md."""

import statistics

import pytest

from loads import Greedy, Requests, plain_request, result, separate
from processes import wait_for

pytestmark = [pytest.mark.soak, pytest.mark.alone]

# One loop, so that what sends has a core of its own, and the default limits. No process may have more descriptors.
SETTINGS = {"POI_LOOPS": "1", "POI_ACCESS_LOG": "false"}
PREFIX = ["prlimit", "--nofile=8192:8192"]
# Far from what the server can do, as in a service that has enough of it.
RATE, CONNECTIONS = 500, 32
GREEDY = {"slow": 2000, "silent": 1000, "idle": 500, "endless": 1}
MAXIMUM_MEMORY = 256 << 20
ROUNDS, SECONDS = 5, 40
# Says something only on a machine that does nothing else.
MAXIMUM_RATIO = 2


def ask(requests, server):
    """What 32 normal connections see."""
    seen = result(requests.start(server.port, CONNECTIONS, SECONDS, RATE))
    assert (seen["failed"], seen["unsent"]) == (0, 0)
    return seen


def test_greedy_clients_cost_others_no_request(server, load):
    targets = [f"/locations?lat={37 + number / 100}&long=-121.9" for number in range(64)]
    requests = Requests(load, map(plain_request, targets))
    quiet, loud = [], []
    with separate(server.process.pid):
        ask(requests, server)
        before, opened = server.resident(), server.descriptors()
        for _ in range(ROUNDS):
            quiet.append(ask(requests, server))
            with Greedy(server.port, **GREEDY) as greedy:
                loud.append(ask(requests, server))
                during = server.descriptors()
            print(f"alone p50 {quiet[-1]['p50']} us, p99 {quiet[-1]['p99']} us; beside greedy clients {loud[-1]['p50']} us, "
                  f"{loud[-1]['p99']} us; {during} descriptors; {greedy.counts}")
            wait_for(lambda: server.descriptors() <= opened, 30, f"no more than {opened} descriptors, as before")
    ratio = statistics.median(round["p99"] for round in loud) / statistics.median(round["p99"] for round in quiet)
    memory = server.maximum_resident()
    print(f"{sum(round['requests'] for round in loud)} normal requests beside greedy clients; p99 {ratio:.2f} times as long; "
          f"resident {before >> 20} MiB before, {memory >> 20} at most, {server.resident() >> 20} afterwards")
    assert ratio <= MAXIMUM_RATIO
    assert memory <= MAXIMUM_MEMORY
