"""What is measured beside greedy clients, and how: normal requests at a constant rate, by Benchmarks/lib/load.c."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from running_server import PORT


def separate(process):
    """Gives the server a processor of its own, as clients do that are on other machines. Otherwise the scheduler lets a normal
    client wait for milliseconds where the server is busy, and that is what would be measured."""
    own, *others = sorted(os.sched_getaffinity(0))
    if others:
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {own})
        os.sched_setaffinity(0, others)


class Requests:
    """A file of requests for load.c."""

    def __init__(self, requests):
        self.file = tempfile.NamedTemporaryFile()
        for request in requests:
            self.file.write(b"%d\n" % len(request) + request)
        self.file.flush()

    def start(self, connections, seconds, rate, source="127.0.0.1"):
        """Sends them at a rate, or at 0 each connection as fast as it gets responses."""
        return subprocess.Popen(
            [os.environ["LOAD_BINARY"], str(PORT), self.file.name, str(connections), str(seconds), str(rate)],
            stdout=subprocess.PIPE, env={**os.environ, "LOAD_SOURCE": source})


def result(load):
    """What load.c says at its end."""
    output = load.communicate()[0]
    if load.returncode != 0:
        raise SystemExit("load.c failed")
    return json.loads(output)


class Greedy:
    """Greedy clients of some kinds, as a context manager; they leave the processor to others."""

    def __init__(self, counts):
        self.arguments = [f"{kind}={count}" for kind, count in counts.items()]

    def __enter__(self):
        self.process = subprocess.Popen(
            ["nice", "-n", "19", sys.executable, Path(__file__).with_name("greedy_clients.py"), str(PORT), *self.arguments],
            stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "connected\n":
            raise SystemExit("the greedy clients don't connect")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.counts = json.loads(self.process.communicate()[0])
