"""Runs a program under valgrind's callgrind, which counts the instructions of its threads in user space."""

import glob
import http.client
import os
import shutil
import socket
import subprocess
from pathlib import Path

from processes import wait_for
from servers import ROOT

TIMEOUT_SECONDS = 120


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
                ["setpriv", "--pdeathsig=KILL", "--", "valgrind", "--tool=callgrind",
                 f"--callgrind-out-file={folder}/counts", f"--vgdb-prefix={folder}/vgdb", "--fair-sched=yes",
                 "--separate-threads=yes", f"--instr-atstart={'yes' if counts_at_once else 'no'}",
                 stripped, *arguments],
                cwd=ROOT, env=os.environ | settings, stdin=stdin, stdout=subprocess.PIPE, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def first_line(self):
        """What the program says first, once it has started."""
        line = self.process.stdout.readline().decode()
        if not line:
            raise RuntimeError("the program did not start:\n" + Path(self.log).read_text(errors="replace"))
        return line

    def instructions(self, keep=None):
        return sum(self.instructions_of_threads(keep).values())

    def instructions_of_threads(self, keep=None):
        """Those since the last time by the numbers of their threads. The profile of each is kept as a file, `keep` and
        its number, if that is named."""
        self.tell("dump")
        counts = {}
        for path in glob.glob(f"{self.folder}/counts.*"):
            thread = int(path.rpartition("-")[2])
            profile = Path(path).read_text(errors="replace")
            total = sum(int(line.split()[1]) for line in profile.splitlines() if line.startswith("totals:"))
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
        # vgdb interrupts the program once for a command. A thread that it finds running is to look for the command itself, which
        # one that is about to sleep has done already: nobody reads the command then.
        wait_for(self.is_idle, TIMEOUT_SECONDS, "all threads sleep")
        # A program that waits for requests is interrupted at once, not after a tenth of a second.
        subprocess.run(
            ["vgdb", "--max-invoke-ms=1", f"--vgdb-prefix={self.folder}/vgdb", f"--pid={self.process.pid}", *words],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)

    def is_idle(self):
        """Whether no thread runs, or could (proc(5), /proc/pid/stat)."""
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            try:
                state = stat.read_text().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):  # The thread has ended.
                continue
            if state != "S":
                return False
        return True

    def wait(self):
        self.process.wait(TIMEOUT_SECONDS)


class KeptConnection:
    """One HTTP connection, over which requests go as they are, in bytes."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = self.socket.makefile("rb")

    def response(self, request=b""):
        """Sends a request; returns the status, the headers and the body of the next response."""
        self.socket.sendall(request)
        status = self.received.readline()
        if not status:
            raise ConnectionError("the connection was closed instead of a response")
        headers = http.client.parse_headers(self.received)
        return int(status.split()[1]), headers, self.received.read(int(headers.get("Content-Length", 0)))
