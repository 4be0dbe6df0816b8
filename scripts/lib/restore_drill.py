"""Loses a database under load and restores it by the files of deploy/backup: once to the moment before a mistake, once to
the end of the archive. Prints the recovery point and the recovery time of each."""

import http.client
import json
import os
import secrets
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from archived_postgres import ArchivedPostgres
from processes import wait_for
from scratch_postgres import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
POI = os.environ["POI_BINARY"]
SECONDS = float(os.environ.get("POI_DRILL_SECONDS", 2))
ROLES = ["poi_migrate", "poi_serve", "poi_events"]
# Of a page of places, of one place, and of what is counted over all of them.
TARGETS = ["/locations?lat=37.3293&long=-121.8893&limit=2", "/locations/84", "/categories"]


def fail(text):
    sys.exit(f"restore-drill: {text}")


class Service:
    """A `poi serve`, as a context manager; it runs through everything that happens to the database."""

    def __init__(self, postgres):
        self.environment = {
            **os.environ, "POI_MIGRATIONS_DIR": str(ROOT / "Migrations"),
            "POI_ACCESS_LOG": "false", "POI_SEEDS": "true", "POI_ADMIN_PORT": "0", "POI_DRAIN_DELAY": "0s",
            "DATABASE_URL": postgres.url("poi_serve"), "POI_EVENTS_DATABASE_URL": postgres.url("poi_events")}
        self.log = postgres.folder / "serve.log"
        subprocess.run([POI, "migrate", "up"], check=True, stdout=subprocess.DEVNULL,
                       env={**self.environment, "DATABASE_URL": postgres.url("poi_migrate")})

    def __enter__(self):
        self.port = free_port()
        self.process = subprocess.Popen(
            [POI, "serve", "--port", str(self.port)], env=self.environment, stdout=subprocess.DEVNULL,
            stderr=self.log.open("wb"))
        try:
            wait_for(self.is_ready, 60, "the service is ready")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.terminate()
        if self.process.wait(60) != 0:
            print(self.log.read_text()[-2000:], file=sys.stderr)
            fail(f"the service ended with {self.process.returncode}")

    def request(self, target, headers=None, body=None):
        """Status, entity tag and body; status 0 where nobody listens."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST" if body else "GET", target, body, headers or {})
            response = connection.getresponse()
            return response.status, response.headers["ETag"], response.read()
        except OSError:
            return 0, None, b""
        finally:
            connection.close()

    def is_ready(self):
        return all(self.request(target)[0] == 200 for target in TARGETS)

    def tags(self):
        return [self.request(target)[1] for target in TARGETS]

    def bodies(self):
        return [self.request(target)[2] for target in TARGETS]

    def refuses(self, tags):
        """Whether no tag is confirmed, whether or not its page has the same rows again."""
        return all(self.request(target, {"If-None-Match": tag})[0] != 304 for target, tag in zip(TARGETS, tags))


class Sender:
    """Sends events, as a context manager, and keeps when each was acknowledged."""

    def __init__(self, service):
        self.service, self.sent, self.acknowledged = service, set(), {}
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.send)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def send(self):
        while not self.is_over.wait(0.01):
            ids = [str(uuid.uuid4()) for _ in range(5)]
            self.sent.update(ids)
            body = json.dumps([{"id": id, "user_id": "drill", "time": time.time(), "event": {"name": "drill", "value": {}}}
                               for id in ids])
            if self.service.request("/events", {"Content-Type": "application/json"}, body)[0] == 200:
                self.acknowledged.update(dict.fromkeys(ids, time.monotonic()))


def send_events(service, seconds):
    """A sender that has sent events for that time."""
    with Sender(service) as sender:
        time.sleep(seconds)
    return sender


def stored_events(postgres, expected, possible):
    """The ids of the drill's events that are there; fails unless every expected event is there, none but possible ones, and none twice."""
    rows = postgres.query("SELECT id, count(*) FROM events WHERE name = 'drill' GROUP BY id").splitlines()
    stored = {id: int(count) for id, count in (row.split("|") for row in rows)}
    if lost := set(expected) - set(stored):
        fail(f"{len(lost)} of {len(expected)} events are lost")
    if extra := set(stored) - set(possible):
        fail(f"{len(extra)} events are there that shouldn't be")
    if max(stored.values()) > 1:
        fail("an event is there twice")
    return set(stored)


