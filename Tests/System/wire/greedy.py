"""Runs greedy_clients.py."""

import json
import subprocess
import sys
from pathlib import Path

from processes import end


class Greedy:
    """Greedy clients of some kinds, as a context manager; they leave the processor to others."""

    def __init__(self, port, target="/livez", **counts):
        self.arguments = [str(port), f"target={target}", *[f"{kind}={count}" for kind, count in counts.items()]]

    def __enter__(self):
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig=TERM", "--", "prlimit", "--nofile=8192:8192", "nice", "-n", "19", sys.executable,
             Path(__file__).with_name("greedy_clients.py"), *self.arguments], stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "connected\n":
            end(self.process)
            raise RuntimeError("the greedy clients don't connect")
        return self

    def __exit__(self, *_):
        end(self.process)
        self.counts = json.loads(self.process.stdout.read())
