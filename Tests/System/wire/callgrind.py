"""Runs a program under valgrind's callgrind, which counts the instructions of its threads in user space."""

import ctypes
import glob
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from servers import ROOT

TIMEOUT_SECONDS = 120


PR_SET_PDEATHSIG = 1


def end_with_parent():
    """Kills this process when the one that started it ends, however that happens (prctl(2))."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class CountedProgram:
    """A program under callgrind, as a context manager; it writes down what it has counted, and begins anew, when it is told.

    Its standard error goes to a file, `log`, in `folder`. Unless it counts at once, it is several times faster until
    `begin`. Threads whose number is in `ignored_threads` don't count.
    """

    def __init__(self, folder, program, arguments, settings, stdin=subprocess.DEVNULL, counts_at_once=True):
        self.folder = folder
        self.ignored_threads = set()
        self.log = f"{folder}/log"
        # Valgrind takes minutes to read what a debugger needs.
        stripped = f"{folder}/{Path(program).name}"
        subprocess.run(["objcopy", "--strip-debug", program, stripped], check=True)
        # Fair scheduling: libuv spins while a thread that woke it waits for its turn, and that would be counted.
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts",
                 f"--vgdb-prefix={folder}/vgdb", "--fair-sched=yes",
                 "--separate-threads=yes",
                 f"--instr-atstart={'yes' if counts_at_once else 'no'}", stripped, *arguments],
                cwd=ROOT, env=os.environ | settings, stdin=stdin, stdout=subprocess.PIPE, stderr=log,
                preexec_fn=end_with_parent)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def first_line(self):
        """What the program says first, once it has started."""
        line = self.process.stdout.readline().decode()
        if not line:
            with open(self.log, errors="replace") as log:
                raise RuntimeError("the program did not start:\n" + log.read())
        return line

    def instructions(self, keep=None):
        """Those since the last time. The profile of each thread is kept as a file, `keep` and its number, if that is named."""
        return sum(self.instructions_of_threads(keep).values())

    def instructions_of_threads(self, keep=None):
        """Those since the last time by the numbers of their threads."""
        self.tell("dump")
        counts = {}
        for path in glob.glob(f"{self.folder}/counts.*"):
            thread = int(path.rpartition("-")[2])
            with open(path, errors="replace") as profile:
                total = sum(int(line.split()[1]) for line in profile if line.startswith("totals:"))
            if keep and total:
                shutil.copy(path, f"{keep}-{thread}")
            os.remove(path)
            if thread not in self.ignored_threads:
                counts[thread] = counts.get(thread, 0) + total
        return counts

    def begin(self):
        """Counts from now on."""
        self.tell("instrumentation", "on")

    def tell(self, *words):
        subprocess.run(
            ["vgdb", f"--vgdb-prefix={self.folder}/vgdb", f"--pid={self.process.pid}", *words],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)

    def wait(self):
        self.process.wait(TIMEOUT_SECONDS)


class KeptConnection:
    """One HTTP connection, over which requests go one after another."""

    def __init__(self, socket):
        self.socket = socket
        self.received = b""

    def response(self, request):
        """Sends a request; returns the status, the head and the body of its response."""
        self.socket.sendall(request)
        while b"\r\n\r\n" not in self.received:
            self.receive()
        head, _, rest = self.received.partition(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        length = int(length[1]) if length else 0
        while len(rest) < length:
            self.receive()
            rest = self.received[len(head) + 4:]
        self.received = rest[length:]
        return int(head.split()[1]), head.decode(), rest[:length]

    def receive(self):
        more = self.socket.recv(1 << 20)
        if not more:
            raise ValueError("the connection was closed instead of a response")
        self.received += more
