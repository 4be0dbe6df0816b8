"""Requests at a constant rate, or as fast as responses come, by Benchmarks/lib/load.c; and a processor for a server alone."""

import json
import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


class Requests:
    """A file of requests for load.c, `program`."""

    def __init__(self, program, requests):
        self.program = program
        self.file = tempfile.NamedTemporaryFile()
        for request in requests:
            self.file.write(b"%d\n" % len(request) + request)
        self.file.flush()

    def start(self, port, connections, seconds, rate, *count, source="127.0.0.1", processors=None):
        """Sends them at a rate, or at 0 each connection as fast as it gets responses; `count` of them, if that is given."""
        own = ["taskset", "--cpu-list", ",".join(map(str, processors))] if processors else []
        return subprocess.Popen(
            ["setpriv", "--pdeathsig=TERM", "--", *own, self.program, *map(str, [
                port, self.file.name, connections, seconds, rate, *count])],
            stdout=subprocess.PIPE, env={**os.environ, "LOAD_SOURCE": source})


def result(load):
    """What load.c says at its end."""
    output = load.communicate()[0]
    assert load.returncode == 0, "load.c failed"
    return json.loads(output)


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
