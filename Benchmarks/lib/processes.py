"""Processes that the benchmark starts, and the processor time that they take."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def program(name, package):
    """The path of a program, also of those in folders that only root has on its PATH."""
    path = shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
    if path is None:
        raise SystemExit(f"benchmark: {name} is missing: apt-get install {package}")
    return path


def fetch(url):
    with urllib.request.urlopen(url, timeout=10) as response:
        return response.read()


class Child:
    """A process whose output goes to files of the work folder, as NAME.out and NAME.err."""

    running = []
    # What the names of the threads that serve begin with.
    serving = ""

    def __init__(self, work, name, command, environment=None, folder=None):
        self.name = name
        self.output, self.errors = Path(work, f"{name}.out"), Path(work, f"{name}.err")
        # Settings of the one who measures would change what is measured.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("POI_")}
        with open(self.output, "wb") as output, open(self.errors, "wb") as errors:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder,
                env={**inherited, **(environment or {})})
        Child.running.append(self)

    @staticmethod
    def stop_all():
        for child in reversed(Child.running[:]):
            child.stop()

    @property
    def pid(self):
        return self.process.pid

    def wait_for(self, pattern, seconds=120):
        """The first match in what the process prints."""
        def match():
            return re.search(pattern, self.output.read_text(errors="replace"), re.MULTILINE)
        return self.wait_until(match, seconds, f"did not print {pattern}")

    def wait_until(self, condition, seconds, otherwise):
        """What the condition returns as soon as that is true; an exception of a connection counts as false."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}: {self.last_errors()}")
            try:
                result = condition()
            except OSError:
                result = None
            if result:
                return result
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(f"{self.name} {otherwise} within {seconds} s: {self.last_errors()}")

    def wait_for_http(self, url, seconds=60):
        return self.wait_until(lambda: fetch(url), seconds, f"did not respond at {url}")

    def last_errors(self):
        return self.errors.read_text(errors="replace")[-2000:]

    def resident_bytes(self):
        pages = Path(f"/proc/{self.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def waited_seconds(self):
        """For how long the threads that serve were ready to run and had no processor (schedstat's second number)."""
        return sum(int((task / "schedstat").read_text().split()[1]) for task in tasks(self.pid)
                   if (task / "comm").read_text().startswith(self.serving)) / 1e9

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self in Child.running:
            Child.running.remove(self)


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the name, which may hold any character: the state is the first (proc(5))."""
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def family(pid):
    """A process and all of its descendants."""
    children = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                children.setdefault(int(stat_fields(entry.name)[1]), []).append(int(entry.name))
            except OSError:
                pass  # It has ended.
    found = [pid]
    for parent in found:
        found += children.get(parent, [])
    return found


def tasks(pid):
    """The folders of all threads of a process and its descendants."""
    return [task for member in family(pid) for task in Path(f"/proc/{member}/task").glob("*")]


@contextmanager
def separate(pids):
    """Gives one processor to processes and their descendants, and the others to us and what we start: as if what sends
    requests were on another machine. Otherwise the scheduler lets a server wait for milliseconds while the generator has
    its processor, and that is what would be measured."""
    own, *others = everything = sorted(os.sched_getaffinity(0))
    if not others:
        raise RuntimeError("server and generator need a processor each, and there is one")

    def pin(processors):
        for task in (task for pid in pids for task in tasks(pid)):
            try:
                os.sched_setaffinity(int(task.name), processors)
            except ProcessLookupError:
                pass  # It has ended.
    try:
        pin({own})
        os.sched_setaffinity(0, others)
        yield
    finally:
        os.sched_setaffinity(0, everything)
        pin(everything)


def processor_seconds(pid):
    """User and system time of a process and its descendants, with those that it has waited for."""
    ticks = [0, 0]
    for member in family(pid):
        try:
            user, system, ended_user, ended_system = map(int, stat_fields(member)[11:15])
        except OSError:
            continue
        ticks[0] += user + ended_user
        ticks[1] += system + ended_system
    return ticks[0] / TICKS, ticks[1] / TICKS
