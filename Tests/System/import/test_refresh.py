"""`poi refresh`, the real program and the real curl, from a server of places that fails in all ways. See Documentation/import.md."""

import base64
import os
import signal
import stat
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from processes import end, wait_for
from psql import psql
from scratch_postgres import free_port
from service_database import migrate

DATASET, COUNT = "cafés & bars", 100
USER, PASSWORD, TOKEN = "reader", "pa55word-of-the-source", "t0ken-of-the-source"
LIMITS = ["--stall-time", "1s", "--max-time", "30s", "--max-size", "1MiB"]
PAGE = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>"


def places(count, name="Place"):
    rows = "".join(f"k{n},{name} {n},cafe,{n % 80},{n % 170}\n" for n in range(count))
    return ("id,name,category,latitude,longitude\n" + rows).encode()


class Source:
    """A server of one file. `respond` gets the handler of each request."""

    def __init__(self):
        self.port, self.seen, self.server = free_port(), [], None
        self.is_waiting = threading.Event()
        self.give(places(COUNT))

    @property
    def url(self):
        return f"http://{USER}:{PASSWORD}@127.0.0.1:{self.port}/data/cafes.csv?token={TOKEN}"

    def start(self):
        source = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                source.seen.append((self.path, dict(self.headers)))
                source.respond(self)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None

    def give(self, body, status=200, length=None, headers=()):
        """The same body for each request, perhaps with another length than it has."""
        def respond(handler):
            handler.send_response(status)
            for name, value in headers:
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(body) if length is None else length))
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.wfile.write(body)
            handler.close_connection = True
        self.respond = respond

    def give_tagged(self, body, tag):
        def respond(handler):
            is_known = handler.headers["If-None-Match"] == tag
            handler.send_response(304 if is_known else 200)
            handler.send_header("ETag", tag)
            if not is_known:
                handler.send_header("Content-Length", str(len(body)))
            handler.end_headers()
            if not is_known:
                handler.wfile.write(body)
        self.respond = respond

    def hang(self):
        """Begins a response, and waits until the client has gone."""
        def respond(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "1000000")
            handler.end_headers()
            handler.wfile.write(places(3))
            handler.wfile.flush()
            self.is_waiting.set()
            handler.connection.recv(1)
            handler.close_connection = True
        self.is_waiting.clear()
        self.respond = respond


