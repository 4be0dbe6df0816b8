"""Editors of the same places at once, through several servers, while files are imported, servers killed, PostgreSQL restarted and
responses lost: what was acknowledged is there, once, and each version has one winner.

Each edit sets the property `token` to a text of its own, so that the versions of a place show which edits were done, how
often, and in which order.
"""

import csv
import json
import os
import random
import re
import signal
import subprocess
import threading
import time

import pytest

from processes import wait_for
from scratch_postgres import ScratchPostgres, free_port
from seed import SEED
from servers import ROOT, Client, Server
from service_database import PASSWORDS, migrate

pytestmark = pytest.mark.alone

CI = {"editors": 8, "places": 20, "edits": 400, "disturbances": 4}
SOAK = {"editors": 40, "places": 200, "edits": 20_000, "disturbances": 60}
PATCH = "application/merge-patch+json"


@pytest.fixture
def database():
    """An empty PostgreSQL with the service's roles, and one that edits."""
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", {**PASSWORDS, "poi_edit": "editpassword"}) as postgres:
        yield postgres


class EditedService:
    """As a context manager: servers before a database of places, and an editor's key."""

    def __init__(self, poi, database, folder, servers=2, places=20):
        self.poi, self.database, self.folder, self.places = poi, database, folder, places
        self.file = folder / "places.csv"
        made = subprocess.run([poi, "editors", "key", "anna"], capture_output=True, text=True, check=True)
        (folder / "editors").write_text(made.stdout)
        self.key = made.stderr.split()[-1]
        self.ports = [free_port() for _ in range(servers)]

    def __enter__(self):
        migrate(self.poi, self.database.url("poi_migrate"))
        first = self.import_places(0)
        assert first.returncode == 0, first.stderr
        self.servers = [self.start(port) for port in self.ports]
        return self

    def __exit__(self, *error):
        for server in self.servers:
            server.__exit__(*error)

    def start(self, port):
        server = Server(self.poi, self.database.url("poi_serve"), port=port, settings={
            "POI_EDIT_DATABASE_URL": self.database.url("poi_edit"), "POI_EDITORS_FILE": str(self.folder / "editors"),
            "POI_EDITOR_RATE_LIMIT": "1000000/s", "POI_LOOPS": "1"})
        return server.__enter__()

    def kill(self, number):
        """Ends a server at once, and starts it again."""
        server = self.servers[number]
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        server.process.stdout.close()
        self.servers[number] = self.start(server.port)

    def import_places(self, state):
        with self.file.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "name", "category", "latitude", "longitude", "address", "phone"])
            for number in range(self.places):
                writer.writerow([f"p{number}", f"Place {number}", "cafe", 1 + number / 1000, 2, f"Street {state}", f"+{state}"])
        return subprocess.run(
            [self.poi, "import", self.file, "--dataset", "edited", "--license", "CC0-1.0", "--add-categories", "--reset-options",
             "--properties", "phone", "--allow", "members,positions"], cwd=ROOT, capture_output=True, text=True,
            env={**os.environ, "DATABASE_URL": self.database.url("poi_migrate")})

    def client(self, random_source):
        return Client(random_source.choice(self.ports))

    def ask(self, client, method, target, body=None, **headers):
        content = None if body is None else json.dumps(body)
        status, fields, text = client.request(
            method, target, {"Authorization": f"Bearer {self.key}", **{name.replace("_", "-"): value for name, value in headers.items()}},
            content)
        return status, fields, json.loads(text) if text else None


class Editor(threading.Thread):
    """Edits places until there were enough edits; `done` has the place, the versions before and after and the record of each."""

    def __init__(self, service, number, edits, ids):
        super().__init__()
        self.service, self.number, self.edits, self.ids = service, number, edits, ids
        self.random = random.Random(SEED * 1000 + number)
        self.done, self.conflicts, self.lost = [], 0, 0
        self.failure = None

    def run(self):
        try:
            seen = {}
            for step in range(self.edits):
                self.edit(step, seen)
        except BaseException as error:
            self.failure = error

    def edit(self, step, seen):
        place = self.random.choice(self.ids)
        # Some know an old version only.
        if place not in seen or self.random.random() < 0.8:
            seen[place] = self.version(place)
        token = f"{self.number}-{step}"
        body = {"properties": {"token": token}, "name": f"Name {self.random.randrange(5)}"}
        while True:
            loses = self.random.random() < 0.1
            client = Client(self.random.choice(self.service.ports), timeout=0.002 if loses else 20)
            status, _, record = self.service.ask(
                client, "PATCH", f"/locations/{place}", body, If_Match=f'"{seen[place]}"', Idempotency_Key=token,
                Content_Type=PATCH)
            client.connection.close()
            if status in (200, 412):
                break
            # Nobody knows whether it was done: it is sent again with its key.
            self.lost += 1
            assert status in (0, 502, 503), (status, record)
            time.sleep(self.random.random() * 0.05)
        if status == 200:
            self.done.append((place, seen[place], record["version"], token, record))
            seen[place] = record["version"]
        else:
            self.conflicts += 1
            del seen[place]

    def version(self, place):
        while True:
            status, _, record = self.service.ask(self.service.client(self.random), "GET", f"/locations/{place}/record")
            if status == 200:
                return record["version"]
            time.sleep(0.05)


