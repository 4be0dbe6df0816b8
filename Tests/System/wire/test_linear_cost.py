"""What a stranger's bytes cost: requests that look for work are sent to `poi-mock`, which has the service's HTTP, contract and
handlers, and valgrind counts instructions, which don't depend on how busy the machine is. See Documentation/testing.md.

Each case of hostile_requests.py is sent in three sizes, each twice the one before. A doubling may at most make it GROWTH
times as dear, and a byte of the largest may cost as much as the case says: one of those that the service reads, and one of
those that were sent.
"""

import json
import subprocess
import time
from contextlib import closing

import pytest

from callgrind import CountedProgram, KeptConnection
from hostile_requests import CASES, KEY, SETUP

GROWTH = 2.3
TRIES = 3
SETTINGS = {
    "POI_EVENTS_KEYS": KEY,
    "POI_TRUSTED_PROXIES": "127.0.0.0/8,10.0.0.0/8,::/128",
    "POI_RATE_LIMIT": "1000000/s",
    "POI_EDITOR_RATE_LIMIT": "1000000/s",
    "POI_CORS_ORIGINS": "https://app.example.com",
    "POI_ACCESS_LOG": "on",
    "POI_DIGEST_MAX_PLACES": "100000",
}


@pytest.fixture(scope="module")
def counted_mock(mock, tmp_path_factory):
    """poi-mock under callgrind, until its standard input closes."""
    with CountedProgram(tmp_path_factory.mktemp("callgrind"), mock, ["--port", "0", "--until-stdin-closes"], SETTINGS,
                        stdin=subprocess.PIPE) as counted:
        counted.port = json.loads(counted.first_line())["port"]
        # What happens once, at the first request, is no request's cost.
        measure(counted, CASES[0])
        assert exchange(counted.port, SETUP, 1, 0) == [204]
        yield counted
        counted.process.stdin.close()
        counted.wait()


def exchange(port, request, count, piece_bytes):
    """Sends a request, and returns the statuses of the responses."""
    connection, step = KeptConnection(port), piece_bytes or len(request)
    with closing(connection.socket), closing(connection.received):
        for start in range(0, len(request), step):
            connection.socket.sendall(request[start:start + step])
            if piece_bytes:
                time.sleep(0.005)
        return [connection.response()[0] for _ in range(count)]


def growth(measured):
    instructions = [count for _, _, count in measured]
    return max(second / first for first, second in zip(instructions, instructions[1:]))


def measure_quietly(counted, case):
    """As `measure`; what the program does once in a while may fall into any of them, so that the least of several counts where
    a request seems too dear."""
    measured = measure(counted, case)
    for _ in range(TRIES - 1):
        if growth(measured) <= GROWTH:
            break
        measured = list(map(min, measured, measure(counted, case)))
    return measured


def measure(counted, case):
    """For each size: the bytes that the service reads, those that were sent, and the instructions."""
    measured = []
    for size in case.sizes:
        request, count = case.make(size), case.responses(size)
        counted.instructions()
        assert exchange(counted.port, request, count, case.piece_bytes) == [case.status] * count, "it went another way"
        measured.append((size if case.is_coded else len(request), len(request), counted.instructions()))
    return measured


# Rules are the mock's own, for tests of apps.
@pytest.mark.parametrize("case", [pytest.param(case, id=case.name, marks=pytest.mark.soak if "rule" in case.name else ())
                                  for case in CASES])
def test_a_byte_costs_no_more_than_it_may(counted_mock, case):
    measured = measure_quietly(counted_mock, case)
    size, sent, third = measured[-1]
    print(f"{third / size:.0f} a byte (at most {case.most}), {third / sent:.0f} a byte sent (at most {case.most_sent}), "
          f"x{growth(measured):.2f}; {size} bytes {third / 1e6:.2f} M")
    assert growth(measured) <= GROWTH
    assert third / size <= case.most
    assert third / sent <= case.most_sent