class Refresher:
    def __init__(self, poi, database, folder):
        self.poi, self.database, self.folder, self.said = poi, database, folder, ""
        self.temporary = folder / "temporary"
        self.temporary.mkdir()

    def command(self, *arguments):
        environment = {**os.environ, "DATABASE_URL": self.database.url("poi_migrate"), "TMPDIR": str(self.temporary)}
        return subprocess.Popen([self.poi, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env=environment)

    def run(self, *arguments, expect=0, says=""):
        with self.command(*arguments) as process:
            output = process.stdout.read()
        self.said += output
        assert process.returncode == expect and says in output, output
        assert not list(self.temporary.iterdir())
        return output

    def refresh(self, *options, expect=0, says=""):
        return self.run("refresh", DATASET, *LIMITS, *options, expect=expect, says=says)

    def places(self):
        """All that there is of places, with their versions."""
        return self.database.query("SELECT md5(string_agg(locations::text, '' ORDER BY id)), count(*) FROM locations")

    def outcome(self):
        """As a server may know it: whether the last refresh succeeded, and why not."""
        return psql(self.database.url("poi_serve"), "SELECT coalesce(failed_at < succeeded_at, failed_at IS NULL), failure "
                    "FROM dataset_refreshes").stdout.strip().split("|")


@pytest.fixture
def source():
    source = Source()
    source.start()
    yield source
    source.stop()


@pytest.fixture
def refresher(poi, database, tmp_path):
    migrate(poi, database.url("poi_migrate"))
    return Refresher(poi, database, tmp_path)


@pytest.fixture
def refreshed(refresher, source):
    """A dataset that was refreshed once, by a URL that no option has."""
    (refresher.folder / "source").write_text(source.url + "\n")
    refresher.refresh("--source-file", refresher.folder / "source", "--license", "CC0-1.0", "--id", "id",
                      says=f"added {COUNT}")
    return refresher


def test_a_source_that_fails_changes_nothing_and_is_told(refreshed, source, fleet):
    kept, credentials = refreshed.places(), base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    assert source.seen[0][0] == f"/data/cafes.csv?token={TOKEN}"
    assert source.seen[0][1]["Authorization"] == f"Basic {credentials}"
    assert refreshed.outcome() == ["t", ""]

    def fails(says, *options):
        shown = f"127.0.0.1:{source.port}/data/cafes.csv"
        output = refreshed.refresh(*options, expect=1, says=says)
        is_success, reason = refreshed.outcome()
        assert is_success == "f" and says in reason and reason in output
        assert (shown in reason) == (shown in output)
        assert refreshed.places() == kept

    source.stop()
    fails("takes no connection")
    source.start()
    source.hang()
    fails("it took too long")
    source.give(places(COUNT), length=1_000_000)
    fails("cut short")
    source.give(b"")
    fails("the response is empty")
    source.give(PAGE, status=404)
    fails("the server responded 404")
    source.give(PAGE)
    fails("the response is a web page")
    source.give(b"", status=302, headers=[("Location", f"ftp://127.0.0.1/?{TOKEN}")])
    fails("http or https")
    source.give(b"", status=302, headers=[("Location", source.url)])
    fails("more than five times")
    source.give(places(COUNT * 1000))
    fails("more than 1048576 bytes")
    source.give(places(COUNT * 4 // 10))
    fails("removals=60%")
    metrics = read_metrics(fleet, refreshed)
    assert metrics["failed"] > metrics["succeeded"]

    # Four places fewer go through, then there are as many again.
    source.give(places(COUNT - 4))
    refreshed.refresh(says="removed 4")
    assert refreshed.outcome()[0] == "t"
    source.give(places(COUNT))
    refreshed.refresh(says="added 4")
    metrics = read_metrics(fleet, refreshed)
    assert metrics["succeeded"] > metrics["failed"]

    shown = refreshed.run("imports") + refreshed.run("datasets")
    assert f"127.0.0.1:{source.port}/data/cafes.csv" in shown and ", import 3" in shown
    readable = refreshed.database.query(
        "SELECT string_agg(format('%I.%I', relname, attname), ' ') FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid "
        "WHERE attnum > 0 AND relnamespace = 'public'::regnamespace AND relname LIKE 'dataset%' "
        "AND has_column_privilege('poi_serve', attrelid, attnum, 'SELECT')").split()
    assert "dataset_refreshes.failure" in readable
    for table in {column.split(".")[0] for column in readable}:
        columns = ",".join(column.split(".")[1] for column in readable if column.startswith(table + "."))
        refreshed.said += psql(refreshed.database.url("poi_serve"), f"SELECT {columns} FROM {table}").stdout
    refreshed.said += refreshed.database.query("SELECT string_agg(import_runs::text, '') FROM import_runs")
    for secret in (PASSWORD, TOKEN, credentials, "download-"):
        assert secret not in refreshed.said


def read_metrics(fleet, refresher):
    """What a server says that starts now, by when a refresh last succeeded and failed."""
    (server,) = fleet(refresher.database.url("poi_serve"))
    names = [f'poi_refresh_{outcome}_timestamp_seconds{{dataset="{DATASET}"}} ' for outcome in ("succeeded", "failed")]
    text = wait_for(lambda: (text := server.metrics()) and all(name in text for name in names) and text, 60, "the metrics")
    assert PASSWORD not in text and TOKEN not in text
    return {name.split("_")[2]: float(text.partition(name)[2].split("\n")[0]) for name in names}


def test_an_unchanged_file_is_not_imported_unless_something_else_was(refreshed, source):
    source.give_tagged(places(COUNT), '"v1"')
    refreshed.refresh(says="unchanged 100")
    refreshed.refresh(says="has not changed")
    assert ", unchanged since import 2" in refreshed.run("datasets")
    # With an option about the file it is read in any case; so it is after another import, and once one is taken back.
    refreshed.refresh("--id", "id", says="unchanged 100")
    path = refreshed.folder / "other.csv"
    path.write_bytes(places(COUNT, "Other"))
    refreshed.run("import", path, "--dataset", DATASET, "--allow", "names", says="changed 100")
    refreshed.refresh(expect=1, says="--allow names")
    refreshed.refresh("--allow", "names", says="changed 100")
    refreshed.refresh(says="has not changed")
    refreshed.run("imports", "revert", "5")
    refreshed.refresh(expect=1, says="--allow names")
    refreshed.refresh("--allow", "names", says="changed 100")
    # A name that somebody else has in this moment is no new source.
    source.give(PAGE, status=404)
    refreshed.refresh("--source", f"http://127.0.0.1:{source.port}/other.csv", expect=1, says="404")
    source.give_tagged(places(COUNT), '"v1"')
    refreshed.refresh(says="has not changed")
    assert source.seen[-1][0].startswith("/data/cafes.csv")
    refreshed.run("refresh", DATASET, "--source=", says="has no source any more")
    refreshed.refresh(expect=64, says="expected --source URL")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_download_and_leaves_no_folder(refreshed, source, number):
    kept = refreshed.places()
    source.hang()
    with refreshed.command("refresh", DATASET) as process:
        assert source.is_waiting.wait(60)
        (folder,) = refreshed.temporary.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        # Nobody sees the secrets of a program that runs.
        commands = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
        assert any(b"--max-redirs" in command for command in commands)
        assert not any(TOKEN.encode() in command or PASSWORD.encode() in command for command in commands)
        assert end(process, number) == 1
        assert "stopped by a signal" in process.stdout.read()
    assert not list(refreshed.temporary.iterdir()) and refreshed.places() == kept
    assert refreshed.outcome()[0] == "f"


def test_only_the_role_that_imports_reads_a_source(refreshed, fleet):
    for role in ("poi_serve", "poi_events"):
        for column in ("source", "etag", "last_modified", "*"):
            result = psql(refreshed.database.url(role), f"SELECT {column} FROM dataset_refreshes", check=False)
            assert result.returncode != 0 and "permission denied" in result.stderr
    assert refreshed.outcome() == ["t", ""]
    # A server that may read nothing of refreshes serves places, and says nothing of them.
    refreshed.database.query("REVOKE ALL ON dataset_refreshes FROM poi_serve")
    (server,) = fleet(refreshed.database.url("poi_serve"))
    metrics = wait_for(lambda: (text := server.metrics()) and f"poi_index_places {COUNT}" in text and text, 60, "the places")
    assert "poi_refresh" not in metrics and len(server.json("/locations?lat=1&long=1")) > 0


def test_a_dry_run_and_what_is_no_source_change_nothing(refresher, source):
    terms = ["--license", "CC0-1.0", "--id", "id"]
    refresher.refresh("--source", source.url, expect=64, says="--license")
    refresher.refresh("--source", source.url, "--dry-run", *terms, says=f"added {COUNT}")
    # What is rejected of it is said to be of its host and path.
    source.give(b'[{"id":"1","name":"A","category":"cafe","lat":1,"lon":2},{"id":"2","category":"cafe","lat":1,"lon":2}]')
    rejected = refresher.folder / "rejected"
    refresher.refresh("--source", source.url, "--dry-run", "--format", "geojson", "--rejects", rejected, *terms)
    assert f'"rejected_file":"127.0.0.1:{source.port}/data/cafes.csv"' in rejected.read_text()
    for url in ("ftp://a.example/x.csv", f"file:///etc/{TOKEN}", "a.example", "http://a.example/ x", "http://a.example/\"x"):
        output = refresher.refresh("--source", url, *terms, expect=64, says="--source=(redacted): expected")
        assert TOKEN not in output
    for other in (["--sync"], ["--unconfined-source"], ["--dataset", "x"]):
        refresher.refresh("--source", source.url, *other, *terms, expect=64, says="poi refresh takes no " + other[0])
    assert refresher.places().endswith("|0")
    assert refresher.database.query("SELECT count(*) FROM dataset_refreshes") == "0"
    # It fails before there is a dataset, and is listed all the same.
    source.give(PAGE, status=404)
    refresher.refresh("--source", source.url, *terms, expect=1, says="404")
    assert "the server responded 404" in refresher.run("datasets")