def disturb(service, steps, is_over, random_source):
    """Imports, kills servers and restarts PostgreSQL; returns how often each."""
    counts = {"imports": 0, "kills": 0, "restarts": 0}
    for step in range(steps):
        if is_over():
            break
        kind = random_source.choice(["imports", "imports", "kills", "restarts"]) if step > 2 else list(counts)[step % 3]
        if kind == "imports":
            service.import_places(step + 1)
        elif kind == "kills":
            service.kill(random_source.randrange(len(service.servers)))
        else:
            service.database.stop()
            service.database.start()
        counts[kind] += 1
    return counts


def chains(database):
    """The versions of each place in their order, as documents."""
    rows = json.loads(database.query(
        """
        SELECT json_agg(json_build_array(id, document) ORDER BY step NULLS LAST) FROM (
            SELECT id, step, place_document(version_place(location_versions)) AS document FROM location_versions
            UNION ALL SELECT id, NULL, place_document(locations) FROM locations) AS version
        """))
    result = {}
    for place, document in rows:
        result.setdefault(place, []).append(document)
    return result


def check(editors, database):
    """Each acknowledged edit made its version, from the one it had seen, once; and each version is what the response had."""
    versions = chains(database)
    successors, tokens = {}, {}
    for place, chain in versions.items():
        for before, after in zip([{"version": None, "properties": {}}, *chain], chain):
            successors[place, before["version"]] = after
            token = after["properties"].get("token")
            if token != before["properties"].get("token"):
                tokens[token] = tokens.get(token, 0) + 1
    for editor in editors:
        for place, seen, version, token, record in editor.done:
            document = successors.get((place, seen))
            assert document is not None and document["version"] == version, f"the edit {token} of place {place} is lost"
            assert document == record
            assert tokens[token] == 1, f"the edit {token} was done {tokens[token]} times"
    assert max(tokens.values()) == 1
    winners = [(place, seen) for editor in editors for place, seen, *_ in editor.done]
    assert len(winners) == len(set(winners))


@pytest.mark.parametrize("sizes", [
    pytest.param(CI, id="ci", marks=pytest.mark.ci),
    pytest.param(SOAK, id="soak", marks=[pytest.mark.soak, pytest.mark.timeout(7200)]),
])
def test_an_acknowledged_edit_is_there_once(poi, database, tmp_path, sizes):
    random_source = random.Random(SEED)
    with EditedService(poi, database, tmp_path, places=sizes["places"]) as service:
        ids = [int(line) for line in database.query("SELECT id FROM locations ORDER BY id").splitlines()]
        editors = [Editor(service, number, sizes["edits"] // sizes["editors"], ids) for number in range(sizes["editors"])]
        for editor in editors:
            editor.start()
        counts = disturb(service, sizes["disturbances"], lambda: not any(editor.is_alive() for editor in editors), random_source)
        for editor in editors:
            editor.join()
        for editor in editors:
            if editor.failure:
                raise editor.failure
        check(editors, database)
        done, conflicts, lost = (sum(numbers) for numbers in zip(
            *((len(editor.done), editor.conflicts, editor.lost) for editor in editors)))
        print(f"{done} edits, {conflicts} conflicts, {lost} without a response, {counts}")
        assert done > 0 and conflicts > 0 and lost > 0
        # The servers show the last version of each.
        for server in service.servers:
            for place, chain in chains(database).items():
                wait_for(lambda: service.ask(Client(server.port), "GET", f"/locations/{place}")[2]["version"]
                         == chain[-1]["version"], 20, f"place {place} as it is")


@pytest.mark.parametrize("edits", [
    pytest.param(20, marks=pytest.mark.ci), pytest.param(500, marks=pytest.mark.soak)])
def test_an_edit_is_served_at_once_where_it_was_made_and_soon_elsewhere(poi, database, tmp_path, edits):
    delays = []
    with EditedService(poi, database, tmp_path) as service:
        place = int(database.query("SELECT min(id) FROM locations"))
        writer, other = (Client(server.port) for server in service.servers)
        for number in range(edits):
            status, headers, record = service.ask(
                writer, "PATCH", f"/locations/{place}", {"name": f"Name {number}"}, If_Match="*", Content_Type=PATCH)
            start = time.monotonic()
            assert status == 200 and "Poi-Visible" not in headers
            assert service.ask(writer, "GET", f"/locations/{place}")[2]["version"] == record["version"]
            # Without a pause, which would count.
            while service.ask(other, "GET", f"/locations/{place}")[2]["version"] != record["version"]:
                assert time.monotonic() < start + 10
            delays.append(time.monotonic() - start)
    delays.sort()
    print(f"another server: median {delays[len(delays) // 2] * 1000:.1f} ms, p99 {delays[int(len(delays) * 0.99)] * 1000:.1f} ms")
    if edits >= 500:
        assert delays[int(len(delays) * 0.99)] <= 0.1


def test_a_page_whose_name_leads_here_edits_nothing_of_poi_dev(poi):
    with Server(poi) as server:
        key = re.search("editor's key: (.*)", server.output)[1]
        for host, status in [(f"localhost:{server.port}", 200), ("places.example", 403)]:
            headers = {"Authorization": f"Bearer {key}", "Host": host}
            assert Client(server.port).request("GET", "/locations/1/record", headers)[0] == status
            headers |= {"If-Match": "*", "Origin": f"http://{host}"}
            assert Client(server.port).request("DELETE", "/locations/1", headers)[0] == (204 if status == 200 else 403)
