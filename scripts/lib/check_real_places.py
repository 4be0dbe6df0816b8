"""The other half of check-real-places: loads the places, starts the server, asks it, and compares.

    questions   random questions, and second pages by their Link: no response differs from brute force, none is 5xx
    buffers     what each of the costliest requests reads, by the statistics of PostgreSQL's tables
    load        the times of plain nearest requests at a fixed rate, without and with eight clients that send the
                costliest requests as fast as they are answered
"""

import csv
import gc
import http.client
import json
import math
import multiprocessing
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy

from real_places import CROWDED_SPOT, MILLION, Questions, all_places
from real_places_requests import CLIENTS, RATE, ask_at_rate, ask_in_a_row, get, target_of
from real_places_truth import Truth, fault_of
from scratch_postgres import ScratchPostgres

ROOT = Path(__file__).resolve().parent.parent.parent
PLACES = int(os.environ.get("POI_CHECK_PLACES", MILLION))
QUESTIONS = int(os.environ.get("POI_CHECK_QUESTIONS", 26_000))
SECONDS = int(os.environ.get("POI_CHECK_SECONDS", 60))
SECOND_PAGES = 3_649 / 26_000
BLOCK = 100
LONDON, PARIS, TOKYO, OCEAN = (51.5074, -0.1278), (48.8566, 2.3522), (35.6762, 139.6503), (-48.876, -123.393)
# 2 % of what the costliest request read before words had a bounded cost, 199,151 buffers.
BUFFERS = 4_000
COSTLIEST = [
    ("hotel istanbul, from Paris", PARIS, {"q": "hotel istanbul"}, BUFFERS),
    ("crown pub, in London", LONDON, {"q": "crown pub"}, BUFFERS),
    ("crown pub, in Tokyo", TOKYO, {"q": "crown pub"}, BUFFERS),
    ("crown pub, from an ocean", OCEAN, {"q": "crown pub"}, BUFFERS),
    ("restaurant of town, from Paris", PARIS, {"q": "restaurant", "category": ["town"]}, 6_000),
    ("cafe of three categories, 100 on one point", CROWDED_SPOT,
     {"q": "cafe", "category": ["memorial", "town", "park"], "limit": 100}, BUFFERS),
    ("a, from an ocean", OCEAN, {"q": "a"}, BUFFERS),
    ("school, in London", LONDON, {"q": "school"}, BUFFERS),
    ("museum pub, which never meet, from Paris", PARIS, {"q": "museum pub"}, BUFFERS),
    ("school, featured, from an ocean", OCEAN, {"q": "school", "featured": True}, BUFFERS),
]


class State:
    """What the processes that ask have from the one that started them, by fork."""

    port: int
    truth: Truth
    questions: Questions


def say(text):
    print(f"check-real-places: {text}", flush=True)


def load(postgres, places):
    """Stores the places in the order of space, and returns their ids."""
    with tempfile.NamedTemporaryFile("w", newline="", encoding="utf-8") as rows, tempfile.NamedTemporaryFile() as ids:
        csv.writer(rows).writerows(
            (number, place.name, place.category, repr(place.latitude), repr(place.longitude), place.featured)
            for number, place in enumerate(places))
        rows.flush()
        script = f"""
            CREATE TEMPORARY TABLE place (
                number bigint, name text, category text, latitude float8, longitude float8, featured boolean);
            \\copy place FROM '{rows.name}' (FORMAT csv)
            INSERT INTO locations
                    (name, category, latitude, longitude, featured, source_dataset, source_id, source_license)
                SELECT name, category, latitude, longitude, featured, 'real-places', number, 'CC-BY-4.0'
                FROM place ORDER BY location_point(latitude, longitude), number;
            VACUUM ANALYZE;
            CHECKPOINT;
            \\copy (SELECT source_id, id FROM locations) TO '{ids.name}' (FORMAT csv)
        """
        with tempfile.NamedTemporaryFile("w") as file:
            file.write(script)
            file.flush()
            postgres.psql(postgres.database, "--file", file.name)
        pairs = numpy.loadtxt(ids.name, dtype=numpy.int64, delimiter=",")
    return pairs[numpy.argsort(pairs[:, 0]), 1]


