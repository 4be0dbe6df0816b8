"""What sends the load, and the rounds in which the sides take turns.

A side is measured by one of three programs: `wrk` for HTTP, our own `load` for Redis, for what is compared with it and
for fixed rates, and `pgbench`. Each has one thread and sends one request at a time on each connection.
"""

import json
import os
import re
import resource
import statistics
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from processes import TICKS, processor_seconds, program

CONNECTIONS = 32


@dataclass
class Side:
    """One of those that are compared."""

    name: str
    # Sends load for a number of seconds; returns a dictionary with requests, seconds and failed at least.
    send: Callable[[int], dict]
    # The processes that serve, by what they are: "server" and "PostgreSQL".
    processes: dict[str, int] = field(default_factory=dict)


def write_lines(path, lines):
    Path(path).write_text("".join(f"{line}\n" for line in lines))
    return path


def write_requests(path, requests):
    """A file for `load`."""
    Path(path).write_bytes(b"".join(b"%d\n" % len(request) + request for request in requests))
    return path


def http_request(path):
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def redis_request(*words):
    parts = [str(word).encode() for word in words]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)


def by_wrk(url, paths, connections=CONNECTIONS):
    """Asks for the paths in a file by wrk."""
    script = Path(__file__).with_name("requests.lua")

    def send(seconds):
        output = subprocess.run(
            [program("wrk", "wrk"), "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script, url, "--", paths], check=True,
            capture_output=True, text=True).stdout
        requests, microseconds, failed, size = map(int, re.search(r"RESULT (\d+) (\d+) (\d+) (\d+)", output).groups())
        return {"requests": requests, "seconds": microseconds / 1e6, "failed": failed, "bytes": size}
    return send


def by_load(load, port, requests, rate=0, connections=CONNECTIONS):
    """Sends the requests in a file by our own generator; as fast as they are served, where the rate is 0."""
    def send(seconds):
        output = subprocess.run(
            list(map(str, [load, port, requests, connections, seconds, rate])), check=True, capture_output=True, text=True,
            timeout=seconds + 60).stdout
        return json.loads(output)
    return send


def by_pgbench(url, scripts, clients):
    """Runs the transactions of scripts, each as often as its weight says, with prepared statements, in a session with the
    server's settings."""
    environment = {**os.environ, "PGOPTIONS": "-c jit=off -c max_parallel_workers_per_gather=0"}

    def send(seconds):
        output = subprocess.run(
            [pgbench_program(), "-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(seconds),
             *(f"--file={script}@{weight}" for script, weight in scripts), url],
            check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout
        requests = int(re.search(r"actually processed: (\d+)", output).group(1))
        failed = int(re.search(r"failed transactions: (\d+)", output).group(1))
        return {"requests": requests, "seconds": requests / float(re.search(r"tps = (\S+)", output).group(1)), "failed": failed}
    return send


def pgbench_program():
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"), key=lambda path: int(path.parts[4]))
    return str(found[-1]) if found else program("pgbench", "postgresql")


def pgbench_script(path, sql, centres):
    """The server's SQL for one of the centres, at random.

    pgbench has no arrays: a tree of comparisons finds the number's latitude and longitude in a few steps.
    """
    def tree(values, first):
        if len(values) == 1:
            return repr(values[0])
        half = len(values) // 2
        return (f"CASE WHEN :number < {first + half} THEN {tree(values[:half], first)} "
                f"ELSE {tree(values[half:], first + half)} END")
    statement = sql.replace("$1", ":latitude").replace("$2", ":longitude")
    return write_lines(path, [
        f"\\set number random(0, {len(centres) - 1})",
        f"\\set latitude {tree([centre[0] for centre in centres], 0)}",
        f"\\set longitude {tree([centre[1] for centre in centres], 0)}", f"{statement};"])


def measure(side, seconds):
    """One round of a side: its rate, and the processor time that its processes took for a request, in microseconds."""
    busy, sender, start = busy_seconds(), sender_seconds(), time.monotonic()
    before = {kind: processor_seconds(pid) for kind, pid in side.processes.items()}
    sent = side.send(seconds)
    after = {kind: processor_seconds(pid) for kind, pid in side.processes.items()}
    busy, sender, elapsed = busy_seconds() - busy, sender_seconds() - sender, time.monotonic() - start
    if sent["failed"] or not sent["requests"]:
        raise RuntimeError(f"{side.name}: {sent['failed']} of {sent['requests']} requests failed")
    taken = {kind: [(after[kind][i] - before[kind][i]) / sent["requests"] * 1e6 for i in (0, 1)] for kind in before}
    total = sum(map(sum, taken.values()))
    rate = sent["requests"] / sent["seconds"]
    others = busy - sender - total * sent["requests"] / 1e6
    return {**sent, "rate": rate, "cpu": total, "cores": total * rate / 1e6, "cpu_by_process": taken,
            "sender_cpu": sender / sent["requests"] * 1e6, "other_cores": max(0, others / elapsed)}


def sender_seconds():
    """User and system time of what has sent load until now."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def busy_seconds():
    """User and system time of all processes of the machine (proc(5))."""
    user, nice, system = map(int, Path("/proc/stat").read_text().split()[1:4])
    return (user + nice + system) / TICKS


def alternate(sides, rounds, seconds, warm_up=True):
    """All rounds of each side, by name. Whatever else the machine does, and however it gets slower, hits all sides alike:
    they take turns, in every other round from the last to the first."""
    if warm_up:
        for side in sides:
            measure(side, 1)
    results = {side.name: [] for side in sides}
    for number in range(rounds):
        for side in sides if number % 2 == 0 else reversed(sides):
            results[side.name].append(measure(side, seconds))
    return results


def medians(rounds):
    """The median of each figure that all rounds have."""
    names = [name for name, value in rounds[0].items() if isinstance(value, (int, float))]
    return {name: statistics.median(one[name] for one in rounds) for name in names}
