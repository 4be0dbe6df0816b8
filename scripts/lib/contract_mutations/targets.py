"""The targets: servers with their places, keys and settings, which end with the runner."""

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
import sysconfig
import tempfile
import urllib.request
from pathlib import Path

import processes
from psql import psql
from scratch_postgres import free_port

from .foreign_places import CONTINENTS, CREDIT, LICENSE, PROPERTIES, SETTINGS, TOWNS, URL, Towns

ROOT = Path(__file__).resolve().parents[3]
ORIGINS = {"POI_CORS_ORIGINS": SETTINGS["POI_CORS_ORIGINS"]}
LIMITS = {"POI_RATE_LIMIT": "1/h", "POI_RATE_BURST": "1"}


class Programs:
    """Programs that end with it, and a folder of theirs; as a context manager they are there once `start` returns."""

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="poi-mutations-")))
        # PostgreSQL, started by root, runs as a user of its own and has to get there.
        self.folder.chmod(0o755)
        try:
            self.start()
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start(self):
        raise NotImplementedError

    def start_poi(self, name, arguments, settings):
        """Starts the server; returns its port and its log."""
        log = self.folder / f"{name}.log"
        process = processes.start([os.environ["POI_BINARY"], *arguments, "--port", "0"], log, {
            "POI_STATE_DIR": str(self.folder / "state"), "POI_ACCESS_LOG": "off", "POI_ADMIN_PORT": "off",
            "POI_MIGRATIONS_DIR": str(ROOT / "Migrations"), **settings})
        self.stack.callback(processes.end, process)

        def port():
            if process.poll() is not None:
                raise SystemExit(f"contract-mutations: the server ended with {process.returncode}\n{log.read_text()}")
            return re.search(r"^serving http://[^ ]*:(\d+)$", log.read_text(), re.MULTILINE)
        return int(processes.wait_for(port, 60, "the server's start")[1]), log

    def start_database(self, settings):
        """A database with its tables; returns its URL."""
        _, log = self.start_poi("database", ["dev"], settings)
        return re.search(r"^DATABASE_URL=(.*)$", log.read_text(), re.MULTILINE)[1]


class Target(Programs):
    """A service with what a run of the suite has to know of it."""

    name = ""

    def __init__(self, with_keys, data):
        self.with_keys, self.data = with_keys, data
        self.keys, self.environment, self.properties = {}, {}, {"origins", "limited"}

    def make_keys(self):
        """The settings of keys, different ones for data and for events."""
        if not self.with_keys:
            return {}
        self.keys = {kind: f"{kind}-{secrets.token_hex(16)}" for kind in ("data", "events")}
        self.properties.add("keys")
        return {"POI_API_KEYS": self.keys["data"], "POI_EVENTS_KEYS": self.keys["events"]}

    def serve(self, database, settings):
        """The service and its double that limits requests."""
        arguments = ["serve", "--database-url", database]
        self.port, _ = self.start_poi("service", arguments, settings)
        self.limited_port, _ = self.start_poi("limited", arguments, {**settings, **LIMITS})
        for port in (self.port, self.limited_port):
            wait_until_ready(port)

    @property
    def addresses(self):
        return [("127.0.0.1", self.port), ("127.0.0.1", self.limited_port)]

    def get(self, path):
        headers = {"Authorization": f"Bearer {self.keys['data']}"} if self.keys else {}
        return get(self.port, path, headers)

    def look(self):
        """Waits for places in memory, looks at what else there is, and uses the request that the limit leaves."""
        processes.wait_for(lambda: self.get("/locations/clusters?zoom=0&bbox=-180,-90,180,90"), 120, "places in memory")
        attributions = self.get("/attributions")
        if any(entry["count"] == 0 for entry in self.get("/categories")):
            self.properties.add("empty-categories")
        if len(attributions) > 1:
            self.properties.add("several-datasets")
        if any("credit" in entry for entry in attributions):
            self.properties.add("credits")
        if any(round(place["latitude"], 4) != place["latitude"] for place in self.get("/locations?lat=0&long=0&limit=100")):
            self.properties.add("fine-positions")
        if "POI_CONTRACT_EXPECT" not in self.environment:
            self.properties.add("undeclared")
        get(self.limited_port, "/categories", {})

    def description(self):
        return get(self.port, "/openapi.json", {})

    def variables(self, url, limited_url):
        """What the suite has in its environment."""
        keys = {}
        if self.keys:
            keys["POI_CONTRACT_KEYS"] = ",".join(f"{kind}={key}" for kind, key in self.keys.items())
        return {"POI_BASE_URL": url, "POI_CONTRACT_LIMITED_URL": limited_url, **keys, **self.environment}


