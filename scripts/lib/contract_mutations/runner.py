"""The command: starts targets, runs rows, two at a time, and says which the suite notices."""

import argparse
import asyncio
import contextlib
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from dataclasses import asdict, dataclass, field

from servers import built

from . import (access, allowed_documents, allowed_messages, caching, counts, filters, forms, languages, pages, places, problems,
               relevance, sent_events, suite, surroundings)
from .generated import generate
from .proxy import Proxy
from .rows import IDENTITY
from .targets import ROOT, TARGETS, Foreign, ForeignData

AT_ONCE = 2
REPORT = ROOT / ".build/contract-mutations.json"
MODULES = (places, languages, filters, relevance, pages, caching, forms, counts, problems, surroundings, access, sent_events,
           allowed_documents, allowed_messages)
THEMES = [theme for module in MODULES for theme in module.ROWS]


@dataclass
class Outcome:
    """What became of a row: `noticed`, `missed`, `false alarm`, `passed`, `unreached` or `crashed`."""

    row: str
    outcome: str
    test: str | None
    text: str
    changes: int
    requests: int
    seconds: float
    # Why tests were skipped that aren't without the change.
    skips: list = field(default_factory=list)


def say(text):
    print(text, flush=True)


def drawn(row, parts, salt):
    """A number below `parts` for a row, the same each time."""
    return int.from_bytes(hashlib.sha256((row.id + salt).encode()).digest()) % parts


def commit():
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def shared(rows, share):
    """The rows of a share: `K/N` is the Kth of N parts, `commit/N` the part that the commit chooses."""
    if share is None:
        return rows
    number, _, parts = share.partition("/")
    salt, number = (commit(), 0) if number == "commit" else ("", int(number))
    return [row for row in rows if drawn(row, int(parts), salt) == number % int(parts)]


def spread(rows, names, name):
    """Of the rows those whose turn it is at a target; the commit chooses."""
    salt = commit() + "target"
    return [row for row in rows if names[drawn(row, len(names), salt)] == name]


def share_of(text):
    """A share as it is written on the command line."""
    if re.fullmatch(r"(commit|[1-9]\d*)/[1-9]\d*", text) is None:
        raise argparse.ArgumentTypeError("must be K/N or commit/N")
    return text


def chosen(rows, options):
    """The rows to run; the options' pattern is one of file names, or a part of an id."""
    pattern = options.explain or options.rows
    if pattern is not None:
        rows = ([row for row in rows if row.id == pattern]
                or [row for row in rows if pattern in row.id or fnmatch.fnmatchcase(row.id, pattern)])
    return shared(rows, options.share)


def judged(row, run, proxy):
    """The name of what became of a row."""
    if run.crash is not None or proxy.fault is not None:
        return "crashed"
    if proxy.changes == 0:
        return "unreached" if run.test is None else "disturbed"
    if row.allowed:
        return "passed" if run.test is None else "false alarm"
    return "missed" if run.test is None else "noticed"


async def run_row(row, target, variables=None):
    """Runs the suite against the target with one change; also returns the run."""
    start = time.monotonic()
    async with Proxy(row, target.keys, *target.addresses) as proxy:
        run = await suite.run_suite({**target.variables(*proxy.urls), **(variables or {})})
        outcome = judged(row, run, proxy)
    text = proxy.fault or run.crash or run.text
    return Outcome(row.id, outcome, run.test, text, proxy.changes, proxy.requests,
                   round(time.monotonic() - start, 2)), run


async def run_rows(rows, target, identity):
    """Runs rows, a few at a time, and says which don't come out well."""
    waiting, outcomes = asyncio.Semaphore(AT_ONCE), []

    async def one(row):
        async with waiting:
            outcome, run = await run_row(row, target)
        outcome.skips = sorted({reason for test, reason in run.skipped.items() if test not in identity.skipped})
        outcomes.append(outcome)
        if outcome.outcome not in ("noticed", "passed"):
            told = [f": {outcome.test}: {outcome.text[:300]}"] if outcome.text else []
            told += [f" (skipped: {reason})" for reason in outcome.skips]
            say(f"{outcome.outcome}: {row.id}: {row.change}{''.join(told)}")
        if len(outcomes) % 200 == 0:
            say(f"{target.name}: {len(outcomes)} of {len(rows)} rows")
    await asyncio.gather(*map(one, rows))
    return sorted(outcomes, key=lambda outcome: outcome.row)


async def check_identity(target):
    """The run without a change, which has to pass; returns it."""
    outcome, run = await run_row(IDENTITY, target)
    if run.test is not None or run.crash is not None or outcome.outcome == "crashed":
        raise SystemExit(f"contract-mutations: {target.name}: the suite fails without a change: {outcome.test}: {outcome.text}")
    say(f"{target.name}: without a change {run.tests} test cases pass with {outcome.requests} requests "
        f"in {outcome.seconds} s, {len(run.skipped)} tests are skipped")
    return run


def applicable(rows, target):
    return [row for row in rows if row.needs <= target.properties]