class Service:
    """A `poi serve` at its defaults, from `with` to its end."""

    def __init__(self, postgres):
        self.settings = {
            "DATABASE_URL": postgres.url("poi_serve"), "POI_EVENTS_DATABASE_URL": postgres.url("poi_events"),
            "PORT": "0", "POI_ADMIN_PORT": "off", "POI_ACCESS_LOG": "false"}

    def __enter__(self):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [os.environ["POI_BINARY"], "serve"], cwd=ROOT, stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=os.environ | self.settings)
        for line in self.process.stdout:
            if line.startswith("serving http://"):
                self.port = int(line.rsplit(":", 1)[1])
                return self
        self.log.seek(0)
        raise SystemExit(f"check-real-places: the server did not start\n{self.log.read()}")

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait() != 0 and kind is None:
            raise SystemExit(f"check-real-places: the server ended with {self.process.returncode}")


@dataclass
class Tally:
    questions: int = 0
    second_pages: int = 0
    places: int = 0
    statuses: Counter = field(default_factory=Counter)
    faults: list = field(default_factory=list)

    def add(self, other):
        for name in ("questions", "second_pages", "places", "statuses", "faults"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


def ask_block(number):
    """Asks a block of questions, each compared with brute force, and follows some to their second pages."""
    tally = Tally()
    second_pages = int((number + 1) * BLOCK * SECOND_PAGES) - int(number * BLOCK * SECOND_PAGES)
    connection = http.client.HTTPConnection("127.0.0.1", State.port, timeout=300)
    for question in map(State.questions.__getitem__, range(number * BLOCK, min((number + 1) * BLOCK, QUESTIONS))):
        target, wanted, shown = target_of(question), question["limit"], []
        status, body, following = get(connection, target)
        tally.questions += 1
        tally.statuses[status] += 1
        if status == 200 and following and tally.second_pages < second_pages:
            shown, wanted = json.loads(body), 2 * wanted
            target, (status, body, following) = following, get(connection, following)
            tally.second_pages += 1
            tally.statuses[status] += 1
        if status == 200:
            shown += json.loads(body)
            tally.places += len(shown)
            fault = fault_of(question, shown, wanted, following is not None, State.truth)
        else:
            fault = f"{status} {body.decode()}"
        if fault:
            tally.faults.append(f"{target} {question}: {fault}")
    return tally


def check_questions(service, truth, seed):
    """Returns what is wrong. The processes that ask get the truth by fork."""
    State.port, State.truth, State.questions = service.port, truth, Questions(truth.places, truth.words, seed)
    gc.freeze()
    start, tally = time.monotonic(), Tally()
    with multiprocessing.get_context("fork").Pool() as pool:
        for part in pool.imap_unordered(ask_block, range(math.ceil(QUESTIONS / BLOCK))):
            tally.add(part)
            if tally.questions % 2_000 == 0:
                say(f"{tally.questions} questions, {len(tally.faults)} faults, {time.monotonic() - start:.0f} s")
    for fault in tally.faults[:20]:
        say(fault)
    failed = tally.statuses.total() - tally.statuses[200]
    say(f"{tally.questions} questions and {tally.second_pages} second pages with {tally.places} places, compared with "
        f"brute force over {len(truth.places)}: {len(tally.faults) - failed} differ, {failed} failed; statuses "
        f"{dict(tally.statuses)}; seed {seed}, {time.monotonic() - start:.0f} s")
    return [f"{len(tally.faults)} of {tally.questions} questions"] if tally.faults else []


def buffers_read(postgres):
    return int(postgres.psql(
        postgres.database, "--no-align", "--tuples-only", "--command",
        "SELECT sum(coalesce(heap_blks_read + heap_blks_hit, 0) + coalesce(idx_blks_read + idx_blks_hit, 0)"
        " + coalesce(toast_blks_read + toast_blks_hit, 0) + coalesce(tidx_blks_read + tidx_blks_hit, 0))"
        " FROM pg_statio_user_tables WHERE relname <> 'schema_migrations'"))


def settled_buffers(postgres):
    """All buffers read so far: a session tells what it has read at the latest when it has been idle for 10 s."""
    begin = since = time.monotonic()
    last = buffers_read(postgres)
    while time.monotonic() < since + 11:
        if time.monotonic() > begin + 180:
            raise SystemExit("check-real-places: something keeps reading the tables")
        time.sleep(0.5)
        now = buffers_read(postgres)
        # The service itself looks at a row now and then.
        if now > last + 4:
            since = time.monotonic()
        last = now
    return last


def costliest_question(center, parameters):
    return {"limit": 20, "lat": center[0], "long": center[1]} | parameters


def check_buffers(service, truth, postgres):
    """Returns what is wrong."""
    faults = []
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=300)
    print("| request | places that match | status | ms | buffers | bound |\n|---|---|---|---|---|---|")
    before = settled_buffers(postgres)
    for name, center, parameters, bound in COSTLIEST:
        question = costliest_question(center, parameters)
        start = time.monotonic()
        status, body, following = get(connection, target_of(question))
        duration = time.monotonic() - start
        after = settled_buffers(postgres)
        print(f"| {name} | {len(truth.matching(question)):,} | {status} | {duration * 1000:.0f} | {after - before:,} "
              f"| {bound:,} |", flush=True)
        if status != 200:
            faults.append(f"{name}: {status}")
        elif fault := fault_of(question, json.loads(body), question["limit"], following is not None, truth):
            faults.append(f"{name}: {fault}")
        if after - before > bound:
            faults.append(f"{name}: {after - before} buffers, more than {bound}")
        before = after
    return faults


