"""The targets, servers with their places and keys, and the contract suite, which is run against a proxy before them."""

import json
import os
import secrets
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from psql import psql
from servers import ROOT, Server
from towns import largest_towns, write_towns

LIMITS = {"POI_RATE_LIMIT": "1/h", "POI_RATE_BURST": "1"}
# In no list, so that what the suite is told of the seed stays true.
CLOSED = """
INSERT INTO locations (name, category, latitude, longitude, operating_status)
VALUES ('The Closed Museum', 'museum', 37.3316, -121.8901, 'permanentlyClosed')
"""
# What the suite is told of the seed.
KNOWN = """# POI_CACHE_PRIVATE_MAX_AGE=60
# POI_CACHE_PUBLIC_MAX_AGE=60
# POI_CORS_ORIGINS=https://app.example
name,latitude,longitude
The Tech Interactive,37.3316,-121.8901
"""
# As many as the suite makes on a machine that is faster than this one.
EDITS = {"POI_EDITOR_RATE_LIMIT": "1000/s"}
BUILD = ["swift", "build", "--quiet", "--build-tests", "--scratch-path", ".build/contract", "-Xswiftc", "-gnone"]
BUILT = ".build/contract/debug/points-of-interestPackageTests.xctest"
MOST_SECONDS = 300


@contextmanager
def serving(name, program):
    """A target by its name: a service and its double that limits requests, and what the suite is told of them."""
    keys = {kind: f"{kind}-{secrets.token_hex(16)}" for kind in ("data", "events")}
    settings = {"POI_CORS_ORIGINS": "https://app.example", "POI_API_KEYS": keys["data"],
                "POI_EVENTS_KEYS": keys["events"]}
    variables = {"POI_CONTRACT_KEYS": ",".join(f"{kind}={key}" for kind, key in keys.items())}
    made = subprocess.run([program, "editors", "key", "suite"], check=True, capture_output=True, text=True)
    variables["POI_CONTRACT_EDITOR_KEY"] = made.stderr.split()[-1]
    with tempfile.TemporaryDirectory() as folder, Server(program) as database:
        file, editors = Path(folder) / "places.csv", Path(folder) / "editors"
        editors.write_text(made.stdout)
        settings |= EDITS | {"POI_EDITORS_FILE": str(editors)}
        psql(database.database, CLOSED)
        if name == "seed":
            file.write_text(KNOWN)
            variables |= {"POI_CONTRACT_SEEDED": "true", "POI_CONTRACT_EXPECT": str(file)}
        else:
            # The seed, and towns.
            write_towns(file, largest_towns(20_000))
            subprocess.run([program, "import", file, "--dataset", "towns", "--license", "CC-BY-4.0", "--id", "id",
                            "--add-categories", "--database-url", database.database], check=True, capture_output=True)
        with (Server(program, database.database, settings=settings) as service,
              Server(program, database.database, settings=settings | LIMITS) as limited):
            yield SimpleNamespace(ports=[service.port, limited.port], keys=keys, variables=variables,
                                  description=service.json("/openapi.json"))


def build_suite():
    """The suite's program: what POI_CONTRACT_TESTS names, or as scripts/contract-test builds it, alone."""
    if "POI_CONTRACT_TESTS" in os.environ:
        return ROOT / os.environ["POI_CONTRACT_TESTS"]
    subprocess.run(BUILD, cwd=ROOT, check=True, env={**os.environ, "POI_TARGETS": "PointsOfInterestContractTests"})
    return ROOT / BUILT


@dataclass
class Run:
    """What a run of the suite has shown; `test` and `text` are of its first failure, or `text` of what went wrong."""

    tests: int = 0
    skipped: int = 0
    test: str = ""
    text: str = ""
    has_crashed: bool = False

    def note(self, line):
        """Takes an event; returns whether it is a failure."""
        record = json.loads(line)
        event = record["payload"]
        kind = event["kind"] if record["kind"] == "event" else ""
        self.tests += kind == "testCaseStarted"
        self.skipped += kind == "testSkipped"
        if kind == "issueRecorded" and not event["issue"].get("isKnown"):
            self.test = event.get("testID", "no test")
            self.text = " ".join(message["text"] for message in event.get("messages", []))
        return bool(self.test)


def run_suite(program, variables):
    """Runs the suite with these variables, to its first failure."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("POI_")}
    run, (reading, writing) = Run(), os.pipe()
    with open(reading, "rb") as events, tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [program, "--testing-library", "swift-testing", "--filter", "^PointsOfInterestContract",
             "--event-stream-output-path", f"/dev/fd/{writing}", "--event-stream-version", "0"],
            cwd=ROOT, env=own | variables, pass_fds=[writing], stdout=output, stderr=output, start_new_session=True)
        os.close(writing)
        timer = threading.Timer(MOST_SECONDS, process.kill)
        timer.start()
        has_failed = any(line.endswith(b"\n") and run.note(line) for line in events)
        timer.cancel()
        if has_failed:
            process.kill()
        code = process.wait()
        if not has_failed and (code != 0 or run.tests == 0):
            output.seek(0)
            run.has_crashed, run.text = True, f"exit code {code}: {output.read()[-600:].decode(errors='replace')}"
    return run
