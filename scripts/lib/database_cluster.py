"""The database cluster of deploy/cluster on 127.0.0.1: three PostgreSQL with Patroni, three etcd, and the HAProxy before
them. The files are those that an operator copies; names, ports, folders and passwords are put in their places.

Also what can go wrong with it: a machine that is killed, frozen, or cut off from etcd, and a switchover.
"""

import base64
import getpass
import json
import os
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from certificates import make_ca, make_certificate
from processes import start, wait_for
from psql import PSQL
from scratch_postgres import AS_POSTGRES, programs
from servers import ROOT, Client

FILES = ROOT / "deploy/cluster"
DATABASE = "points_of_interest"
START_TIMEOUT, HEAL_TIMEOUT = 180, 120


given_ports = set()


def free_ports(count):
    """Ports below those that the system gives to outgoing connections: one of these might take them during a restart."""
    found = []
    while len(found) < count:
        with socket.socket() as probe:
            port = random.randrange(10_000, 32_000)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            if port not in given_ports:
                given_ports.add(port)
                found.append(port)
    return found


# Whatever happens to this process, its children end.
AS_DATABASE_USER = [*AS_POSTGRES, "setpriv", "--pdeathsig=TERM", "--"]


class Node:
    """One of the three machines: its addresses, its folder and its processes."""

    def __init__(self, number, folder):
        self.name = f"db{number}"
        self.folder = folder / self.name
        self.port, self.api_port, self.etcd_port, self.etcd_peer_port, *self.proxy_ports = free_ports(7)
        self.etcd = self.patroni = self.proxy = None

    @property
    def data(self):
        return self.folder / "poi"

    def postgres_processes(self):
        """The postmaster and its children, the postmaster first."""
        try:
            postmaster = int((self.data / "postmaster.pid").read_text().split()[0])
            children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        except (OSError, ValueError, IndexError):
            return []
        return [postmaster, *map(int, children)]

    def signal_postgres(self, number):
        for process in self.postgres_processes():
            with suppress(ProcessLookupError):
                os.kill(process, number)

    def get(self, path):
        """What Patroni's REST API responds: status and body; (0, b"") where it doesn't."""
        status, _, body = Client(self.api_port, timeout=1).request("GET", path)
        return status, body

    def is_leader(self):
        return self.get("/primary")[0] == 200