def report(name, measured):
    """Prints times and statuses; returns the 99th percentile."""
    times, statuses = measured
    half, most = (float(numpy.percentile(times, share)) * 1000 for share in (50, 99))
    print(f"| {name} | {len(times):,} | {dict(statuses)} | {half:.2f} | {most:.2f} |", flush=True)
    return most


def check_load(service, places, seed):
    """Returns what is wrong. The processes that ask are new ones, and there before anything is measured."""
    generator = random.Random(f"load {seed}")
    targets = [
        target_of({"lat": place.latitude, "long": place.longitude}) for place in generator.sample(places, 1_000)]
    costliest = [target_of(costliest_question(center, parameters)) for _, center, parameters, _ in COSTLIEST]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        list(pool.map(time.sleep, [2, 2]))
        say(f"the load average of the last minute, before anything is measured: {os.getloadavg()[0]:.1f}")
        pool.submit(ask_at_rate, service.port, targets, 1_000 // RATE).result()
        quiet = pool.submit(ask_at_rate, service.port, targets, SECONDS).result()
        load = pool.submit(ask_in_a_row, service.port, costliest, SECONDS + 1)
        disturbed = pool.submit(ask_at_rate, service.port, targets, SECONDS).result()
        load = load.result()
    print("| requests | number | statuses | p50 in ms | p99 in ms |\n|---|---|---|---|---|")
    alone = report("plain nearest, alone", quiet)
    beside = report(f"plain nearest, beside {CLIENTS} clients", disturbed)
    report(f"the costliest, {CLIENTS} clients", load)
    say(f"p99 beside the costliest is {beside / alone:.2f} times that alone; seed {seed}")
    faults = [f"plain nearest: p99 is {beside / alone:.2f} times as long"] if beside > 2 * alone else []
    for name, (_, statuses) in [("plain nearest", quiet), ("plain nearest", disturbed), ("the costliest", load)]:
        if set(statuses) != {200}:
            faults.append(f"{name}: {dict(statuses)}")
    return faults


def main(parts):
    if unknown := set(parts) - {"questions", "buffers", "load"}:
        raise SystemExit(f"check-real-places: unknown part {' '.join(unknown)}")
    seed = os.environ.get("POI_CHECK_SEED", str(random.randrange(1 << 32)))
    places, faults = all_places(PLACES), []
    passwords = {role: secrets.token_hex(16) for role in ("poi_migrate", "poi_serve", "poi_events")}
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", passwords) as postgres:
        subprocess.run(
            [os.environ["POI_BINARY"], "migrate", "up"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
            env=os.environ | {"DATABASE_URL": postgres.url("poi_migrate")})
        start = time.monotonic()
        truth = Truth(places, load(postgres, places))
        foreign = sum(not place.name.isascii() for place in places) / len(places)
        say(f"{len(places)} places loaded, {foreign:.0%} of the names not ASCII, {time.monotonic() - start:.0f} s")
        with Service(postgres) as service:
            if "questions" in parts:
                faults += check_questions(service, truth, seed)
            if "buffers" in parts:
                faults += check_buffers(service, truth, postgres)
            if "load" in parts:
                faults += check_load(service, places, seed)
    for fault in faults:
        say(f"FAILED: {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["questions", "buffers", "load"]))
