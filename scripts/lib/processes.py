"""Other programs that a check runs: starting them, waiting for what they do, and ending them."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

# Runs a command and writes down how much memory it took at most. Linux counts what a program held when it started
# another one, so this is a small one.
MEASURED = [sys.executable, "-c", """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""]


def start(command, log, variables=None):
    """A process that writes into a file, and ends with this one, but not by the terminal's Control-C."""
    with open(log, "ab") as output:
        return subprocess.Popen(
            ["setpriv", "--pdeathsig=TERM", "--", *map(str, command)], stdout=output, stderr=subprocess.STDOUT,
            start_new_session=True, env={**os.environ, **(variables or {})})


def wait_for(condition, seconds, what):
    """Waits until the condition's value is true, and returns it; raises TimeoutError, which names what was waited for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise TimeoutError(f"{what}: not within {seconds} s")


def end(process, first=signal.SIGTERM, seconds=40):
    """Ends a process by a signal, or kills it where that takes too long; returns its exit code."""
    process.send_signal(first)
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


@contextmanager
def running(command, log, variables=None):
    """A process of `start`, which ends with the block."""
    process = start(command, log, variables)
    try:
        yield process
    finally:
        end(process)
