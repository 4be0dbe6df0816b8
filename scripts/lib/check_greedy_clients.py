"""Asks the server at POI_BASE_URL at a constant rate, alone and beside greedy clients in turn, and compares."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from processes import wait_for
from running_server import PORT, descriptors, maximum_resident, resident, server_process

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


def separate(process):
    """Gives the server a processor of its own, as clients do that are on other machines. Otherwise the scheduler lets a normal
    client wait for milliseconds where the server is busy, and that is what would be measured."""
    own, *others = sorted(os.sched_getaffinity(0))
    if others:
        for thread in Path(f"/proc/{process}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {own})
        os.sched_setaffinity(0, others)


def ask(file):
    """What 32 normal connections see."""
    load = subprocess.run([os.environ["LOAD_BINARY"], str(PORT), file, str(CONNECTIONS), str(SECONDS), str(RATE)],
                          stdout=subprocess.PIPE, check=True)
    result = json.loads(load.stdout)
    if result["failed"] or result["unsent"]:
        fail(f"of {result['requests']} normal requests {result['failed']} failed, and {result['unsent']} weren't sent")
    return result


class Greedy:
    """The greedy clients, as a context manager; they leave the processor to others."""

    def __enter__(self):
        self.process = subprocess.Popen(
            ["nice", "-n", "19", sys.executable, Path(__file__).with_name("greedy_clients.py"), str(PORT),
             *(f"{kind}={count}" for kind, count in GREEDY.items())], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "connected\n":
            fail("the greedy clients don't connect")
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.counts = json.loads(self.process.communicate()[0])


def main():
    process, quiet, loud = server_process(), [], []
    separate(process)
    with tempfile.NamedTemporaryFile() as file:
        for number in range(64):
            request = f"GET /locations?lat={37 + number / 100}&long=-121.9 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
            file.write(b"%d\n" % len(request) + request)
        file.flush()
        ask(file.name)
        before, opened = resident(process), descriptors(process)
        for _ in range(ROUNDS):
            quiet.append(ask(file.name))
            with Greedy() as greedy:
                loud.append(ask(file.name))
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
