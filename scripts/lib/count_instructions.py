#!/usr/bin/env python3
"""Counts the instructions of a request with valgrind, and fails where one costs more than its recorded budget.

Requests go one after another over one connection to a `poi serve` with one loop, and its defaults but for that: the
access log, in a file, and metrics are on. Each case of request_cases.py is warmed up, and counted until the two lowest
counts agree. What the server does in the same time without requests, such as watching the dataset, is taken off.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from callgrind import TIMEOUT_SECONDS, CountedProgram, KeptConnection
from psql import psql
from request_cases import CASES, PLACES_SQL, TARGETS, asked_database, request

BUDGETS = Path(__file__).parent.parent / "checks" / "instructions.budgets"
# How much more than its budget a request may cost, and how much two counts may differ.
TOLERANCE = 1.05
AGREEMENT = 1.02
ATTEMPTS = 10
IDLE_SECONDS = 5
SETTINGS = {
    "PORT": "0",
    "POI_ADMIN_PORT": "0",
    "POI_LOOPS": "1",
    "POI_DRAIN_DELAY": "0s",
    # Valgrind is slow: a time limit that is reached would be counted as a request.
    "POI_REQUEST_TIMEOUT": "30s",
    "POI_DB_STATEMENT_TIMEOUT": "30s",
    "POI_DB_ACQUIRE_TIMEOUT": "30s",
}


class Poi(CountedProgram):
    """`poi serve` under callgrind, connected to and ready."""

    def __init__(self, program, folder, settings):
        super().__init__(folder, [program, "serve"], SETTINGS | settings, counts_at_once=False)
        port = int(self.first_line().rsplit(":", 1)[1].rstrip("/\n"))
        self.connection = KeptConnection(socket.create_connection(("127.0.0.1", port), TIMEOUT_SECONDS))
        self.wait_until("is ready", request("/readyz"), lambda head: " 200 " in head)

    def wait_until(self, what, message, is_reached):
        """Asks until the response shows that a state is reached."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while not is_reached(self.connection.response(message)[1]):
            if time.monotonic() > end:
                raise SystemExit(f"instructions: the server never {what}\n" + Path(self.log).read_text()[-2000:])
            time.sleep(0.1)

    def send(self, case):
        """Sends a case's requests, and checks their responses; returns how many seconds that took."""
        requests = case.requests(self.connection.response)
        self.instructions()
        start = time.monotonic()
        for message in requests:
            if fault := case.fault(*self.connection.response(message)):
                raise SystemExit(f"instructions: {case.name}: {fault}")
        return time.monotonic() - start

    def begin(self, ignores_follower):
        """Counts from now on, first what the server does in a second without requests.

        Places in memory are verified by their follower's thread, once a second and by far the most of that: too much and too
        seldom to be taken off. So that thread doesn't count.
        """
        super().begin()
        self.instructions()
        start = time.monotonic()
        time.sleep(IDLE_SECONDS)
        counts = self.instructions_of_threads()
        duration = time.monotonic() - start
        if ignores_follower:
            self.ignored_threads.add(max(counts, key=counts.get))
        self.idle_rate = sum(count for thread, count in counts.items() if thread not in self.ignored_threads) / duration

    def measure(self, case, keep):
        """The instructions of a request: the lowest count, since whatever else the server does meanwhile only adds."""
        self.send(case)
        counts = []
        while len(counts) < 2 or counts[1] > counts[0] * AGREEMENT:
            if len(counts) == ATTEMPTS:
                raise SystemExit(f"instructions: {case.name}: no two counts agree within 2 %: {counts}")
            seconds = self.send(case)
            total = self.instructions(keep and f"{keep}/{case.name}.callgrind")
            counts.append(round((total - self.idle_rate * seconds) / case.count))
            counts.sort()
        return counts[0]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.wait()
        if self.process.returncode != 0:
            raise SystemExit(f"instructions: the server ended with {self.process.returncode}")


def knows_index(program):
    shown = subprocess.run([program, "serve", "--print-config"], check=True, capture_output=True, text=True).stdout
    return "\nPOI_INDEX=" in shown


def measure(program, cases, settings, keep):
    """What each case's requests cost, in a server of its own."""
    with tempfile.TemporaryDirectory() as folder:
        poi = Poi(program, folder, settings)
        # Twice, since the first requests teach the server where places are.
        for target in TARGETS * 2:
            poi.connection.response(request(target))
        if settings.get("POI_INDEX") == "on":
            poi.wait_until("answered from the index", request(TARGETS[0]), lambda head: not asked_database(head))
        poi.begin(ignores_follower=settings.get("POI_INDEX") == "on")
        measured = {case.name: poi.measure(case, keep) for case in cases}
        poi.close()
    return measured


def read_budgets():
    lines = BUDGETS.read_text().splitlines() if BUDGETS.exists() else []
    return {name: int(budget) for name, budget in (line.split() for line in lines if line and line[0] != "#")}


def write_budgets(budgets):
    order = [case.name for case in CASES]
    lines = [f"{name:24} {budgets[name]:8}" for name in order if name in budgets]
    title = "# Instructions of a request in user space, as scripts/checks/instructions --record has counted them."
    BUDGETS.write_text("\n".join([title, *lines]) + "\n")


def report(measured, budgets):
    """Prints the table; returns the cases that cost too much."""
    print(f"{'case':24} {'instructions':>12} {'budget':>9} {'ratio':>6}")
    dear = []
    for name, count in measured.items():
        budget = budgets.get(name)
        ratio = f"{count / budget:6.3f}" if budget else "     -"
        is_dear = budget is None or count > budget * TOLERANCE
        if is_dear:
            dear.append(name)
        print(f"{name:24} {count:12} {budget or '-':>9} {ratio}{'  TOO DEAR' if is_dear else ''}")
    return dear


def main():
    parser = argparse.ArgumentParser(prog="instructions")
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*", metavar="case", help="all without one")
    parser.add_argument("--record", action="store_true", help="write what was measured as the budgets")
    parser.add_argument("--keep", help="a folder for the cases' profiles")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - {case.name for case in CASES}:
        parser.error(f"there is no case {', '.join(unknown)}")
    if arguments.keep:
        os.makedirs(arguments.keep, exist_ok=True)
    psql(os.environ["DATABASE_URL"], PLACES_SQL)
    cases = [case for case in CASES if not arguments.cases or case.name in arguments.cases]
    budgets = read_budgets()
    has_index = knows_index(arguments.program)
    skipped = [case.name for case in cases if case.store == "index" and not has_index]
    cases = [case for case in cases if case.name not in skipped]
    by_index = [case for case in cases if case.store != "database" and has_index]
    by_database = [case for case in cases if case not in by_index]
    measured = {}
    if by_index:
        measured |= measure(arguments.program, by_index, {"POI_INDEX": "on"}, arguments.keep)
    if by_database:
        off = {"POI_INDEX": "off"} if has_index else {}
        measured |= measure(arguments.program, by_database, off, arguments.keep)
    if arguments.record:
        budgets |= measured
        write_budgets(budgets)
    faults = report(measured, budgets)
    for name in skipped:
        print(f"{name:24} SKIPPED: this server has no setting POI_INDEX, so it has no index", file=sys.stderr)
        if name in budgets:
            faults.append(name)
    if faults:
        raise SystemExit(f"instructions: more than 5 % over the budget, or not measured: {', '.join(faults)}")


if __name__ == "__main__":
    main()