def check_metrics(postgres):
    """The alerts' metrics: a backup that was just made, and an archive that takes the log, and that doesn't."""
    metrics = postgres.metrics()
    for name in ["poi_backup_completed_timestamp_seconds", "poi_archive_succeeded_timestamp_seconds"]:
        if abs(time.time() - metrics.get(name, 0)) > 60:
            fail(f"{name} is {metrics.get(name)}")
    if archive_fails(metrics) or not 0 < metrics["poi_transaction_ids_used"] < 1_000_000:
        fail(f"the metrics of a sound database are {metrics}")
    with postgres.broken_archive():
        postgres.close_segment()
        wait_for(lambda: archive_fails(postgres.metrics()), 60, "the metrics show that the archive takes nothing")
    postgres.wait_until_archived()


def archive_fails(metrics):
    """As the alert judges it. It did before the archive was made."""
    return metrics.get("poi_archive_failed_timestamp_seconds", 0) > metrics["poi_archive_succeeded_timestamp_seconds"]


def run_contract(service):
    tests = subprocess.run(
        ["swift", "test", "--quiet", "--filter", "^PointsOfInterestContract"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "POI_BASE_URL": f"http://127.0.0.1:{service.port}", "POI_CONTRACT_SEEDED": "true"})
    print(tests.stdout.splitlines()[-1] if tests.returncode == 0 else tests.stdout, flush=True)
    if tests.returncode != 0:
        fail("the contract suite fails on the restored database")


def restore_to_a_moment(postgres, service):
    """Somebody deletes places, and the database is restored to the moment before; returns the events until then."""
    before = send_events(service, SECONDS).acknowledged
    tags, bodies = service.tags(), service.bodies()
    moment = postgres.query("SELECT clock_timestamp()")
    time.sleep(0.1)
    postgres.query("DELETE FROM locations WHERE id % 2 = 1")
    wait_for(lambda: service.tags() != tags and service.bodies() != bodies, 60, "the mistake is served")
    mistaken = service.tags()
    after = send_events(service, SECONDS).acknowledged
    postgres.wait_until_archived()
    postgres.lose()
    begun = time.monotonic()
    copied, replayed = postgres.restore("--type=time", f"--target={moment}", "--target-action=promote")
    wait_for(lambda: service.is_ready() and service.bodies() == bodies, 60, "the service serves what it did before the mistake")
    recovered = time.monotonic() - begun
    stored_events(postgres, before, possible=before)
    if not service.refuses(mistaken):
        fail("an entity tag of what is lost is confirmed")
    print(f"restore-drill: to the moment before a mistake: all {len(before)} events of before, none of {len(after)} of after; "
          f"served again after {recovered:.1f} s ({copied:.1f} s files, {replayed:.1f} s log)", flush=True)
    run_contract(service)
    return before


def restore_to_the_end(postgres, service, before):
    """The machine is lost, with what wasn't archived yet."""
    archived = send_events(service, SECONDS).acknowledged
    postgres.wait_until_archived()
    late = send_events(service, SECONDS)
    postgres.lose()
    begun = time.monotonic()
    copied, replayed = postgres.restore()
    wait_for(service.is_ready, 60, "the service serves places")
    with Sender(service) as resumed:
        wait_for(lambda: resumed.acknowledged, 60, "the service takes events")
    recovered = time.monotonic() - begun
    expected = {*before, *archived, *resumed.acknowledged}
    stored = stored_events(postgres, expected, possible=expected | late.sent | resumed.sent)
    lost = [acknowledged for id, acknowledged in late.acknowledged.items() if id not in stored]
    point = max(late.acknowledged.values()) - min(lost) if lost else 0
    print(f"restore-drill: to the end of the archive: all {len(archived)} archived events, {len(lost)} of {len(late.acknowledged)} "
          f"later ones lost, the last {point:.1f} s; served again after {recovered:.1f} s "
          f"({copied:.1f} s files, {replayed:.1f} s log)", flush=True)
    run_contract(service)


def main():
    passwords = {role: secrets.token_hex(16) for role in ROLES}
    with ArchivedPostgres(ROOT / "deploy/postgres/roles.sql", passwords) as postgres, Service(postgres) as service:
        postgres.back_up("full")
        check_metrics(postgres)
        before = restore_to_a_moment(postgres, service)
        restore_to_the_end(postgres, service, before)


try:
    main()
except TimeoutError as error:
    fail(error)
