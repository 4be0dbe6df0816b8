"""Runs rows, two at a time, each with the whole contract suite, and says which of them the suite doesn't notice."""

import argparse
import fnmatch
import hashlib
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from queue import SimpleQueue

from servers import ROOT, built

from . import rows as by_hand
from .changes import Row
from .generated import LEFT_OUT, Generator
from .proxy import Proxy, Recorded
from .targets import build_suite, run_suite, serving

AT_ONCE = 2
IDENTITY = Row("identity", "nothing", lambda exchange: exchange.ask(), is_allowed=True)
# What the suite computes of any places; what else it knows doesn't depend on which places there are.
OF_ANY_PLACES = ("order/", "distances/", "filters/", "pages/", "allowed/")
# What the towns can't show: no two of a region are at one position, and all are of one dataset.
NOT_OF_TOWNS = ("order/ties", "filters/dataset")


def chosen(rows, options):
    """The rows of the options; a pattern is one of file names, or a part of an id."""
    pattern = options.explain or options.rows or "*"
    rows = [row for row in rows if pattern in row.id or fnmatch.fnmatchcase(row.id, pattern)]
    rows = [row for row in rows if row.id == pattern] or rows
    if options.target == "foreign":
        rows = [row for row in rows if row.id.startswith(OF_ANY_PLACES) and row.id not in NOT_OF_TOWNS]
    if options.seconds:
        commit = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT)
        rows.sort(key=lambda row: hashlib.sha256(commit + row.id.encode()).digest())
    return rows


def run_row(row, target, program):
    """Runs the suite with one change; returns what became of the row, and a text about it."""
    with Proxy(row, target.keys, target.ports) as proxy:
        urls = dict(zip(("POI_BASE_URL", "POI_CONTRACT_LIMITED_URL"), proxy.urls, strict=True))
        run = run_suite(program, target.variables | urls)
    if run.has_crashed or proxy.fault:
        outcome = "crashed"
    elif proxy.changes == 0 and row is not IDENTITY:
        outcome = "unreached"
    elif row.is_allowed:
        outcome = "false alarm" if run.test else "passed"
    else:
        outcome = "noticed" if run.test else "missed"
    counts = f"{run.tests} test cases, {run.skipped} tests skipped; {proxy.changes} of {len(proxy.exchanges)} changed"
    why = [line for line in (run.test, proxy.fault, run.text[:2000]) if line]
    return outcome, "\n    ".join([f"{outcome}: {row.id}: {row.change} ({counts})", *why]), proxy.exchanges


def without_use(rows, exchanges):
    """The rows that would change nothing of what the suite asks, however few of them there is time to run."""
    memory = {row: {} for row in rows}
    for exchange in exchanges:
        memory = {row: kept for row, kept in memory.items() if not Recorded(exchange, kept).is_changed_by(row)}
    return list(memory)


def run_rows(rows, targets, options):
    """Runs as many rows as there is time for; returns whether all come out well."""
    program = build_suite()
    outcome, told, exchanges = run_row(IDENTITY, targets[0], program)
    print(f"{options.target}: {told}", flush=True)
    if outcome != "passed":
        return False
    if unreached := without_use(rows, exchanges):
        print("\n".join(f"unreached: {row.id}: {row.change}" for row in unreached))
        return False
    start = time.monotonic()
    # Each run has a target to itself, since it edits its places.
    free = SimpleQueue()
    for target in targets:
        free.put(target)

    def run(row):
        if options.seconds and time.monotonic() > start + options.seconds:
            return None
        target = free.get()
        outcome, told, _ = run_row(row, target, program)
        free.put(target)
        if options.explain or outcome not in ("noticed", "passed"):
            print(told, flush=True)
        return outcome

    with ThreadPoolExecutor(len(targets)) as pool:
        found = Counter(outcome for outcome in pool.map(run, rows) if outcome)
    print(f"{options.target}: {found.total()} of {len(rows)} rows in {time.monotonic() - start:.0f} s: "
        + ", ".join(f"{count} {outcome}" for outcome, count in found.most_common()))
    return found.keys() <= {"noticed", "passed"} and found.total() > 0


def main():
    parser = argparse.ArgumentParser(prog="contract-mutations", description=__doc__)
    parser.add_argument("--target", choices=["seed", "foreign"], default="seed",
                        help="the seed, which the suite knows, or with it towns of GeoNames, which it doesn't")
    parser.add_argument("--rows", metavar="PATTERN", help="rows whose id has this part, or matches this pattern")
    parser.add_argument("--seconds", type=int, help="as many rows as there is time for, in an order of the commit's")
    parser.add_argument("--list", action="store_true", help="print the rows, and run none")
    parser.add_argument("--explain", metavar="ROW", help="run a row, and print what the suite says")
    options = parser.parse_args()
    program = built("poi", "POI_BINARY")
    with ExitStack() as stack:
        targets = [stack.enter_context(serving(options.target, program)) for _ in range(AT_ONCE)]
        rows = chosen([*by_hand.ROWS, *Generator(targets[0].description).make()], options)
        if options.list:
            print("\n".join(f"{row.id}: {row.change}{' (allowed)' if row.is_allowed else ''}" for row in rows))
            print(f"{len(rows)} rows. What is described and has none:")
            print("\n".join(f"generated/{pattern}: {why}" for pattern, why in LEFT_OUT.items()))
        elif not run_rows(rows, targets, options):
            sys.exit(1)


if __name__ == "__main__":
    main()
