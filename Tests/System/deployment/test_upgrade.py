"""Servers go from the release before to this one and back, as operations.md has it: the schema first, then one server
after the other, behind HAProxy as deploy/ has it. Meanwhile clients of both releases, walks from page to page,
conditional requests and events lose no request. Prints counts.

Needs the whole history, to build the release before: its tag, or what stands for it. PREVIOUS_POI, PREVIOUS_CLIENT and
CURRENT_CLIENT name programs that are built already, POI_TEST_ROUNDS=1 goes to and fro once.
"""

import os
import re
import subprocess
import threading
import time
import urllib.parse
from types import SimpleNamespace

import pytest

from cluster_judgement import lost_and_doubled, stale_reads
from cluster_load import INSERT_PLACES, Load
from events import stored_events
from scratch_postgres import ScratchPostgres
from servers import ROOT, Client, built
from service_database import PASSWORDS
from upgraded_service import Release, UpgradedService

ROUNDS = int(os.environ.get("POI_TEST_ROUNDS", 10))
# How long all servers are of one release, in seconds.
PAUSE = 5
# How old a response may be: what the servers grant themselves by default twice, and two seconds until they notice.
STALENESS = 2 * 5 + 2
WALKERS = 3
WALK = "/locations?lat=37.3293&long=-121.8893&radius=1000"
EXCHANGES = ROOT / "Tests/Compatibility"
# Of releases that have no tag, what can be upgraded is the last commit before the first migration of the next one: the
# schema of 0.1.0 was a draft at first, which is not migrated but replaced (Documentation/migrations.md).
NEXT = {"0.1.0": "0109_record_changed_places", "0.2.0": "0111_index_categories_and_featured"}


class Walk:
    """Follows the links from page to page for as long as the load lasts. Every walk has to meet the same places."""

    def __init__(self, service, number):
        self.number, self.client = number, Client(service.port)
        self.pages, self.failed, self.wrong, self.walks = 0, [], [], []
        _, _, body = self.client.request("GET", f"{WALK}&limit=100")
        self.expected = self.ids(body)
        assert 30 < len(self.expected) < 100, f"{len(self.expected)} places to walk through"

    @staticmethod
    def ids(body):
        return re.findall(rb'"id":(\d+)', body)

    def run(self, is_over):
        while not is_over.is_set():
            found, requests, target = [], [], f"{WALK}&limit=5"
            self.walks.append(requests)
            while target:
                self.pages += 1
                requests.append(f"walk-{self.number}-{self.pages}")
                status, headers, body = self.client.request("GET", target, {"X-Request-Id": requests[-1]})
                if status != 200:
                    self.failed.append(f"page {len(requests)} of a walk: {status} {body.decode()[:300]}")
                    break
                found += self.ids(body)
                link = re.match(r'<([^>]*)>; rel="next"', headers.get("Link", ""))
                target = link and urllib.parse.urljoin(target, link[1])
                is_over.wait(0.1)
            if not target and found != self.expected:
                self.wrong.append(f"a walk met {len(found)} places instead of {len(self.expected)}, or in another order")

    def crossings(self, versions):
        """The versions that responded to each page and the next one, where they differ."""
        pairs = [(versions.get(page), versions.get(following))
                 for walk in self.walks for page, following in zip(walk, walk[1:])]
        return [pair for pair in pairs if all(pair) and pair[0] != pair[1]]


class App:
    """A client of some release with all that its scenarios do, again and again."""

    def __init__(self, service, release, exchanges):
        # While Foundation's URLSession on Linux waits for a response, its threads wake each other all the time. Only this
        # class lets others run at once; with a nice value they waited for up to ten seconds, and so the next response.
        self.command = ["chrt", "--idle", "0", release.client, "check", exchanges]
        self.version, self.variables = release.version, {**os.environ, "POI_BASE_URL": service.url}
        self.scenarios, self.failed = 0, []

    def run(self, is_over):
        while not is_over.is_set():
            done = subprocess.run(self.command, capture_output=True, text=True, env=self.variables)
            *faults, summary = done.stdout.splitlines() or [f"no output, {done.stderr[-300:]}"]
            count = re.match(r"check: (\d+) scenarios", summary)
            if not count:
                self.failed.append(f"the client of {self.version}: {summary}")
                return
            self.scenarios += int(count[1])
            self.failed += faults
            is_over.wait(0.2)


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


@pytest.fixture
def new(poi):
    version = output(poi, "--version").removeprefix("poi ")
    return Release(version, poi, built("CompatibilityProgram", "CURRENT_CLIENT", mode="debug"), ROOT)


