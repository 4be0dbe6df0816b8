"""Servers that keep their places in a folder (POI_INDEX_DIR) start without the database: behind the shipped HAProxy no restart
loses a read. A kill leaves a whole file or none, and of a damaged one no wrong place is served."""

import json
import shutil
import struct
import threading
import time
from collections import Counter
from contextlib import ExitStack

import pytest

from cluster_load import INSERT_PLACES, TARGET, latitude, state_of
from loads import PLACES_SQL
from processes import running, wait_for
from psql import psql
from scratch_postgres import free_port
from servers import Client, Server
from service_database import migrate
from shipped_haproxy import copy_haproxy

pytestmark = pytest.mark.alone

# So many that a file takes a while to write.
PLACES = 20_000
# What shows none of the places that `change` changes.
OTHERS = ["/locations?lat=51&long=0&limit=100", "/locations?lat=1&long=2&limit=20&q=place+00000007",
          "/locations?lat=-30&long=140&limit=50&category=cafe", "/locations/77", "/categories"]
UNREACHABLE = "postgresql://poi_serve:none@127.0.0.1:{}/points_of_interest"


def sizes(ci, soak):
    return pytest.param(ci, marks=pytest.mark.ci), pytest.param(soak, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])


def keeping(poi, folder, database=None, settings=None, **options):
    """A server that keeps its places in a folder, before a database or none."""
    return Server(poi, database.url("poi_serve") if database else UNREACHABLE.format(free_port()),
                  settings={"POI_INDEX_DIR": str(folder), "POI_LOOPS": "1", **(settings or {})}, **options)


def says(server, *events):
    return any(f'"event":"{event}"' in server.log.read_text() for event in events)


def wait_for_file(server):
    wait_for(lambda: says(server, "index-file-written"), 60, "a file")


def change(database, state):
    """Commits a state of the places that `state_of` looks at."""
    psql(database.url("poi_migrate"), f"UPDATE locations SET name = 'State {state}', latitude = {latitude(state)} "
                                      "WHERE name LIKE 'State %'")


def bodies(server, targets):
    return [server.get(target).read() for target in targets]


@pytest.fixture
def places(poi, database):
    """A database with many places, some of them in a state."""
    migrate(poi, database.url("poi_migrate"))
    psql(database.url("poi_migrate"), PLACES_SQL.format(PLACES) + INSERT_PLACES)
    return database


# Restarts

class Readers:
    """As a context manager: clients that read all the time. At its end `responses` has how often there was each status and
    body, stale or not."""

    def __init__(self, port, count):
        self.port, self.is_over, self.counts = port, threading.Event(), [Counter() for _ in range(count)]
        self.threads = [threading.Thread(target=self.read, args=(counts,)) for counts in self.counts]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        self.responses = sum(self.counts, Counter())

    def read(self, counts):
        client = Client(self.port)
        while not self.is_over.wait(0.002):
            status, headers, body = client.request("GET", TARGET)
            counts[status, body, "Poi-Stale-Seconds" in headers] += 1


def start_haproxy(servers, folder, stack):
    """The port of an HAProxy with its shipped file before these servers."""
    port = free_port()
    command = [*copy_haproxy(folder, [server.port for server in servers]), "haproxy.cfg"]
    stack.enter_context(running(command, folder / "haproxy.log", {"POI_LISTEN": f"127.0.0.1:{port}"}))
    wait_for(lambda: Client(port).request("GET", TARGET)[0] == 200, 60, "a balancer responds")
    return port


def is_stale(server):
    return "Poi-Stale-Seconds" in Client(server.port).request("GET", TARGET)[1]


def test_restarts_without_the_database_lose_no_read(poi, places, tmp_path):
    # Longer than HAProxy takes to notice that a server stops; and places count as stale after a second.
    settings = {"POI_DRAIN_DELAY": "3s", "POI_MAX_REPLICA_LAG": "1s"}
    with ExitStack() as stack:
        servers = [keeping(poi, tmp_path / str(number), places, settings=settings, port=free_port()) for number in range(3)]
        runs = {server: stack.enter_context(ExitStack()) for server in servers}
        for server, run in runs.items():
            run.enter_context(server)
            wait_for_file(server)
        port = start_haproxy(servers, tmp_path, stack)
        with Readers(port, count=4) as readers:
            places.stop()
            for _ in range(3):
                for server, run in runs.items():
                    run.close()
                    run.enter_context(server)
            wait_for(lambda: all(is_stale(server) for server in servers), 60, "stale places")
            places.start()
            change(places, 1)
            wait_for(lambda: all(state_of(server.get(TARGET).read()) == 1 and not is_stale(server) for server in servers), 60,
                     "the newest places")
        assert all(says(server, "index-file-read") and not says(server, "index-loaded") for server in servers)
    stale = sum(count for (_, _, is_stale), count in readers.responses.items() if is_stale)
    print(f"{readers.responses.total()} reads, {stale} of them stale")
    failed = {response: count for response, count in readers.responses.items()
              if response[0] != 200 or not isinstance(state_of(response[1]), int)}
    assert stale and not failed


