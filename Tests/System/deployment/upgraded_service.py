"""Servers of two releases behind the balancer of deploy/haproxy, on a database that has the roles of
deploy/postgres."""

import json
import os
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from database_cluster import free_ports
from processes import running, wait_for
from psql import psql
from servers import ROOT, Server

# The name that HAProxy asks the DNS for.
BACKEND = "api.test"
SERVER_COUNT = 3
# How long a server or the balancer may take to be ready, on a machine that is busy with other things.
PATIENCE = 120


@dataclass(frozen=True)
class Release:
    """A release's program, the client of its time, and the files that belong to it."""

    version: str
    program: Path
    client: Path
    root: Path

    @property
    def variables(self):
        return {"POI_MIGRATIONS_DIR": str(self.root / "Migrations")}


class UpgradedService:
    """As a context manager: a database with the first release's schema, its servers, DNS and balancer."""

    def __init__(self, database, folder, release):
        self.database, self.folder, self.release, self.swaps = database, folder, release, 0
        self.slots = [ExitStack() for _ in range(SERVER_COUNT)]
        self.servers, self.started = [None] * SERVER_COUNT, []
        self.hosts = [f"127.0.0.{number + 2}" for number in range(SERVER_COUNT)]
        self.port, self.dns_port, self.server_port = free_ports(3)
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        with ExitStack() as stack:
            for slot in self.slots:
                stack.callback(slot.close)
            self.migrate(self.release, "up", "--seeds")
            for number in range(SERVER_COUNT):
                self.start_server(number, self.release)
            self.start_balancer(stack)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *_):
        self.stack.close()

    def start_server(self, number, release):
        """A `poi serve`, with an address of its own."""
        server = Server(release.program, self.database.url("poi_serve"), port=self.server_port, settings={
            **release.variables, "POI_EVENTS_DATABASE_URL": self.database.url("poi_events"), "HOST": self.hosts[number],
            "POI_LOOPS": "1", "POI_TRUSTED_PROXIES": "127.0.0.1", "POI_ACCESS_LOG": None, "POI_DRAIN_DELAY": None,
            # Patience with a busy machine, less than the balancer's: no failure of an upgrade.
            "POI_DB_ACQUIRE_TIMEOUT": "5s", "POI_DB_STATEMENT_TIMEOUT": "4s", "POI_REQUEST_TIMEOUT": "9s"})
        self.servers[number] = self.slots[number].enter_context(server)
        self.started.append((server, release.version))
        wait_for(server.is_ready, PATIENCE, f"a server of {release.version}")

    def swap(self, number, release):
        """One server for one of another release, as operations.md says it."""
        self.slots[number].close()
        self.start_server(number, release)
        self.swaps += 1

    def start_balancer(self, stack):
        names, log = self.folder / "hosts", lambda program: (self.folder / f"{program}.log").read_text()
        names.write_text("".join(f"{host} {BACKEND}\n" for host in self.hosts))
        stack.enter_context(running([
            "dnsmasq", "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--no-resolv", "--no-hosts",
            "--pid-file=", "--user=", "--listen-address=127.0.0.1", "--bind-interfaces", f"--port={self.dns_port}",
            "--local=/test/", f"--addn-hosts={names}"], self.folder / "dnsmasq.log"))
        wait_for(lambda: f"read {names}" in log("dnsmasq"), PATIENCE, "a name server")
        stack.enter_context(running(
            ["haproxy", "-W", "-db", "-f", ROOT / "deploy/haproxy/haproxy.cfg"], self.folder / "haproxy.log", {
                "POI_LISTEN": f"127.0.0.1:{self.port}", "POI_BACKEND": f"{BACKEND}:{self.server_port}",
                "POI_RESOLVER": f"127.0.0.1:{self.dns_port}", "POI_BACKEND_SLOTS": "8"}))
        slots = [f"Server poi/api{number + 1} ('{BACKEND}') is UP/READY" for number in range(SERVER_COUNT)]
        wait_for(lambda: all(slot in log("haproxy") for slot in slots), PATIENCE, "a balancer's servers")

    def migrate(self, release, *arguments):
        """`poi migrate` of a release, as the role that owns the schema."""
        subprocess.run([release.program, "migrate", *arguments], check=True, env={
            **os.environ, **release.variables, "DATABASE_URL": self.database.url("poi_migrate")})

    def psql(self, sql, timeout=None):
        """Runs SQL as the owner of the tables; returns psql's result."""
        return psql(self.database.url("poi_migrate"), sql, check=False, timeout=timeout)

    def versions_by_request(self):
        """The release that responded to each request, by the servers' logs."""
        return {json.loads(line)["requestId"]: version for server, version in self.started
                for line in (server.last_log or server.log.read_text()).splitlines() if '"requestId"' in line}