@pytest.fixture
def old(new):
    """The newest release in Tests/Compatibility, other than this one."""
    versions = {folder.parent.name for folder in EXCHANGES.glob("*/Exchanges")} - {new.version}
    version = commit = max(versions, key=lambda version: [int(part) for part in version.split(".")])
    if version in NEXT:
        migration = f"Migrations/{NEXT[version]}.sql"
        *_, added = output("git", "log", "--diff-filter=A", "--format=%H", "--", migration).split()
        commit = f"{added}^"
    commit = output("git", "rev-parse", "--verify", f"{commit}^{{commit}}")
    tree = ROOT / ".build/upgrade" / commit
    if not (tree / "Package.swift").exists():
        tree.mkdir(parents=True, exist_ok=True)
        archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "--extract", "--directory", tree], check=True, input=archive)
    package = ["--package-path", tree]
    return Release(version, built("poi", "PREVIOUS_POI", *package),
                   built("CompatibilityProgram", "PREVIOUS_CLIENT", *package, mode="debug"), tree)


def upgrade_and_go_back(service, old, new):
    """As operations.md has it under "Rolling out": database first, then servers, one after the other; and back."""
    # roles.sql again, as an upgrade asks for where something in it has changed.
    service.database.psql(service.database.database, "--file", new.root / "deploy/postgres/roles.sql")
    for release, commands in [(new, ["up --dry-run", "up", "validate"]), (old, ["validate", "up"])]:
        print(f"to {release.version}", flush=True)
        for command in commands:
            service.migrate(release, *command.split())
        for number in range(len(service.servers)):
            service.swap(number, release)
        time.sleep(PAUSE)


def faults_of(service, old, new, load, walks, apps):
    """Prints what there was; returns what is wrong."""
    versions = service.versions_by_request()
    crossings = [pair for walk in walks for pair in walk.crossings(versions)]
    failed_reads = [read for read in load.reads if read.state is None and not read.fault]
    resent = sum(batch.attempts - 1 for batch in load.batches)
    stored = stored_events(lambda sql: service.psql(sql).stdout, "check-cluster")
    lost, doubled = lost_and_doubled(load.acknowledged, stored)
    acknowledged = {commit.state: commit.acknowledged for commit in load.commits if commit.acknowledged}
    rows = [
        ("reads while places change", len(load.reads), len(failed_reads)),
        ("  of these not modified (304)", sum(read.state is not None and not read.tag for read in load.reads), 0),
        ("pages of walks", sum(walk.pages for walk in walks), sum(len(walk.failed) for walk in walks)),
        (f"  {new.version} after one by {old.version}", crossings.count((old.version, new.version)), 0),
        (f"  {old.version} after one by {new.version}", crossings.count((new.version, old.version)), 0),
        ("batches of events", len(load.batches), resent + load.unfinished),
        *[(f"scenarios of the client of {app.version}", app.scenarios, len(app.failed)) for app in apps],
        ("commits to places", len(load.commits), len(load.commits) - len(acknowledged)),
        ("servers swapped", service.swaps, 0),
    ]
    print(f"{'':42}{'number':>8}{'failed':>8}")
    for name, count, failed in rows:
        print(f"{name:42}{count:8,}{failed:8,}")
    wrong = [read.fault for read in load.reads if read.fault] + stale_reads(acknowledged, load.reads, STALENESS)
    wrong += [text for walk in walks for text in walk.wrong]
    print(f"{'wrong responses':42}{len(wrong):8,}\n{'events lost, doubled':42}{lost:8,}{doubled:8,}", flush=True)
    faults = [f"{name}: {failed} failed" for name, _, failed in rows if failed]
    faults += [f"{name}: none, so nothing is shown" for name, count, _ in rows if count == 0]
    faults += [text for source in [*walks, *apps] for text in source.failed[:3]] + wrong[:5]
    return faults + ([f"{lost} acknowledged events are lost, {doubled} doubled"] if lost or doubled else [])


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.alone
def test_an_upgrade_and_the_way_back_lose_no_request(old, new, tmp_path):
    with ScratchPostgres(old.root / "deploy/postgres/roles.sql", PASSWORDS) as database, \
            UpgradedService(database, tmp_path, old) as service:
        service.psql(INSERT_PLACES).check_returncode()
        # The clients of the load ask the balancer: two readers of each kind, and two senders.
        load = Load(SimpleNamespace(servers=[service, service], psql=service.psql), 0)
        walks = [Walk(service, number) for number in range(WALKERS)]
        apps = [App(service, release, EXCHANGES / old.version / "Exchanges") for release in [old, new]]
        threads = [threading.Thread(target=part.run, args=(load.is_over,)) for part in [*walks, *apps]]
        load.start()
        for thread in threads:
            thread.start()
        try:
            time.sleep(PAUSE)
            for _ in range(ROUNDS):
                upgrade_and_go_back(service, old, new)
        finally:
            load.stop()
            for thread in threads:
                thread.join()
        assert not faults_of(service, old, new, load, walks, apps)
