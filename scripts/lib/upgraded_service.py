"""Servers of two releases behind the balancer of deploy/haproxy, on one database that has the roles of deploy/postgres."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from database_cluster import ROOT, free_ports
from processes import end, start, wait_for
from psql import psql
from scratch_postgres import ScratchPostgres

PASSWORDS = {"poi_migrate": "migratepassword", "poi_serve": "servepassword", "poi_events": "eventspassword"}
# The name that HAProxy asks the DNS for.
BACKEND = "api.test"
SERVER_COUNT = 3
# How long a server or the balancer may take to be ready, on a machine that is busy with other things.
PATIENCE = 120


@dataclass(frozen=True)
class Release:
    """A release's program, and the files that belong to it."""

    version: str
    program: Path
    root: Path

    @property
    def variables(self):
        return {"POI_MIGRATIONS_DIR": str(self.root / "Migrations")}


class Server:
    """A `poi serve`, with an address of its own."""

    def __init__(self, service, number, release):
        self.release, self.host, self.port = release, service.hosts[number], service.server_port
        service.starts += 1
        self.log = service.folder / f"server{service.starts}.log"
        self.process = start([release.program, "serve"], self.log, {
            **release.variables, "DATABASE_URL": service.database.url("poi_serve"),
            "POI_EVENTS_DATABASE_URL": service.database.url("poi_events"), "HOST": self.host, "PORT": str(self.port),
            "POI_ADMIN_PORT": "0", "POI_LOOPS": "1", "POI_TRUSTED_PROXIES": "127.0.0.1",
            # Patience with a busy machine, less than the balancer's: no failure of an upgrade.
            "POI_DB_ACQUIRE_TIMEOUT": "5s", "POI_DB_STATEMENT_TIMEOUT": "4s", "POI_REQUEST_TIMEOUT": "9s"})

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(f"a server of {self.release.version} ended: {self.log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(f"http://{self.host}:{self.port}/readyz", timeout=2) as response:
                return response.status == 200
        except OSError:
            return False

    def served_requests(self):
        """The ids of the requests that it responded to."""
        for line in self.log.read_text().splitlines():
            if '"requestId"' in line:
                yield json.loads(line)["requestId"]


class UpgradedService:
    """As a context manager: PostgreSQL with the first release's schema, its servers, DNS and balancer."""

    def __init__(self, release):
        self.release, self.starts, self.swaps = release, 0, 0
        self.servers, self.former_servers, self.helpers = [], [], []
        self.database = ScratchPostgres(release.root / "deploy/postgres/roles.sql", PASSWORDS)
        self.hosts = [f"127.0.0.{number + 2}" for number in range(SERVER_COUNT)]
        self.port, self.dns_port, self.server_port = free_ports(3)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="poi-upgrade-"))
        self.database.__enter__()
        try:
            self.migrate(self.release, "up", "--seeds")
            self.servers = [Server(self, number, self.release) for number in range(SERVER_COUNT)]
            wait_for(lambda: all(server.is_ready() for server in self.servers), PATIENCE, "the first servers")
            self.start_balancer()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self.helpers:
            end(process, signal.SIGTERM, 10)
        for server in self.servers:
            if server.process.poll() is None:
                end(server.process)
        self.database.__exit__()
        shutil.rmtree(self.folder)

    def start_balancer(self):
        names, log = self.folder / "hosts", lambda program: (self.folder / f"{program}.log").read_text()
        names.write_text("".join(f"{host} {BACKEND}\n" for host in self.hosts))
        self.helpers.append(start([
            "dnsmasq", "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
            "--pid-file=", "--user=", "--listen-address=127.0.0.1", "--bind-interfaces", f"--port={self.dns_port}",
            "--local=/test/", f"--addn-hosts={names}"], self.folder / "dnsmasq.log"))
        wait_for(lambda: f"read {names}" in log("dnsmasq"), PATIENCE, "a name server")
        self.helpers.append(start(
            ["haproxy", "-W", "-db", "-f", ROOT / "deploy/haproxy/haproxy.cfg"], self.folder / "haproxy.log", {
                "POI_LISTEN": f"127.0.0.1:{self.port}", "POI_BACKEND": f"{BACKEND}:{self.server_port}",
                "POI_RESOLVER": f"127.0.0.1:{self.dns_port}", "POI_BACKEND_SLOTS": "8"}))
        slots = [f"Server poi/api{number + 1} ('{BACKEND}') is UP/READY" for number in range(SERVER_COUNT)]
        wait_for(lambda: all(slot in log("haproxy") for slot in slots), PATIENCE, "a balancer's servers")
        wait_for(self.is_balanced, PATIENCE, "a balancer that serves")

    def is_balanced(self):
        try:
            return urllib.request.urlopen(f"{self.url}/categories", timeout=2).status == 200
        except OSError:
            return False

    def migrate(self, release, *arguments):
        """`poi migrate` of a release, as the role that owns the schema; returns what it prints."""
        done = subprocess.run([release.program, "migrate", *arguments], capture_output=True, text=True, env={
            **os.environ, **release.variables, "DATABASE_URL": self.database.url("poi_migrate")})
        if done.returncode != 0:
            raise RuntimeError(f"poi migrate {' '.join(arguments)} of {release.version}: {done.stdout}{done.stderr}")
        return done.stdout

    def apply_roles(self, release):
        """roles.sql again, as an upgrade asks for where something in it has changed."""
        self.database.psql(self.database.database, "--file", release.root / "deploy/postgres/roles.sql")

    def swap(self, number, release):
        """One server for one of another release, as operations.md says it."""
        server = self.servers[number]
        code = end(server.process)
        if code != 0:
            raise RuntimeError(f"a server of {server.release.version} ended with {code}")
        self.former_servers.append(server)
        self.servers[number] = Server(self, number, release)
        wait_for(self.servers[number].is_ready, PATIENCE, f"a server of {release.version}")
        self.swaps += 1

    def psql(self, sql, timeout=None):
        """Runs SQL as the owner of the tables; returns psql's result."""
        return psql(self.database.url("poi_migrate"), sql, check=False, timeout=timeout)

    def as_clients_see_it(self):
        """For `Load`, whose clients ask the balancer: two readers of each kind, and two senders."""
        return SimpleNamespace(servers=[self, self], psql=self.psql)

    def versions_by_request(self):
        """The release that responded to each request."""
        return {request: server.release.version
                for server in self.former_servers + self.servers for request in server.served_requests()}