class Seed(Target):
    """The seed."""

    name = "seed"
    # Places of Migrations/Seeds, with the settings below.
    known = """name,latitude,longitude,category,featured,address,website,dataset,id,license
The Tech Interactive,37.3316,-121.8901,museum,true,"201 S Market St, San José, CA",https://www.thetech.org/,\
poi-seed-san-jose,tech-interactive,CC0-1.0
San José Museum of Quilts & Textiles,37.3283,-121.8843,museum,false,"520 S 1st St, San José, CA",,\
poi-seed-san-jose,san-jose-museum-of-quilts-and-textiles,CC0-1.0
"""

    def start(self):
        self.environment["POI_CONTRACT_SEEDED"] = "true"
        known = self.folder / "known.csv"
        known.write_text("".join(f"# {name}={value}\n" for name, value in SETTINGS.items()) + self.known)
        self.environment["POI_CONTRACT_EXPECT"] = str(known)
        self.properties |= {"seeded", "declared", "accented-values", "boolean-filters", "several-filters"}
        self.serve(self.start_database({}), {**ORIGINS, **self.make_keys()})
        self.look()


class ForeignData(Programs):
    """A database with GeoNames' towns and continents, and what the suite knows of them, if anything."""

    def __init__(self, with_known):
        self.with_known = with_known

    def start(self):
        self.database = self.start_database({"POI_SEEDS": "false", "POI_INDEX": "off"})
        towns = Towns(sysconfig.get_paths()["purelib"])
        towns.write(self.folder / "towns.csv")
        towns.write_continents(self.folder / "continents.csv")
        self.import_places("towns.csv", TOWNS, "--credit", CREDIT, "--url", URL, "--properties", ",".join(PROPERTIES))
        self.import_places("continents.csv", CONTINENTS)
        psql(self.database, "INSERT INTO filterable_properties VALUES ('timezone', 'text')")
        towns.write_known(self.folder / "known.csv")

    def import_places(self, file, dataset, *options):
        done = subprocess.run(
            [os.environ["POI_BINARY"], "import", str(self.folder / file), "--dataset", dataset, "--license", LICENSE, "--id",
             "id", "--add-categories", "--database-url", self.database, *options], capture_output=True, text=True, check=False)
        if done.returncode != 0 or "rejected 0" not in done.stdout + done.stderr:
            raise SystemExit(f"contract-mutations: {file} isn't imported\n{done.stdout}{done.stderr}")


class Foreign(Target):
    """Those places."""

    name = "foreign"

    def start(self):
        if self.data.with_known:
            self.environment["POI_CONTRACT_EXPECT"] = str(self.data.folder / "known.csv")
            self.properties.add("declared")
        self.serve(self.data.database, self.settings())
        self.look()

    def settings(self):
        return ORIGINS


class ForeignKeys(Foreign):
    """The same places with keys, behind the HAProxy of deploy/."""

    name = "foreign-keys"

    def settings(self):
        return {**ORIGINS, **self.make_keys(), "POI_TRUSTED_PROXIES": "127.0.0.1"}

    def serve(self, database, settings):
        super().serve(database, settings)
        shutil.copytree(ROOT / "deploy/haproxy", self.folder / "haproxy")
        balanced = free_port()
        process = processes.start(
            ["haproxy", "-W", "-db", "-f", self.folder / "haproxy/haproxy.cfg"], self.folder / "haproxy.log", {
                "POI_LISTEN": f"127.0.0.1:{balanced}", "POI_BACKEND": f"127.0.0.1:{self.port}", "POI_BACKEND_SLOTS": "1",
                # An address takes no DNS.
                "POI_RESOLVER": "127.0.0.1:53"})
        self.stack.callback(processes.end, process)
        self.port = balanced
        wait_until_ready(balanced)


TARGETS = {target.name: target for target in (Seed, Foreign, ForeignKeys)}


def get(port, path, headers):
    """A document of a server; None where the response isn't 200."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)
    except OSError:
        return None


def wait_until_ready(port):
    processes.wait_for(lambda: get(port, "/readyz", {}), 120, "a server that is ready")
