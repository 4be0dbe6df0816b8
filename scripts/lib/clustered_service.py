"""Servers before the database cluster, and the commands that write to it, by the connection strings of deploy/cluster."""

import os
import re
import subprocess
import urllib.error
import urllib.request

from database_cluster import ROOT, free_ports
from processes import end, start, wait_for
from psql import psql

POI = os.environ["POI_BINARY"]


class Server:
    """A `poi serve`."""

    def __init__(self, cluster, number, settings):
        self.port, self.admin_port = free_ports(2)
        self.log = cluster.folder / f"server{number}.log"
        self.process = start([POI, "serve"], self.log, {
            **cluster.variables("serve.env.example"), "POI_MIGRATIONS_DIR": str(ROOT / "Migrations"),
            "PORT": str(self.port), "POI_ADMIN_PORT": str(self.admin_port), "POI_LOOPS": "1", "POI_DRAIN_DELAY": "0s",
            "POI_ACCESS_LOG": "false", **settings})

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def admin(self, path):
        """What the admin listener responds; None where it isn't 200."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin_port}{path}", timeout=2) as response:
                return response.read().decode()
        except OSError:
            return None

    def is_serving_from_memory(self):
        return re.search(r'^poi_index_state\{state="serving"\} 1', self.admin("/metrics") or "", re.M) is not None


class ClusteredService:
    """As a context manager: migrates and seeds the cluster's database, and starts servers, which end with it."""

    def __init__(self, cluster, server_count=2, settings=None):
        self.cluster, self.server_count, self.settings = cluster, server_count, settings or {}
        self.servers = []
        self.migrate_url = cluster.variables("migrate.env.example")["DATABASE_URL"]

    def __enter__(self):
        self.start_migration(ROOT / "Migrations", seeds=True, wait=True)
        try:
            for number in range(self.server_count):
                self.servers.append(Server(self.cluster, number + 1, self.settings))
            wait_for(lambda: all(server.admin("/readyz") and server.is_serving_from_memory() for server in self.servers),
                     30, "servers that serve from memory")
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, kind=None, *_):
        codes = [end(server.process) for server in self.servers]
        if any(codes) and kind is None:
            raise RuntimeError(f"the servers ended with {codes}")

    def start_migration(self, folder, seeds=False, wait=False):
        """`poi migrate up` with that folder of migrations."""
        process = subprocess.Popen(
            [POI, "migrate", "up"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
                **os.environ, "DATABASE_URL": self.migrate_url, "POI_MIGRATIONS_DIR": str(folder),
                "POI_SEEDS": str(seeds).lower()})
        if wait and process.wait() != 0:
            raise RuntimeError(f"poi migrate up: {process.stdout.read()}")
        return process

    def psql(self, sql, timeout=None):
        """Runs SQL as the owner of the tables, by the way that migrations go; returns psql's result."""
        return psql(self.migrate_url, sql, check=False, timeout=timeout)