def test_what_became_of_removed_places_is_known_without_the_database(poi, places, tmp_path):
    folder = tmp_path / "places"

    def responses(server):
        client = Client(server.port)
        found = [client.request("GET", target) for target in ("/locations/5", "/locations/6?lat=1&long=2", "/locations/987654321")]
        items = json.loads(server.get("/locations?ids=5,6,8").read())
        return ([(status, headers.get("Location")) for status, headers, _ in found],
                [(place["id"], place.get("mergedFrom")) for place in items])

    expected = ([(410, None), (308, "7?lat=1&long=2"), (404, None)], [(7, [6]), (8, None)])
    with keeping(poi, folder, places) as server:
        wait_for_file(server)
        psql(places.url("poi_migrate"), "SELECT remove_place(5, NULL, 'anna'); SELECT merge_places(6, 7, NULL, NULL, 'anna')")
        wait_for(lambda: responses(server) == expected, 60, "the changes")
        # By poi_serve, from the table.
        with Server(poi, places.url("poi_serve"), settings={"POI_INDEX": "off", "POI_LOOPS": "1"}) as other:
            assert responses(other) == expected
    with keeping(poi, folder) as server:
        assert responses(server) == expected


# Kills

@pytest.mark.parametrize("kills", sizes(20, 500))
def test_a_kill_at_any_moment_of_writing_leaves_a_file_or_none(poi, places, tmp_path, random_source, kills):
    folder, moments, outcomes = tmp_path / "places", {}, Counter()
    # When a file is written in an empty folder, and beside a file of the state before.
    for old in range(2):
        change(places, old)
        with keeping(poi, folder, places, is_awaited=False) as server:
            started = time.monotonic()
            wait_for_file(server)
            moments[old == 1] = time.monotonic() - started
            others = bodies(server, OTHERS)
    for new in range(2, kills + 2):
        change(places, new)
        if new % 3 == 0:
            shutil.rmtree(folder, ignore_errors=True)
            old = None
        started, had_file = time.time(), old is not None
        with pytest.raises(RuntimeError, match="ended with -9"), keeping(poi, folder, places, is_awaited=False) as server:
            time.sleep(max(0, moments[had_file] * random_source.gauss(1, 0.1)))
            server.process.kill()
        outcomes["in the middle"] += any(file.stat().st_mtime > started for file in folder.glob("*.partial"))
        has_file = any(folder.glob("*.index"))
        assert has_file or not had_file
        with keeping(poi, folder, is_awaited=has_file) as server:
            if has_file:
                state = state_of(server.get(TARGET).read())
                assert state in (old, new) and bodies(server, OTHERS) == others, f"round {new}, which began with {old}: {state}"
                outcomes["old" if state == old else "new"] += 1
                old = state
            else:
                wait_for(lambda: says(server, "database-unreachable"), 60, "the database's absence")
                assert server.process.poll() is None and not server.is_ready()
                outcomes["none"] += 1
        # So that half of the kills come too early, however busy the machine is.
        moments[had_file] *= 0.9 if old == new else 1.1
    print(f"{kills} kills: {dict(outcomes)}")


# Damage

# Where the format's number is in a file, and where its first column begins: see IndexFile.
FORMAT, FIRST_COLUMN = 8, 4096


def flip(content, source):
    first, last = source.choice([(0, len(content)), (0, FIRST_COLUMN), (0, 56), (len(content) - FIRST_COLUMN, len(content))])
    for _ in range(source.randint(1, 8)):
        content[source.randrange(first, last)] ^= source.randint(1, 255)


def cut(content, source):
    del content[source.randrange(len(content)):]


def clear(content, source):
    first = source.randrange(len(content))
    last = source.randint(first, len(content))
    content[first:last] = bytes(last - first)


def replace(content, source):
    content[:] = source.randbytes(source.randint(0, len(content)))


def reformat(content, source):
    struct.pack_into("=Q", content, FORMAT, source.randrange(2, 1 << 64))


@pytest.mark.parametrize("files", sizes(25, 500))
def test_damaged_files_are_found_and_said(poi, places, tmp_path, random_source, files):
    whole, folder, outcomes = tmp_path / "whole", tmp_path / "damaged", Counter()
    with keeping(poi, whole, places) as server:
        wait_for_file(server)
        good, (file,) = bodies(server, [TARGET, *OTHERS]), whole.glob("*.index")
    # The last one stays where it is, since another program may read it.
    kinds = [flip, cut, clear, replace, reformat]
    for number in range(files):
        kind, content = kinds[number % len(kinds)], bytearray(file.read_bytes())
        kind(content, random_source)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / file.name).write_bytes(content)
        # Places that others may write aren't read.
        (folder / file.name).chmod(0o600)
        what = f"file {number}, {kind.__name__}"
        with keeping(poi, folder, is_awaited=False) as server:
            wait_for(lambda: says(server, "index-file-refused", "index-serving") or server.process.poll() is not None, 60, what)
            assert server.process.poll() is None, f"{what}: {server.log.read_text()}"
            is_served = says(server, "index-serving")
            outcomes[f"{kind.__name__} {'served' if is_served else 'refused'}"] += 1
            if is_served:
                wait_for(server.is_ready, 60, what)
                assert bodies(server, [TARGET, *OTHERS]) == good, what
            else:
                wait_for(lambda: says(server, "database-unreachable"), 60, what)
                assert server.process.poll() is None and not server.is_ready(), what
    print(f"{files} files: {dict(outcomes)}")
    assert all(outcomes[f"{kind.__name__} refused"] for kind in kinds)
    with keeping(poi, folder, places) as server:
        assert says(server, "index-file-refused") and bodies(server, [TARGET, *OTHERS]) == good
        wait_for_file(server)
