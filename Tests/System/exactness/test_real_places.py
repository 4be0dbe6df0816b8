"""A server that has a million places with real names, all over the world, in memory: every response is that of brute force,
also of the costliest requests that are known, and plain nearest requests hardly notice those. See Documentation/testing.md.

Takes eight minutes and 3 GB of memory; POI_TEST_REAL_PLACES and POI_TEST_REAL_QUESTIONS make it shorter.
"""

import csv
import gc
import json
import math
import multiprocessing
import os
import random
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor

import numpy
import pytest

from processes import wait_for
from real_places import CROWDED_SPOT, MILLION, Questions, all_places
from real_places_requests import ask, ask_many, target_of
from real_places_truth import Truth, fault_of
from scratch_postgres import ScratchPostgres
from seed import SEED
from servers import ROOT, Client, Server
from service_database import PASSWORDS, migrate

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3 * 3600)]
PLACES = int(os.environ.get("POI_TEST_REAL_PLACES", MILLION))
QUESTIONS = int(os.environ.get("POI_TEST_REAL_QUESTIONS", 26_000))
SECONDS = 60
# A second, from so many at a time; and those that send the costliest in a row.
RATE, SENDERS, CLIENTS = 100, 16, 8
SECOND_PAGES = 3_649 / 26_000
BLOCK = 100
LONDON, PARIS, TOKYO, OCEAN = (51.5074, -0.1278), (48.8566, 2.3522), (35.6762, 139.6503), (-48.876, -123.393)
COSTLIEST = {
    "hotel istanbul, from Paris": (PARIS, {"q": "hotel istanbul"}),
    "crown pub, in London": (LONDON, {"q": "crown pub"}),
    "crown pub, in Tokyo": (TOKYO, {"q": "crown pub"}),
    "crown pub, from an ocean": (OCEAN, {"q": "crown pub"}),
    "restaurant of town, from Paris": (PARIS, {"q": "restaurant", "category": ["town"]}),
    "cafe of three categories, 100 on one point": (
        CROWDED_SPOT, {"q": "cafe", "category": ["memorial", "town", "park"], "limit": 100}),
    "a, from an ocean": (OCEAN, {"q": "a"}),
    "school, in London": (LONDON, {"q": "school"}),
    "museum pub, which never meet, from Paris": (PARIS, {"q": "museum pub"}),
    "school, featured, from an ocean": (OCEAN, {"q": "school", "featured": True}),
}


class State:
    """What the processes that ask have from the one that started them, by fork."""

    port: int
    truth: Truth
    questions: Questions


@pytest.fixture(scope="module")
def postgres():
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", PASSWORDS) as postgres:
        yield postgres


@pytest.fixture(scope="module")
def truth(poi, postgres):
    """The places, loaded in the order of space, and what is right of them."""
    migrate(poi, postgres.url("poi_migrate"))
    # Each of the processes uses one core.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    places = all_places(PLACES)
    return Truth(places, load(postgres, places))


@pytest.fixture(scope="module")
def service(poi, postgres, truth):
    """A server at its defaults."""
    with Server(poi, postgres.url("poi_serve"), settings={"POI_EVENTS_DATABASE_URL": postgres.url("poi_events")}) as server:
        wait_for(server.is_serving_from_memory, 120, "the places in memory")
        yield server


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


def ask_block(number):
    """Asks a block of questions, each compared with brute force, and follows some to their second pages. Returns
    numbers, how often each status came, and faults."""
    counts, statuses, faults = Counter(), Counter(), []
    second_pages = int((number + 1) * BLOCK * SECOND_PAGES) - int(number * BLOCK * SECOND_PAGES)
    client = Client(State.port, timeout=300)
    for question in map(State.questions.__getitem__, range(number * BLOCK, min((number + 1) * BLOCK, QUESTIONS))):
        target, wanted, shown = target_of(question), question["limit"], []
        status, body, following = ask(client, target)
        counts["questions"] += 1
        statuses[status] += 1
        if status == 200 and following and counts["second pages"] < second_pages:
            shown, wanted = json.loads(body), 2 * wanted
            target, (status, body, following) = following, ask(client, following)
            counts["second pages"] += 1
            statuses[status] += 1
        if status == 200:
            shown += json.loads(body)
            counts["places"] += len(shown)
            fault = fault_of(question, shown, wanted, following is not None, State.truth)
        else:
            fault = f"{status} {body.decode()}"
        if fault:
            faults.append(f"{target} {question}: {fault}")
    return counts, statuses, faults


def test_every_response_is_that_of_brute_force(service, truth):
    """The processes that ask get the truth by fork."""
    State.port, State.truth, State.questions = service.port, truth, Questions(truth.places, truth.words, str(SEED))
    gc.freeze()
    counts, statuses, faults = Counter(), Counter(), []
    with multiprocessing.get_context("fork").Pool() as pool:
        for part in pool.imap_unordered(ask_block, range(math.ceil(QUESTIONS / BLOCK))):
            counts.update(part[0])
            statuses.update(part[1])
            faults += part[2]
    print(f"{dict(counts)}, compared with brute force over {len(truth.places)} places; statuses {dict(statuses)}")
    assert not faults and counts["questions"] == QUESTIONS


def costliest_question(center, parameters):
    return {"limit": 20, "lat": center[0], "long": center[1]} | parameters


@pytest.mark.parametrize("name", COSTLIEST)
def test_the_costliest_responses_are_those_of_brute_force(service, truth, name):
    question = costliest_question(*COSTLIEST[name])
    status, body, following = ask(Client(service.port), target_of(question))
    assert status == 200, body
    assert not fault_of(question, json.loads(body), question["limit"], following is not None, truth)


def test_plain_requests_hardly_notice_the_costliest(service, truth):
    """The processes that ask are new ones, and there before anything is measured. They ask from addresses of their own, since
    the clients of one share its turns at the searches that take long. Compares times: it needs a quiet machine."""
    places = random.Random(f"load {SEED}").sample(truth.places, 1_000)
    # What is measured is the server, not how long the process that asks waits for a core.
    plain = (service.port, [target_of({"lat": place.latitude, "long": place.longitude}) for place in places])
    costliest = [target_of(costliest_question(*question)) for question in COSTLIEST.values()]
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        def ask_at_rate(seconds):
            return pool.submit(ask_many, *plain, seconds, SENDERS, -10, RATE, "127.0.0.2").result()

        list(pool.map(time.sleep, [2, 2]))
        print(f"the load average of the last minute, before anything is measured: {os.getloadavg()[0]:.1f}")
        ask_at_rate(1_000 // RATE)
        quiet = ask_at_rate(SECONDS)
        # Clients are elsewhere as a rule, and take no core from the server.
        load = pool.submit(ask_many, service.port, costliest, SECONDS + 1, CLIENTS, 10)
        measured = {"alone": quiet, "beside the costliest": ask_at_rate(SECONDS), "the costliest": load.result()}
    most = {name: numpy.percentile(times, 99) for name, (times, _) in measured.items()}
    for name, (times, statuses) in measured.items():
        print(f"{name}: {len(times):,} {dict(Counter(statuses))}, p50 {numpy.percentile(times, 50) * 1000:.2f} ms, "
              f"p99 {most[name] * 1000:.2f} ms")
    assert all(set(statuses) == {200} for _, statuses in measured.values())
    assert most["beside the costliest"] <= 2 * most["alone"]
