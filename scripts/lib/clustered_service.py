"""Servers before the database cluster, and the commands that write to it, by the connection strings of deploy/cluster."""

import os
import subprocess
from contextlib import ExitStack

from psql import psql
from servers import ROOT, Server


class ClusteredService:
    """As a context manager: migrates and seeds the cluster's database, and starts servers, which end with it."""

    def __init__(self, poi, cluster, server_count=2, settings=None):
        self.poi, self.cluster, self.server_count = poi, cluster, server_count
        self.settings = {**cluster.variables("serve.env.example"), "POI_LOOPS": "1", **(settings or {})}
        self.migrate_url = cluster.variables("migrate.env.example")["DATABASE_URL"]

    def __enter__(self):
        self.start_migration(ROOT / "Migrations", seeds=True, wait=True)
        with ExitStack() as stack:
            self.servers = [stack.enter_context(Server(self.poi, self.settings["DATABASE_URL"], settings=self.settings))
                            for _ in range(self.server_count)]
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *error):
        self.stack.__exit__(*error)

    def start_migration(self, folder, seeds=False, wait=False):
        """`poi migrate up` with that folder of migrations."""
        process = subprocess.Popen(
            [self.poi, "migrate", "up"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={
                **os.environ, "DATABASE_URL": self.migrate_url, "POI_MIGRATIONS_DIR": str(folder),
                "POI_SEEDS": str(seeds).lower()})
        if wait and process.wait() != 0:
            raise RuntimeError(f"poi migrate up: {process.stdout.read()}")
        return process

    def psql(self, sql, timeout=None):
        """Runs SQL as the owner of the tables, by the way that migrations go; returns psql's result."""
        return psql(self.migrate_url, sql, check=False, timeout=timeout)
