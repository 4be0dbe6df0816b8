"""Replaces the servers of one release by those of another and back, under load: `check_upgrade.py`, with the two releases
in the environment as scripts/checks/check-upgrade has them. Fails where a request failed or a response was wrong."""

import os
import re
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path

from cluster_judgement import lost_and_doubled, stale_reads
from cluster_load import INSERT_PLACES, Client, Load
from database_cluster import ROOT
from upgraded_service import Release, UpgradedService

ROUNDS = int(os.environ.get("POI_CHECK_ROUNDS", 1))
# How long all servers are of one release, in seconds.
PAUSE = 5
# How old a response may be: what the servers grant themselves by default twice, and two seconds until they notice.
STALENESS = 2 * 5 + 2
WALKERS = 3
WALK = "/locations?lat=37.3293&long=-121.8893&radius=1000"
EXCHANGES = ROOT / "Tests/Compatibility"


class Walk:
    """Follows the links from page to page for as long as the load lasts. Every walk has to meet the same places."""

    def __init__(self, service, number):
        self.number, self.client = number, Client(service.port)
        self.pages, self.failed, self.wrong, self.walks = 0, [], [], []
        _, _, body = self.client.request("GET", f"{WALK}&limit=100", {})
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

    def __init__(self, service, program, exchanges):
        # Foundation's URLSession on Linux keeps a processor busy with sockets that have nothing new: not at others' cost.
        self.command = ["nice", "-n", "19", program, "check", exchanges]
        self.variables = {**os.environ, "POI_BASE_URL": service.url}
        self.scenarios, self.failed = 0, []

    def run(self, is_over):
        while not is_over.is_set():
            done = subprocess.run(self.command, capture_output=True, text=True, env=self.variables)
            *faults, summary = done.stdout.splitlines() or [f"no output, {done.stderr[-300:]}"]
            count = re.match(r"check: (\d+) scenarios", summary)
            if not count:
                self.failed.append(f"{self.command[3].name}: {summary}")
                return
            self.scenarios += int(count[1])
            self.failed += faults
            is_over.wait(0.2)


def upgrade_and_go_back(service, old, new):
    """As operations.md has it under "Rolling out": database first, then servers, one after the other; and back."""
    print(f"check-upgrade: to {new.version}", flush=True)
    service.apply_roles(new)
    service.migrate(new, "up", "--dry-run")
    service.migrate(new, "up")
    service.migrate(new, "validate")
    for number in range(len(service.servers)):
        service.swap(number, new)
    time.sleep(PAUSE)
    print(f"check-upgrade: back to {old.version}", flush=True)
    service.migrate(old, "validate")
    service.migrate(old, "up")
    for number in range(len(service.servers)):
        service.swap(number, old)
    time.sleep(PAUSE)


def stored_events(service):
    counts = {}
    for id in service.psql("SELECT id FROM events WHERE name = 'check-cluster'").stdout.split():
        counts[id] = counts.get(id, 0) + 1
    return counts


def judge(service, old, new, load, walks, apps):
    """Prints what there was; returns what is wrong."""
    versions = service.versions_by_request()
    crossings = [pair for walk in walks for pair in walk.crossings(versions)]
    failed_reads = [read for read in load.reads if read.state is None and not read.fault]
    resent = sum(batch.attempts - 1 for batch in load.batches)
    lost, doubled = lost_and_doubled(load.acknowledged, stored_events(service))
    acknowledged = {commit.state: commit.acknowledged for commit in load.commits if commit.acknowledged}
    rows = [
        ("reads while places change", len(load.reads), len(failed_reads)),
        ("  of these not modified (304)", sum(read.state is not None and not read.tag for read in load.reads), 0),
        ("pages of walks", sum(walk.pages for walk in walks), sum(len(walk.failed) for walk in walks)),
        (f"  {new.version} after one by {old.version}", crossings.count((old.version, new.version)), 0),
        (f"  {old.version} after one by {new.version}", crossings.count((new.version, old.version)), 0),
        ("batches of events", len(load.batches), resent + load.unfinished),
        (f"scenarios of the client of {old.version}", apps[0].scenarios, len(apps[0].failed)),
        (f"scenarios of the client of {new.version}", apps[1].scenarios, len(apps[1].failed)),
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


def main():
    old, new = (Release(os.environ[f"UPGRADE_{name}_VERSION"], Path(os.environ[f"UPGRADE_{name}_BINARY"]),
                        Path(os.environ[f"UPGRADE_{name}_ROOT"])) for name in ["OLD", "NEW"])
    exchanges = EXCHANGES / old.version / "Exchanges"
    with UpgradedService(old) as service:
        service.psql(INSERT_PLACES).check_returncode()
        load, walks = Load(service.as_clients_see_it(), 0), [Walk(service, number) for number in range(WALKERS)]
        apps = [App(service, Path(os.environ[f"UPGRADE_{name}_CLIENT"]), exchanges) for name in ["OLD", "NEW"]]
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
        faults = judge(service, old, new, load, walks, apps)
    for fault in faults:
        print(f"check-upgrade: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