def summary(target, rows, outcomes, seconds):
    """The lines at the end of a target's run."""
    allowed_rows = {row.id for row in rows if row.allowed}
    found = Counter(outcome.outcome for outcome in outcomes if outcome.row not in allowed_rows)
    good = Counter(outcome.outcome for outcome in outcomes if outcome.row in allowed_rows)
    others = {name: count for name, count in (found + good).items() if name not in ("noticed", "missed", "passed", "false alarm")}
    more = "".join(f", {count} {name}" for name, count in sorted(others.items()))
    return (f"{target.name}: noticed {found['noticed']} of {found.total()} wrong, {good['false alarm']} of {good.total()} "
            f"allowed noticed{more}, {seconds:.0f} s")


async def run_target(target, options):
    """Runs a target's rows; returns its part of the report."""
    generated, left_out = generate(target.description())
    rows = chosen([*generated, *(row for theme in THEMES for row in theme.rows)], options)
    run = await check_identity(target)
    selected = applicable(rows, target)
    if options.spread:
        selected = spread(selected, options.target or list(TARGETS), target.name)
    start = time.monotonic()
    outcomes = await run_rows(selected, target, run)
    say(summary(target, selected, outcomes, time.monotonic() - start))
    if options.without_expect:
        missed = {outcome.row for outcome in outcomes if outcome.outcome == "missed"}
        await tell_reasons(target, run, [row for row in selected if row.id in missed])
    return {"outcomes": [asdict(outcome) for outcome in outcomes], "skipped": run.skipped,
            "notApplicable": sorted(row.id for row in rows if row not in selected), "leftOut": left_out}


async def tell_reasons(target, run, missed):
    """Why rows aren't noticed without known places: what is skipped, and whether a strict suite notices."""
    for reason, count in Counter(run.skipped.values()).most_common():
        say(f"{target.name}: {count} tests skipped: {reason}")
    strictly = {"POI_CONTRACT_STRICT": "true"}
    strict, _ = await run_row(IDENTITY, target, strictly)
    if strict.outcome != "unreached":
        say(f"{target.name}: strict, the suite fails without a change: {strict.test}: {strict.text}")
        return
    for row in missed:
        outcome, _ = await run_row(row, target, strictly)
        say(f"{row.id}: {outcome.outcome} where the suite is strict")


async def explain(target, options):
    """Runs rows one by one, and prints the suite's words."""
    generated, _ = generate(target.description())
    rows = chosen([*generated, *(row for theme in THEMES for row in theme.rows)], options)
    for row in applicable(rows, target):
        outcome, _ = await run_row(row, target)
        say(f"{row.id}: {outcome.outcome} ({outcome.changes} of {outcome.requests} responses changed)\n"
            f"    {row.change}; hurts: {row.hurts}\n    {outcome.test}\n    {outcome.text}")


def list_rows(target, options):
    """Prints a table of all rows, and what has none."""
    generated, left_out = generate(target.description())
    rows = chosen([*generated, *(row for theme in THEMES for row in theme.rows)], options)
    say("| id | change | hurts | allowed | needs |\n|---|---|---|---|---|")
    for row in rows:
        cells = [row.id, row.change, row.hurts, "yes" if row.allowed else "no", ", ".join(sorted(row.needs))]
        say("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    say(f"\n{len(rows)} rows: {sum(row.id.startswith('generated/') for row in rows)} generated, "
        f"{sum(not row.allowed and not row.id.startswith('generated/') for row in rows)} written by hand, "
        f"{sum(row.allowed for row in rows)} allowed\n\nLeft out:")
    for what, why in left_out:
        say(f"- {what}: {why}")


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="contract-mutations", description=__doc__)
    parser.add_argument("--target", choices=TARGETS, action="append", help="a target; all without it")
    parser.add_argument("--rows", metavar="PATTERN", help="rows whose id has this part, or matches this pattern")
    parser.add_argument("--share", metavar="K/N", type=share_of, help="the Kth of N parts of the rows; commit/N: that of the commit")
    parser.add_argument("--spread", action="store_true", help="each row at one of the targets, which the commit chooses")
    parser.add_argument("--list", action="store_true", help="print the rows, and run none")
    parser.add_argument("--explain", metavar="ROW", help="run a row, and print what the suite says")
    parser.add_argument("--without-expect", action="store_true", help="the suite knows nothing of foreign places")
    parser.add_argument("--without-keys", action="store_true", help="no target has keys")
    return parser.parse_args(arguments)


def has_failed(part):
    return any(outcome["outcome"] not in ("noticed", "passed") for outcome in part["outcomes"])


def run_one(target, options):
    """What the options ask of a target; returns its part of the report, if it has one."""
    if options.list:
        return list_rows(target, options)
    if options.explain:
        return asyncio.run(explain(target, options))
    return asyncio.run(run_target(target, options))


def main(arguments):
    options = parsed(arguments)
    names = options.target or (["seed"] if options.list or options.explain else list(TARGETS))
    os.environ["POI_BINARY"] = str(built("poi", "POI_BINARY"))
    if not options.list:
        suite.build()
    report, data = {}, None
    with contextlib.ExitStack() as stack:
        for name in names:
            if issubclass(TARGETS[name], Foreign) and data is None:
                data = stack.enter_context(ForeignData(not options.without_expect))
            with TARGETS[name](not options.without_keys, data) as target:
                report[name] = run_one(target, options)
    parts = {name: part for name, part in report.items() if part is not None}
    if parts:
        REPORT.write_text(json.dumps(parts, indent=1) + "\n")
    return 1 if any(map(has_failed, parts.values())) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
