"""Rehearses the loss of a database, with pgBackRest by the files of deploy/backup: a base backup and archived log while events
and changes of places come in. `make restore-drill` prints how much was lost and how long it took."""

import threading
import time

import pytest

from archived_postgres import ArchivedPostgres
from events import new_events, stored_events
from processes import wait_for
from servers import ROOT, Client
from service_database import PASSWORDS, migrate

pytestmark = [pytest.mark.soak, pytest.mark.alone]

# How long events come in before and after a moment.
SECONDS = 2
# Of a page of places, of one place, and of what is counted over all of them.
TARGETS = ["/locations?lat=37.3293&long=-121.8893&limit=2", "/locations/84", "/categories"]


def responses(server):
    return [Client(server.port).request("GET", target) for target in TARGETS]


def is_serving(server):
    return all(status == 200 for status, _, _ in responses(server))


def tags(server):
    return [headers.get("ETag") for _, headers, _ in responses(server)]


def bodies(server):
    return [body for _, _, body in responses(server)]


class Sender:
    """Sends events, as a context manager, and keeps when each was acknowledged."""

    def __init__(self, service):
        self.client, self.sent, self.acknowledged = Client(service.port), set(), {}
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
            ids, batch = new_events(5, "drill")
            self.sent.update(ids)
            if self.client.request("POST", "/events", {"Content-Type": "application/json"}, batch)[0] == 200:
                self.acknowledged.update(dict.fromkeys(ids, time.monotonic()))


def send_events(service):
    """A sender that has sent events for a while."""
    with Sender(service) as sender:
        time.sleep(SECONDS)
    return sender


@pytest.fixture(scope="module")
def postgres():
    """A database that is archived, with a backup."""
    with ArchivedPostgres(ROOT / "deploy/postgres/roles.sql", PASSWORDS) as postgres:
        yield postgres


@pytest.fixture
def service(poi, postgres, fleet):
    migrate(poi, postgres.url("poi_migrate"), seeds=True)
    server, = fleet(postgres.url("poi_serve"), POI_EVENTS_DATABASE_URL=postgres.url("poi_events"), POI_SEEDS="true",
                    POI_ADMIN_PORT="0", POI_DRAIN_DELAY="0s")
    wait_for(lambda: is_serving(server), 60, "the service is ready")
    postgres.back_up("full")
    return server


def test_the_metrics_show_a_backup_and_whether_the_archive_takes_the_log(postgres, service):
    def fails(metrics):
        """As the alert judges it. It did before the archive was made."""
        return metrics.get("poi_archive_failed_timestamp_seconds", 0) > metrics["poi_archive_succeeded_timestamp_seconds"]

    metrics = postgres.metrics()
    for name in ["poi_backup_completed_timestamp_seconds", "poi_archive_succeeded_timestamp_seconds"]:
        assert abs(time.time() - metrics.get(name, 0)) <= 60
    assert not fails(metrics) and 0 < metrics["poi_transaction_ids_used"] < 1_000_000
    with postgres.broken_archive():
        postgres.close_segment()
        wait_for(lambda: fails(postgres.metrics()), 60, "the metrics show that the archive takes nothing")
    postgres.wait_until_archived()


def test_a_lost_database_is_restored_to_a_moment_and_to_the_end_of_the_archive(postgres, service, contract):
    kept = restore_to_a_moment(postgres, service)
    contract(service.url)
    restore_to_the_end(postgres, service, kept)
    contract(service.url)


def restore_to_a_moment(postgres, service):
    """Somebody deletes places, and the database is restored to the moment before; returns the events until then."""
    before = send_events(service).acknowledged
    right_tags, right_bodies = tags(service), bodies(service)
    moment = postgres.query("SELECT clock_timestamp()")
    time.sleep(0.1)
    postgres.query("DELETE FROM locations WHERE id % 2 = 1")
    wait_for(lambda: tags(service) != right_tags and bodies(service) != right_bodies, 60, "the mistake is served")
    mistaken = tags(service)
    after = send_events(service).acknowledged
    postgres.wait_until_archived()
    postgres.lose()
    begun = time.monotonic()
    copied, replayed = postgres.restore("--type=time", f"--target={moment}", "--target-action=promote")
    wait_for(lambda: is_serving(service) and bodies(service) == right_bodies, 60, "what was served before the mistake")
    recovered = time.monotonic() - begun
    stored = stored_events(postgres.query, "drill")
    assert stored == dict.fromkeys(before, 1), "each event of before is there once, and no other one"
    # Whether or not a page has the same rows again.
    assert not [target for target, tag in zip(TARGETS, mistaken) if Client(service.port).request(
        "GET", target, {"If-None-Match": tag})[0] == 304], "an entity tag of what is lost is confirmed"
    print(f"to the moment before a mistake: all {len(before)} events of before, none of {len(after)} of after; "
          f"served again after {recovered:.1f} s ({copied:.1f} s files, {replayed:.1f} s log)")
    return before


def restore_to_the_end(postgres, service, before):
    """The machine is lost, with what wasn't archived yet."""
    archived = send_events(service).acknowledged
    postgres.wait_until_archived()
    late = send_events(service)
    postgres.lose()
    begun = time.monotonic()
    copied, replayed = postgres.restore()
    wait_for(lambda: is_serving(service), 60, "the service serves places")
    with Sender(service) as resumed:
        wait_for(lambda: resumed.acknowledged, 60, "the service takes events")
    recovered = time.monotonic() - begun
    expected = {*before, *archived, *resumed.acknowledged}
    stored = stored_events(postgres.query, "drill")
    assert expected <= stored.keys() <= expected | late.sent | resumed.sent
    assert set(stored.values()) == {1}
    lost = [acknowledged for id, acknowledged in late.acknowledged.items() if id not in stored]
    point = max(late.acknowledged.values()) - min(lost) if lost else 0
    print(f"to the end of the archive: all {len(archived)} archived events, {len(lost)} of {len(late.acknowledged)} later ones "
          f"lost, the last {point:.1f} s; served again after {recovered:.1f} s ({copied:.1f} s files, {replayed:.1f} s log)")