class DatabaseCluster:
    """As a context manager: started, with the service's roles and an empty database; then stopped and removed."""

    def __init__(self, settings=None):
        """`settings` replace parts of patroni.yml, such as {"synchronous_mode: true": "synchronous_mode: false"}."""
        self.settings = settings or {}
        self.folder = Path(tempfile.mkdtemp(prefix="poi-cluster-"))
        self.nodes = [Node(number, self.folder) for number in (1, 2, 3)]
        self.passwords = {name: secrets.token_hex(12) for name in [
            "SUPERUSER", "REPLICATION", "RESTAPI", "SERVE", "EVENTS", "MIGRATE"]}
        (self.leader_port,) = free_ports(1)
        self.user = "postgres" if os.geteuid() == 0 else getpass.getuser()
        self.haproxy = None

    # The files

    def filled(self, text, node=None):
        """A file of deploy/cluster with this cluster's names, ports, folders and passwords."""
        if node:
            text = re.sub(r"(?<![A-Z_])NODE\b", node.name, text)
            for port, own in [(5432, node.port), (8008, node.api_port), (2379, node.etcd_port), (2380, node.etcd_peer_port)]:
                text = text.replace(f"0.0.0.0:{port}", f"127.0.0.1:{own}")
            text = text.replace("/var/lib/postgresql/15", str(node.folder)).replace("/var/lib/etcd", f"{node.folder}/etcd")
        for other in self.nodes:
            for port, own in [(5432, other.port), (8008, other.api_port), (2379, other.etcd_port), (2380, other.etcd_peer_port)]:
                text = text.replace(f"{other.name}:{port}", f"127.0.0.1:{own}")
        text = text.replace("127.0.0.1:5432", f"127.0.0.1:{self.leader_port}")
        text = text.replace("/etc/poi", str(self.folder / "etc")).replace("/var/run/postgresql", str(self.folder))
        text = text.replace("/usr/lib/postgresql/15/bin", str(programs()))
        for name, password in self.passwords.items():
            text = re.sub(rf"(?<=[=:]){name}_PASSWORD\b", password, text)
        return text

    def variables(self, file, node=None):
        """The variables of one of the environment files."""
        lines = self.filled((FILES / file).read_text(), node).splitlines()
        return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))

    def write_files(self):
        etc = self.folder / "etc/cluster"
        etc.mkdir(parents=True)
        shutil.copy(ROOT / "deploy/postgres/postgresql.conf", etc.parent)
        # One for all three, since all are 127.0.0.1.
        make_ca(etc, "ca")
        make_certificate(etc, "server", "ca", "127.0.0.1")
        text = self.filled((FILES / "patroni.yml").read_text())
        for old, new in self.settings.items():
            if old not in text:
                raise ValueError(f"patroni.yml has no {old!r}")
            text = text.replace(old, new)
        (self.folder / "patroni.yml").write_text(text)
        environment = " ".join(f"{name}={value}" for name, value in self.patroni_environment(self.nodes[0]).items())
        (self.folder / "patronictl").write_text(
            f'#!/bin/sh\nexec env {environment} patronictl -c {self.folder}/patroni.yml "$@"\n')
        (self.folder / "patronictl").chmod(0o700)
        for node in self.nodes:
            (node.folder / "etcd").mkdir(parents=True)
            (node.folder / "etcd").chmod(0o700)
        if os.geteuid() == 0:
            for path in [self.folder, *self.folder.rglob("*")]:
                shutil.chown(path, "postgres", "postgres")
        self.folder.chmod(0o755)

    # Starting and ending

    def __enter__(self):
        try:
            self.write_files()
            for node in self.nodes:
                self.start_etcd(node)
            wait_for(lambda: all(self.is_etcd_healthy(node) for node in self.nodes), START_TIMEOUT, "etcd")
            # The first one makes the cluster. The others would look for it only every few seconds.
            self.start_patroni(self.nodes[0])
            wait_for(self.nodes[0].is_leader, START_TIMEOUT, "the first leader")
            for node in self.nodes[1:]:
                self.start_patroni(node)
            self.haproxy = start(
                ["haproxy", "-f", FILES / "haproxy.cfg"], self.folder / "haproxy.log", self.haproxy_environment())
            wait_for(self.is_whole, START_TIMEOUT, "a leader with two standbys")
            self.psql("postgres", "--command", f"CREATE DATABASE {DATABASE}")
            # Read here: the database's user may have no way into this folder.
            self.psql(DATABASE, "--file", "-", script=(ROOT / "deploy/postgres/roles.sql").read_text(), environment={
                f"POI_{role}_PASSWORD": self.passwords[role] for role in ["MIGRATE", "SERVE", "EVENTS"]})
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def keep_logs(self):
        folder = tempfile.mkdtemp(prefix="poi-cluster-logs-")
        for log in self.folder.rglob("*.log"):
            shutil.copy(log, Path(folder) / "-".join(log.relative_to(self.folder).parts))
        print(f"the logs are kept in {folder}", file=sys.stderr)

    def __exit__(self, kind=None, *_):
        if kind and issubclass(kind, Exception):
            self.keep_logs()
        for node in self.nodes:
            # There is nothing to keep, and a frozen process takes no other signal. With the commands that it runs: an
            # initdb would go on in a folder that is being removed.
            for process in [node.patroni, node.etcd, node.proxy]:
                if process and process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            self.kill_postgres(node)
        if self.haproxy:
            self.haproxy.kill()
            self.haproxy.wait()
        shutil.rmtree(self.folder)

    def start_etcd(self, node):
        environment = {"PATH": os.environ["PATH"], **self.variables("etcd.env.example", node)}
        node.etcd = self.start(node, "etcd", environment, "etcd")
        ways = [f"listen {other.name}\n bind 127.0.0.1:{port}\n server etcd 127.0.0.1:{other.etcd_port}\n"
                for port, other in zip(node.proxy_ports, self.nodes)]
        (node.folder / "proxy.cfg").write_text(
            "defaults\n mode tcp\n timeout connect 1s\n timeout client 1d\n timeout server 1d\n" + "".join(ways))
        node.proxy = start(["haproxy", "-f", node.folder / "proxy.cfg"], node.folder / "proxy.log")
        (node.folder / "proxy.pid").write_text(f"{node.proxy.pid}\n")

    def start_patroni(self, node):
        settings = self.folder / "patroni.yml"
        node.patroni = self.start(node, "patroni", self.patroni_environment(node), "patroni", settings)
        (node.folder / "patroni.pid").write_text(f"{node.patroni.pid}\n")

    @staticmethod
    def start(node, name, environment, *command):
        with (node.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen([*AS_DATABASE_USER, *command], env=environment, start_new_session=True, cwd="/",
                                    stdout=log, stderr=subprocess.STDOUT)

    def patroni_environment(self, node):
        """As on a machine, but for the way to etcd, which leads through the proxies."""
        return {
            "PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
            **self.variables("patroni.env.example", node), "PATRONI_SUPERUSER_USERNAME": self.user,
            "PATRONI_ETCD_HOSTS": ",".join(f"127.0.0.1:{port}" for port in node.proxy_ports),
            "PATRONI_ETCD_USE_PROXIES": "true",
        }

    def haproxy_environment(self):
        environment = {"POI_CLUSTER_LISTEN": f"127.0.0.1:{self.leader_port}"}
        for number, node in enumerate(self.nodes, 1):
            environment[f"POI_CLUSTER_DB{number}"] = f"127.0.0.1:{node.port}"
            environment[f"POI_CLUSTER_DB{number}_PATRONI"] = str(node.api_port)
        return environment

    @staticmethod
    def is_etcd_healthy(node):
        status, _, body = Client(node.etcd_port, timeout=1).request("GET", "/health")
        return status == 200 and json.loads(body)["health"] == "true"

    # Its state

    def leader(self):
        """The node that holds the lease; None where there is none."""
        return next((node for node in self.nodes if node.is_leader()), None)

    def members(self):
        """What Patroni says of the three, by name."""
        for node in self.nodes:
            status, body = node.get("/cluster")
            if status == 200:
                return {member["name"]: member for member in json.loads(body)["members"]}
        return {}

    def synchronous_standby(self):
        """The name of the one that commits wait for; None where there is none."""
        return next((name for name, member in self.members().items() if member["role"] == "sync_standby"), None)

    def is_whole(self):
        """Whether there is a leader, and two standbys that follow it, one of them for its commits."""
        members = self.members().values()
        timelines = {member.get("timeline") for member in members}
        return (
            sorted(member["role"] for member in members) in (["leader", "replica", "sync_standby"], self.asynchronous_roles)
            and all(member["state"] == "running" for member in members) and len(timelines) == 1 and None not in timelines
            and all(member.get("lag", 0) == 0 for member in members) and self.leader() is not None)

    @property
    def asynchronous_roles(self):
        return ["leader", "replica", "replica"] if "synchronous_mode: true" in self.settings else None

    def psql(self, database, *arguments, script=None, environment=None, node=None, timeout=None):
        """psql as the superuser on the leader's or another's machine; returns what it prints."""
        node = node or wait_for(self.leader, START_TIMEOUT, "a leader")
        return subprocess.run(
            [*AS_DATABASE_USER, *PSQL, "--host", self.folder, "--port", str(node.port), "--username", self.user,
             "--dbname", database, *map(str, arguments)],
            check=True, input=script, stdout=subprocess.PIPE, text=True, cwd="/", timeout=timeout,
            env={**os.environ, **(environment or {})}).stdout.strip()

    def query(self, statement, node=None, timeout=None):
        return self.psql(DATABASE, "--command", statement, node=node, timeout=timeout)

    # Faults

    def kill_postgres(self, node):
        # Stopped first, so that none is made while the others are killed.
        node.signal_postgres(signal.SIGSTOP)
        node.signal_postgres(signal.SIGKILL)

    def kill(self, node):
        """The machine's power fails: Patroni and PostgreSQL are gone at once."""
        node.patroni.send_signal(signal.SIGSTOP)
        self.kill_postgres(node)
        node.patroni.kill()
        node.patroni.wait()

    def freeze(self, node, postgres):
        """Patroni doesn't run for a while, and with `postgres` nothing does."""
        node.patroni.send_signal(signal.SIGSTOP)
        if postgres:
            node.signal_postgres(signal.SIGSTOP)

    def thaw(self, node):
        node.signal_postgres(signal.SIGCONT)
        node.patroni.send_signal(signal.SIGCONT)

    def cut_off(self, node):
        """No byte passes between its Patroni and etcd, as if packets were dropped: what is sent waits in the system's buffers."""
        node.proxy.send_signal(signal.SIGSTOP)

    def reconnect(self, node):
        node.proxy.send_signal(signal.SIGCONT)

    def switch_over(self, old, new):
        """As `patronictl switchover` does."""
        self.ask(old, "POST", "/switchover", {"leader": old.name, "candidate": new.name})

    def configure(self, changes):
        """As `patronictl edit-config` does."""
        self.ask(self.leader(), "PATCH", "/config", changes)

    def ask(self, node, method, path, body):
        """Asks a Patroni for a change, with its password."""
        password = base64.b64encode(f"patroni:{self.passwords['RESTAPI']}".encode()).decode()
        headers = {"Authorization": f"Basic {password}", "Content-Type": "application/json"}
        status, _, answer = Client(node.api_port, timeout=60).request(method, path, headers, json.dumps(body))
        if status // 100 != 2:
            raise RuntimeError(f"{method} {path}: {status} {answer}")
