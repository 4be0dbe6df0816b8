#!/usr/bin/env python3
"""Counts the instructions of requests that look for work, with valgrind, and fails where a byte costs too much.

Instructions don't depend on how busy the machine is. Each case of hostile_requests.py is sent in three sizes, each
twice the one before. A doubling may at most make it GROWTH times as dear, and a byte of the largest may cost as much
as the case says: one of those that the service reads, and one of those that were sent.
"""

import argparse
import re
import socket
import subprocess
import tempfile
import time
from json import loads

from callgrind import TIMEOUT_SECONDS, CountedProgram
from hostile_requests import CASES, KEY, SETUP

GROWTH = 2.3
SETTINGS = {
    "POI_EVENTS_KEYS": KEY,
    "POI_TRUSTED_PROXIES": "127.0.0.0/8,10.0.0.0/8,::/128",
    "POI_RATE_LIMIT": "1000000/s",
    "POI_CORS_ORIGINS": "https://app.example.com",
    "POI_ACCESS_LOG": "on",
}


class Mock(CountedProgram):
    """poi-mock under callgrind, until its standard input closes."""

    def __init__(self, program, folder):
        super().__init__(
            folder, [program, "--port", "0", "--until-stdin-closes"], SETTINGS, stdin=subprocess.PIPE)
        self.port = loads(self.first_line())["port"]

    def close(self):
        self.process.stdin.close()
        self.wait()


def exchange(port, request, count, piece_bytes):
    """Sends a request, and returns the statuses of the responses."""
    statuses = []
    with socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        step = piece_bytes or len(request)
        for start in range(0, len(request), step):
            connection.sendall(request[start:start + step])
            if piece_bytes:
                time.sleep(0.005)
        received = b""
        while len(statuses) < count:
            head, end, rest = received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            length = int(length[1]) if length else 0
            if end and len(rest) >= length:
                statuses.append(int(head.split()[1]))
                received = rest[length:]
                continue
            more = connection.recv(1 << 20)
            if not more:
                break
            received += more
    return statuses


def measure(mock, case):
    """For each size: the bytes that the service reads, those that were sent, and the instructions."""
    measured = []
    for size in case.sizes:
        request, count = case.make(size), case.responses(size)
        mock.instructions()
        statuses = exchange(mock.port, request, count, case.piece_bytes)
        if statuses != [case.status] * count:
            raise ValueError(f"{case.status} was expected, not {statuses[:3]}: the request went another way")
        measured.append((size if case.is_coded else len(request), len(request), mock.instructions()))
    return measured


def fault(mock, case):
    """What is wrong with what a case costs; nothing if it is right. Prints a line of it."""
    try:
        measured = measure(mock, case)
    except ValueError as error:
        print(f"FAIL {case.name}: {error}", flush=True)
        return case.name
    (_, _, first), (_, _, second), (size, sent, third) = measured
    growth = max(second / first, third / second)
    each, each_sent = third / size, third / sent
    is_right = growth <= GROWTH and each <= case.most and each_sent <= case.most_sent
    print(f"{'ok' if is_right else 'FAIL':4} {each:6.0f} a byte (at most {case.most:5}), x{growth:.2f}, "
          f"{each_sent:6.0f} a byte sent (at most {case.most_sent:5}), "
          f"{size:7} bytes {third / 1e6:7.2f} M  {case.name}", flush=True)
    return None if is_right else case.name


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*", metavar="case", help="all without one")
    arguments = parser.parse_args()
    cases = [case for case in CASES if not arguments.cases or case.name in arguments.cases]
    unknown = set(arguments.cases) - {case.name for case in CASES}
    if unknown:
        parser.error(f"there is no case {', '.join(unknown)}")
    with tempfile.TemporaryDirectory() as folder:
        mock = Mock(arguments.program, folder)
        # What happens once, at the first request, is no request's cost.
        measure(mock, CASES[0])
        if exchange(mock.port, SETUP, 1, 0) != [204]:
            raise SystemExit("check-linear-cost: poi-mock doesn't take the rules of SETUP")
        faults = [name for case in cases if (name := fault(mock, case))]
        mock.close()
    if faults:
        raise SystemExit(f"check-linear-cost: {len(faults)} of {len(cases)} cost too much: {', '.join(faults)}")
    print(f"check-linear-cost: {len(cases)} cases cost what they may")


if __name__ == "__main__":
    main()
