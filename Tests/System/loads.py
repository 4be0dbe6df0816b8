"""Requests at a constant rate, or as fast as responses come, by Benchmarks/lib/load.c; greedy clients; and a processor
for a server alone."""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from processes import end

# So many places anywhere, by format().
PLACES_SQL = """
SELECT setseed(0.5);
INSERT INTO locations (name, category, latitude, longitude, address, featured)
SELECT 'Place ' || lpad(n::text, 8, '0'), CASE WHEN n % 3 = 0 THEN 'cafe' ELSE 'park' END,
    degrees(asin(random() * 2 - 1)), random() * 360 - 180, CASE WHEN n % 2 = 0 THEN n || ' Long Street' END,
    n % 1000 = 0
FROM generate_series(1, {}) AS n;
VACUUM ANALYZE;
"""
GREEDY_CLIENTS = Path(__file__).with_name("wire") / "greedy_clients.py"


def plain_request(target, headers=""):
    return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode()


class Requests:
    """A file of requests for load.c, `program`."""

    def __init__(self, program, requests):
        self.program = program
        self.file = tempfile.NamedTemporaryFile()
        for request in requests:
            self.file.write(b"%d\n" % len(request) + request)
        self.file.flush()

    def start(self, port, connections, seconds, rate, *count, source="127.0.0.1", prefix=()):
        """Sends them at a rate, or at 0 each connection as fast as it gets responses; `count` of them, if that is
        given. `prefix` is a command that runs load.c."""
        return subprocess.Popen(
            ["setpriv", "--pdeathsig=TERM", "--", *prefix, self.program, *map(str, [
                port, self.file.name, connections, seconds, rate, *count])],
            stdout=subprocess.PIPE, env={**os.environ, "LOAD_SOURCE": source})


def result(load):
    """What load.c says at its end."""
    output = load.communicate()[0]
    assert load.returncode == 0, "load.c failed"
    return json.loads(output)


class Greedy:
    """Greedy clients of some kinds, as a context manager; they leave the processor to others."""

    def __init__(self, port, target="/livez", **counts):
        self.arguments = [str(port), f"target={target}", *[f"{kind}={count}" for kind, count in counts.items()]]

    def __enter__(self):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig=TERM", "--", "prlimit", "--nofile=8192:8192", "nice", "-n", "19", sys.executable,
             GREEDY_CLIENTS, *self.arguments], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "connected\n":
            end(self.process)
            raise RuntimeError("the greedy clients don't connect")
        return self

    def __exit__(self, *_):
        end(self.process)
        self.counts = json.loads(self.process.stdout.read())


@contextmanager
def separate(process):
    """Gives the server a processor of its own, as clients do that are on other machines. Otherwise the scheduler lets a normal
    client wait for milliseconds where the server is busy, and that is what would be measured."""
    own, *others = everything = sorted(os.sched_getaffinity(0))
    if others:
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {own})
        os.sched_setaffinity(0, others)
    try:
        yield
    finally:
        os.sched_setaffinity(0, everything)
