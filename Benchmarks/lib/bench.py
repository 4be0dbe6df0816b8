"""Runs what Benchmarks/run measures, and writes the results as JSON; see Benchmarks/run and Documentation/performance.md."""

import argparse
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

import data
import report
import sections
from processes import Child
from servers import ROOT, Database, versions


def read_options():
    parser = argparse.ArgumentParser(
        prog="Benchmarks/run", description="Measures the server beside others, on this machine, and prints the ratios.")
    add = parser.add_argument
    add("--quick", action="store_true", help="a few minutes: few places, short rounds; the documentation stays as it is")
    add("--rounds", type=int, help="rounds of each side (full: 5, quick: 3)")
    add("--seconds", type=int, help="seconds of a round (full: 4, quick: 1)")
    add("--places", type=int, help="places in the comparison (full: 1000000, quick: 50000)")
    add("--sizes", help="numbers of places for the cost by number, or none (full: 10000,100000,towns,1000000,10000000)")
    add("--only", help=f"a list of sections ({','.join(sections.ALL)}); the documentation stays as it is")
    options = parser.parse_args()
    quick = options.quick
    # A full run's results are for the documentation; any other run leaves these, and it, as they are.
    options.is_full = not quick and not options.only
    options.results = ROOT / f".build/benchmarks/{'results' if options.is_full else 'part'}.json"
    options.rounds = options.rounds or (3 if quick else 5)
    options.seconds = options.seconds or (1 if quick else 4)
    options.places = options.places or (50_000 if quick else 1_000_000)
    sizes = options.sizes or ("1000,10000" if quick else "10000,100000,towns,1000000,10000000")
    options.sizes = read_sizes(sizes, options.places)
    options.only = options.only.split(",") if options.only else list(sections.ALL)
    if unknown := set(options.only) - set(sections.ALL):
        parser.error(f"no such section: {', '.join(unknown)}")
    return options


def read_sizes(text, places):
    """Numbers of made places, with that of the comparison among them; None stands for the towns themselves."""
    if text == "none":
        return [places]
    words = text.split(",")
    sizes = sorted({int(word) for word in words if word != "towns"} | {places})
    return sizes + [None] * ("towns" in words)


def machine():
    """What the figures depend on."""
    def field(path, name):
        for line in Path(path).read_text().splitlines():
            if line.startswith(name):
                return line.split(":", 1)[1].strip()
        return "?"
    release = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return {
        "processor": field("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
        "memory_bytes": int(field("/proc/meminfo", "MemTotal").split()[0]) * 1024, "kernel": os.uname().release,
        "system": release["PRETTY_NAME"].strip('"')}


class Bench:
    """What the sections share: options, programs, the database, the centres, and the results so far."""

    def __init__(self, options, work):
        self.options, self.work = options, work
        self.poi, self.load = os.environ["POI_BINARY"], os.environ["LOAD_BINARY"]
        self.failures = 0
        self.results = {
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"), "quick": options.quick,
            "commit": os.environ.get("BENCHMARK_COMMIT", "?"), "command": " ".join(["Benchmarks/run", *sys.argv[1:]]),
            "rounds": options.rounds, "seconds": options.seconds, "places": options.places,
            "machine": machine()}
        self.say("reading the towns")
        self.towns = data.Towns()
        self.centres = data.centres(self.towns, 4096, seed=1)
        self.database = Database(self.poi, work, self.results["machine"]["memory_bytes"])
        self.results["versions"] = versions(self.database)

    def say(self, text):
        print(f"== {datetime.datetime.now():%H:%M:%S} {text}", flush=True)

    def file(self, name):
        return Path(self.work, name)

    def save(self):
        self.options.results.parent.mkdir(parents=True, exist_ok=True)
        self.options.results.write_text(json.dumps(self.results, indent=1) + "\n")

    def attempt(self, name, measure):
        """Runs a section and keeps what it returns. If it fails, the others are measured all the same."""
        if name.split(" ")[0] not in self.options.only:
            return
        self.say(name)
        try:
            measure()
        except Exception:
            self.note_failure(name)
        self.save()

    def note_failure(self, name):
        self.failures += 1
        self.results.setdefault("failed", {})[name] = traceback.format_exc(limit=-1).splitlines()[-1]
        traceback.print_exc()


def run(bench):
    """Each number of places has a database of its own, which is dropped as soon as it has been measured."""
    for size in bench.options.sizes:
        name = f"places_{size or 'towns'}"
        bench.say(f"loading {size or 'the towns as'} places")
        start = time.monotonic()
        bench.database.create(name)
        rows = data.made_places(bench.towns, size, seed=1) if size else data.real_places(bench.towns)
        count = data.load(bench.database, name, rows)
        bench.say(f"loaded {count} in {time.monotonic() - start:.0f} s")
        try:
            sections.measure_size(bench, name, count, is_compared=size == bench.options.places)
        except Exception:
            bench.note_failure(name)
        finally:
            bench.database.drop(name)
        bench.save()


def main():
    # An end by a signal is one in order: the servers stop.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = read_options()
    work = tempfile.mkdtemp(prefix="poi-bench.", dir="/tmp")
    os.chmod(work, 0o755)  # PostgreSQL runs as another user, if we are root.
    try:
        bench = Bench(options, work)
        run(bench)
    finally:
        Child.stop_all()
        shutil.rmtree(work, ignore_errors=True)
    print(report.shown(bench.results))
    print(f"benchmark: the results are in {options.results}")
    if options.is_full:
        subprocess.run([ROOT / "Benchmarks/report"], check=True)
    sys.exit(1 if bench.failures else 0)


if __name__ == "__main__":
    main()
