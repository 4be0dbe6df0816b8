"""`poi import`, the real program, beside a server that serves what it imports. See Documentation/import.md."""

import gzip
import html
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import pytest

from processes import MEASURED, wait_for
from psql import psql
from real_files import HELSINKI, write_cities
from servers import ROOT, Server

SETTINGS = {"POI_SEEDS": "false"}
MAXIMUM_MEMORY = 150 << 20
ROWS = 2000
HEADER, GOOD = b"id,name,category,latitude,longitude\n", b"x1,X,cafe,1,1\n"


class Importer:
    """Imports into a server's database."""

    def __init__(self, poi, server, folder):
        self.poi, self.server, self.folder = poi, server, folder

    def command(self, *options, dataset="check"):
        return [self.poi, "import", *options, "--dataset", dataset, "--license", "CC0-1.0", "--allow",
                "removals=100%,empty,names,positions,members", "--reset-options", "--database-url", self.server.database]

    def run(self, *options, expect, says=(), chunks=(), dataset="check", **variables):
        """An import, which has to end with that exit code, to print those texts, and to take little memory."""
        memory = self.folder / "memory"
        process = subprocess.Popen(
            [*MEASURED, memory, *self.command(*options, dataset=dataset)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, env={**os.environ, **variables})
        try:
            for chunk in chunks:
                process.stdin.write(chunk)
            process.stdin.close()
        except BrokenPipeError:
            pass
        with process:
            output = process.stdout.read().decode()
        assert process.returncode == expect, output
        for text in [says] if isinstance(says, str) else says:
            assert text in output
        assert int(memory.read_text()) << 10 <= MAXIMUM_MEMORY, output
        return output

    def sql(self, statement):
        return psql(self.server.database, statement).stdout.strip()

    def versions(self):
        """The first words of the dataset's names, and how many places it has."""
        return self.sql("SELECT string_agg(DISTINCT split_part(name, ' ', 1), ','), count(*) FROM locations "
                        "WHERE source_dataset = 'check'")

    def is_importing(self):
        return self.sql("SELECT count(*) FROM pg_locks WHERE relation = 'datasets'::regclass "
                        "AND mode = 'ShareUpdateExclusiveLock'") != "0"


@pytest.fixture
def importer(poi, server, tmp_path):
    return Importer(poi, server, tmp_path)


@pytest.fixture
def kept(importer):
    """Places that are there before a test: names, and what the database is then."""
    importer.run("-", chunks=[csv("kept")], expect=0)
    return importer.sql("SELECT id FROM dataset"), importer.versions()


def csv(name, count=ROWS):
    return HEADER + b"".join(b"%d,%s %d,cafe,%d,%d\n" % (n, name.encode(), n, n % 80, n % 170) for n in range(count))


def first_place(server, latitude, longitude):
    return next(iter(server.json(f"/locations?lat={latitude}&long={longitude}&limit=1")), None)


def first_name(server, latitude, longitude):
    return (first_place(server, latitude, longitude) or {}).get("name")


@pytest.mark.parametrize("kills", [pytest.param(10, marks=pytest.mark.ci), pytest.param(50, marks=pytest.mark.soak)])
def test_a_kill_leaves_the_old_places_or_the_new_ones(importer, random_source, kills):
    path = importer.folder / "places.csv"
    path.write_bytes(csv("v0"))
    importer.run(path, expect=0)
    path.write_bytes(csv("v1"))
    start = time.monotonic()
    importer.run(path, expect=0, says=f"changed {ROWS}")
    longest = time.monotonic() - start
    old, outcomes = "v1", {"old": 0, "new": 0}
    for number in range(2, kills + 2):
        new = f"v{number}"
        path.write_bytes(csv(new))
        with subprocess.Popen(importer.command(path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            time.sleep(random_source.uniform(0, 1.2 * longest))
            process.kill()
        # A session whose client was killed notices it when it next reads or writes.
        wait_for(lambda: not importer.is_importing(), 60, "the end of the session")
        state = importer.versions()
        assert state in (f"{old}|{ROWS}", f"{new}|{ROWS}")
        outcomes["old" if state.startswith(f"{old}|") else "new"] += 1
        old = state.split("|")[0]
    path.write_bytes(csv("last"))
    importer.run(path, expect=0, says=f"changed {ROWS}")
    # The server was never restarted, and follows.
    wait_for(lambda: first_place(importer.server, 7, 7)["name"].startswith("last "), 60, "the last import's places")
    print(f"{kills} kills, {outcomes['old']} left the old places, {outcomes['new']} the new ones")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_changes_nothing_and_is_named(importer, kept, number):
    with subprocess.Popen(importer.command("-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as process:
        process.stdin.write(csv("cut"))
        process.stdin.flush()
        wait_for(importer.is_importing, 60, "the import's lock")
        process.send_signal(number)
        output = process.stdout.read().decode()
    assert process.returncode == 1 and f"stopped by {number.name}: nothing was changed" in output
    assert importer.versions() == kept[1]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_a_signal_ends_the_converter_too_and_leaves_no_folder(importer, kept, number):
    """While `ogr2ogr` waits for what isn't sent."""
    temporary = importer.folder / "temporary"
    temporary.mkdir()
    with subprocess.Popen([*importer.command("-"), "--format", "gdal"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": str(temporary)}) as process:
        wait_for(lambda: any(temporary.glob("poi-import-*")), 60, "the converter's folder")
        wait_for(importer.is_importing, 60, "the import's lock")
        wait_for(lambda: readers(process.stdin) > 1, 60, "the converter")
        process.send_signal(number)
        process.wait()
        wait_for(lambda: readers(process.stdin) == 0, 60, "the converter's end")
    wait_for(lambda: not any(temporary.iterdir()), 60, "the removal of its folder")
    assert importer.versions() == kept[1]


def readers(pipe):
    """How many processes have the other end of a pipe as their standard input."""
    inode, count = os.fstat(pipe.fileno()).st_ino, 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            count += (process / "fd/0").stat().st_ino == inode
        except OSError:
            pass
    return count


WAITS = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '{}%'"


@pytest.mark.parametrize("holder, waits", [
    ("INSERT INTO categories (name) VALUES ('later'); SET CONSTRAINTS ALL IMMEDIATE", "COMMIT"),
    ("LOCK TABLE datasets IN SHARE UPDATE EXCLUSIVE MODE", "LOCK TABLE datasets"),
], ids=["to commit", "for another import"])
def test_a_signal_ends_an_import_that_waits(importer, kept, holder, waits):
    path = importer.folder / "places.csv"
    path.write_bytes(csv("late"))
    with subprocess.Popen(["psql", "--no-psqlrc", "--quiet", importer.server.database], stdin=subprocess.PIPE) as other:
        other.stdin.write(f"BEGIN; {holder};\n".encode())
        other.stdin.flush()
        wait_for(lambda: importer.sql("SELECT count(*) FROM pg_locks WHERE mode = 'ShareUpdateExclusiveLock'") != "0", 60,
                 "the other's lock")
        with subprocess.Popen(importer.command(path), stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            wait_for(lambda: importer.sql(WAITS.format(waits)) != "0", 60, "the import waits")
            process.terminate()
            begun = time.monotonic()
            output = process.stdout.read().decode()
        assert process.returncode == 1 and "stopped by SIGTERM: nothing was changed" in output
        assert time.monotonic() - begun < 5
        other.stdin.close()
    assert (importer.sql("SELECT id FROM dataset"), importer.versions()) == kept


def repeated(chunk, megabytes):
    return (chunk * ((1 << 20) // len(chunk)) for _ in range(megabytes))


def bomb():
    parts = [HEADER, b"1,", *[bytes([97]) * (1 << 20)] * 200]
    return gzip.compress(b"".join(parts))


# What standard input has, the expected exit code, what has to be said, and further options.
HOSTILE = {
    "a line without end": (lambda: [HEADER, GOOD, b"x2,", *repeated(b"a", 128)], 1, "line 3"),
    "a quote without end": (lambda: [HEADER, GOOD, b'x2,"open\n', *repeated(b"1,a,cafe,1,1\n", 64)], 1, ["line 3", "quote"]),
    "a million columns": (lambda: [b"a," * 1_000_000], 1, "line 1"),
    "nothing": (lambda: [b""], 1, ""),
    "one column": (lambda: [b"name\n"], 1, "line 1"),
    "UTF-16, cut": (lambda: [HEADER.decode().encode("utf-16")[:-1]], 1, "UTF-16LE"),
    # These only have rows that are rejected.
    "NUL": (lambda: [HEADER, b"x1,A\0B,cafe,1,1\n"], 1, "nul 1"),
    "no UTF-8": (lambda: [HEADER, b"x1,\xff\xc3\xa9\xc3\xa9,cafe,1,1\n"], 1, "invalid-text 1"),
    "no positions": (lambda: [HEADER, b"x1,A,cafe,nan,1\nx2,A,cafe,1,inf\nx3,A,cafe,91,1\nx4,A,cafe,1e400,1\n"], 1, "none of 4 rows"),
    "too many and too few columns": (lambda: [HEADER, b"x1,A,cafe,1,1,1\nx2\n"], 1, "column-count 2"),
    "SQL": (lambda: [HEADER, b"x1,A,'; DROP TABLE locations; --,1,1\n"], 1, "unknown-category 1"),
    "too many errors": (lambda: [HEADER, *repeated(b"x1,,cafe,1,1\n", 1)], 1, ["--max-errors", "line 11"], "--max-errors", "9"),
}
# Files, and what has to be said of them.
HOSTILE_FILES = {
    "bomb.csv.gz": (bomb, "line 2"),
    "damaged.csv.gz": (lambda: gzip.compress(HEADER + GOOD * 10_000)[:-100], "gzip"),
    "none.csv": (None, "No such file"),
    ".": (None, ""),
    "deep.geojson": (lambda: b'{"type":"FeatureCollection","features":' + b"[" * 5_000_000, ""),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_changes_nothing(importer, kept, name):
    chunks, code, says, *options = HOSTILE[name]
    importer.run("-", *options, chunks=chunks(), expect=code, says=says)
    assert (importer.sql("SELECT id FROM dataset"), importer.versions()) == kept


@pytest.mark.parametrize("name", HOSTILE_FILES)
def test_a_hostile_file_changes_nothing(importer, kept, name):
    content, says = HOSTILE_FILES[name]
    if content:
        (importer.folder / name).write_bytes(content())
    importer.run(importer.folder / name, expect=1, says=says)
    assert (importer.sql("SELECT id FROM dataset"), importer.versions()) == kept


def test_rejected_rows_are_written_down(importer, kept):
    rejects = importer.folder / "rejects.csv"
    importer.run("-", "--id", "id", "--rejects", rejects, chunks=[csv("kept") + b'r1,"No, such",none,1,1\n'], expect=0,
                 says=[f"unchanged {ROWS}", "unknown categories: none 1"])
    assert rejects.read_text() == (
        "rejected_line,rejected_reason,rejected_detail,id,name,category,latitude,longitude\n"
        f'{ROWS + 2},unknown-category,none,r1,"No, such",none,1,1\n')
    rejects.write_text(rejects.read_text().replace(",none,1,1", ",cafe,1,1"))
    again = importer.folder / "again.csv"
    importer.run(rejects, "--id", "id", "--rejects", again, expect=0, says=["read 1,", "added 1,"])
    assert again.read_bytes() == b""


def test_rejected_objects_of_openstreetmap_are_mended_and_imported(importer):
    """What rejects become is imported by the same command, although only the extract said that it is of OpenStreetMap."""
    rejects = importer.folder / "rejects.geojsonl"
    report = importer.run(HELSINKI, "--rejects", rejects, "--add-categories", dataset="mended", expect=0)
    lines = rejects.read_text().splitlines()
    assert f"rejected {len(lines)}," in report and len(lines) > 50
    features = [json.loads(line) for line in lines]
    assert {feature["rejected_mapping"] for feature in features} == {"openstreetmap"}
    for feature in features:
        assert feature["rejected_reason"] == "no-name"
        feature["properties"]["name"] = "Somewhere"
    rejects.write_text("".join(json.dumps(feature) + "\n" for feature in features))
    importer.run(rejects, "--add-categories", dataset="mended", expect=0, says=["rejected 0,", f"added {len(lines)},"])
    ids = importer.sql("SELECT source_id FROM locations WHERE source_dataset = 'mended' AND name = 'Somewhere'").split("\n")
    assert all(re.fullmatch("(node|way|relation)/[0-9]+", name) for name in ids)


def test_an_import_of_many_rejected_rows_is_refused(importer, kept):
    """It says how to allow it, writes the rows down, and a dry run says the same."""
    rejects = importer.folder / "rejects.csv"
    rows = [HEADER, GOOD, *[b"r%d,,cafe,1,1\n" % number for number in range(11)]]
    says = ["11 of 12 rows were rejected, more than 10 %: no-name 11", "--max-errors 11"]
    for options in (["--dry-run"], []):
        importer.run("-", "--rejects", rejects, *options, chunks=rows, expect=1, says=says)
        assert len(rejects.read_text().splitlines()) == 12
        rejects.unlink()
        assert (importer.sql("SELECT id FROM dataset"), importer.versions()) == kept
    importer.run("-", "--max-errors", "11", chunks=rows, expect=0, says="added 1,")


@pytest.mark.parametrize("options", [
    "- --bbox 1,2", "- --delimiter ab", "- --column color=c", "- --colour c", "- -", "- --url javascript:1", "- --max-errors -1",
    ""])
def test_a_wrong_option_is_refused(importer, options):
    importer.run(*options.split(), expect=64)


def test_a_misspelt_option_is_named(poi):
    """Each option of `poi import --help` with any one of its letters missing, whatever else is missing then."""
    text = subprocess.run([poi, "import", "--help"], check=True, capture_output=True, text=True).stdout
    options = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", text)) | {"--database-url"}
    assert {"--dataset", "--license", "--sync", "--max-errors", "--crs"} < options
    for option in sorted(options):
        for position in range(2, len(option)):
            misspelt = option[:position] + option[position + 1:]
            if misspelt in options or option[position] == "-":
                continue
            done = subprocess.run([poi, "import", "a.csv", misspelt, "x"], capture_output=True, text=True)
            assert done.returncode == 64 and f"did you mean {option}?" in done.stderr, (misspelt, done.stderr)


@pytest.mark.parametrize("choice, says", [
    ("{country code|countries}", 'address[0]: "lookup" has no table "countries"'), ("{country code", "address[0]: a brace")])
def test_a_wrong_mapping_is_refused(importer, choice, says):
    path = importer.folder / "mapping.json"
    path.write_text(json.dumps({"name": ["{name}"], "category": ["cafe"], "address": [choice]}))
    output = importer.run("-", "--mapping", path, expect=1, says=says)
    assert output.count("\n") == 1


def test_sql_of_a_virtual_layer_is_not_run(importer, without_bubblewrap):
    """A file that is SQL for this database, as which GDAL would read it, runs only where --unconfined-source says so."""
    importer.sql("INSERT INTO locations (name, category, latitude, longitude) VALUES ('Victim', 'cafe', 1, 2)")
    path = importer.folder / "places.gpx"
    path.write_text(
        f"<OGRVRTDataSource><OGRVRTLayer name='a'><SrcDataSource>{html.escape(importer.server.database)}</SrcDataSource>"
        "<SrcSQL>DELETE FROM locations WHERE name = 'Victim' RETURNING name</SrcSQL></OGRVRTLayer></OGRVRTDataSource>")
    for search_path in (os.environ["PATH"], without_bubblewrap):
        importer.run(path, "--dry-run", expect=1, says=["its root element, OGRVRTDataSource", "--unconfined-source"],
                     PATH=search_path)
        assert importer.sql("SELECT count(*) FROM locations WHERE name = 'Victim'") == "1"
    path.write_text("<gpx version='1.1' creator='a'/>")
    says = ["without a sandbox", "nothing was changed"]
    importer.run(path, "--dry-run", expect=0, says=says, PATH=without_bubblewrap)
    source = f"PG:{importer.server.database}"
    importer.run(source, "--dry-run", expect=1, says="--unconfined-source")
    importer.run(source, "--dry-run", "--unconfined-source", expect=0, says=["rejected 0,", "nothing was changed"])
    importer.sql("DELETE FROM locations WHERE name = 'Victim'")


def test_poi_dev_imports_before_it_serves(poi, tmp_path):
    """The next start does so again, without what the file no longer has."""
    tmp_path.chmod(0o755)
    path, state = tmp_path / "mine.csv", tmp_path / "state"
    for names, counts in ((["A", "B"], "added 2,"), (["B"], "removed 1")):
        path.write_text("name,category,lat,lon\n" + "".join(f"{name},no_such_one,1,2\n" for name in names))
        with Server(poi, arguments=["--import", path], settings={**SETTINGS, "POI_STATE_DIR": str(state)}) as server:
            place = first_place(server, 1, 2)
            assert counts in server.output
        assert place["name"] in names and place["source"]["dataset"] == "mine"
    path.write_text("name,category,lat,lon\nC,cafe,1,2\n" + ",cafe,1,2\n" * 11)
    dev = [poi, "dev", "--import", path, "--state-dir", state, "--port", "0"]
    refused = subprocess.run(dev, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert refused.returncode == 1 and "--max-errors 11" in refused.stderr
    with Server(poi, arguments=["--import", path, "--max-errors", "11"],
                settings={**SETTINGS, "POI_STATE_DIR": str(state)}) as server:
        assert first_place(server, 1, 2)["name"] == "C"


@pytest.mark.soak
def test_all_towns_of_geonames_are_found_where_they_are(importer, random_source):
    path = importer.folder / "cities500.txt"
    cities = write_cities(path)
    importer.run(path, "--mapping", "geonames", dataset="cities", expect=0, says=["rejected 0,", f"added {len(cities)},"])
    wait_for(lambda: first_name(importer.server, 60.16952, 24.93545) == "Helsinki", 120, "the towns")
    for city in random_source.sample(cities, 1000):
        latitude, longitude = city.split("\t")[4:6]
        place = first_place(importer.server, latitude, longitude)
        assert (place["distance"], place["latitude"], place["longitude"]) == (0, float(latitude), float(longitude)), city
    stored = importer.sql("SELECT source_id, importance, address IS NOT NULL FROM locations WHERE source_dataset = 'cities'")
    expected = {f"{fields[0]}|{importance(int(fields[14]))}|t" for fields in (city.split("\t") for city in cities)}
    assert set(stored.split("\n")) == expected


def importance(population):
    return min(1000, round(140 * math.log10(population))) if population else 0


def test_a_town_of_geonames_has_its_country_and_is_found_by_its_other_names(importer):
    # At sea, where no other place is nearer.
    rows = ["1\tZürich\tZurich\tZRH,Turitg,チューリッヒ\t-47.5\t-30.5\tP\tPPLA\tCH\t\t\t\t\t\t341730\t\t\t\t",
            "2\tPrishtina\tPrishtina\t\t-48.5\t-30.5\tP\tPPLC\tXK\t\t\t\t\t\t0\t\t\t\t"]
    path = importer.folder / "extract.txt"
    path.write_text("".join(row + "\n" for row in rows))
    importer.run(path, "--mapping", "geonames", dataset="extract", expect=0, says=["rejected 0,", "added 2,"])
    wait_for(lambda: first_name(importer.server, -48.5, -30.5) == "Prishtina", 60, "the towns")
    prishtina = first_place(importer.server, -48.5, -30.5)
    assert prishtina["address"] == "Kosovo" and "importance" not in prishtina
    for text in ("zürich", "zurich", "turitg", "チューリッヒ"):
        [found] = importer.server.json(f"/locations?lat=-47.5&long=-30.5&dataset=extract&q={quote(text)}")
        assert (found["name"], found["address"], found["importance"]) == ("Zürich", "Switzerland", importance(341730))
    importer.run(path, "--mapping", "geonames", dataset="extract", expect=0, says="unchanged 2")


def test_an_openstreetmap_extract_is_unchanged_by_itself(importer):
    report = importer.run(HELSINKI, "--add-categories", dataset="helsinki", expect=0)
    added = re.search(r"added (\d+)", report).group(1)
    importer.run(HELSINKI, "--sync", dataset="helsinki", expect=0, says=f"unchanged {added}, removed 0")


# A file by the published schema of Overture's places of September 2026: three in categories of the mapping, and one that is in
# none.
OVERTURE = """
COPY (
    SELECT '08f11' || n AS id, CAST('POINT (' || 24.9 + n / 8 || ' 60.125)' AS GEOMETRY) AS geometry, 1 AS version,
        {{'primary': name, 'common': MAP {{'sv': name || 'et'}}, 'rules': NULL}} AS names,
        category AS basic_category, status AS operating_status, 0.9 AS confidence,
        {{'primary': kind, 'hierarchy': ['top', kind], 'alternates': CAST(NULL AS VARCHAR[])}} AS taxonomy,
        ['https://example.com/' || n] AS websites, CAST(NULL AS VARCHAR[]) AS socials, ['+358'] AS phones,
        [{{'freeform': 'Katu ' || n, 'locality': 'Helsinki', 'postcode': '00100', 'region': NULL, 'country': 'FI'}}] AS addresses
    FROM (VALUES (0, 'Ekberg "1852"', 'coffee_shop', 'coffee_shop', 'open'), (1, 'Kiasma', NULL, 'art_museum', NULL),
        (2, 'Putki', 'plumbing_service', 'plumbing', 'open'), (3, 'Loppu', 'hotel', 'hotel', 'permanently_closed'))
        AS place(n, name, category, kind, status)
) TO '{path}' (FORMAT parquet)
"""


def test_overtures_parquet_goes_in_as_documented(importer, poi):
    parquet, programs = importer.folder / "place.parquet", importer.folder / "programs"
    programs.mkdir()
    (programs / "poi").symlink_to(poi)
    path = {**os.environ, "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(["duckdb", "-c", OVERTURE.format(path=parquet)], env=path, check=True)
    command, = re.findall("^    (duckdb -c .*)$", (ROOT / "Documentation/import.md").read_text(), re.M)
    subprocess.run(["bash", "-o", "pipefail", "-c", command.replace("place.parquet", str(parquet))], check=True,
                   env={**path, "DATABASE_URL": importer.server.database})
    assert importer.sql("""
        SELECT string_agg(concat_ws('; ', source_id, name, category, latitude, longitude, address, website, names,
        operating_status), E'\n' ORDER BY source_id) FROM locations WHERE source_dataset = 'overture'""").split("\n") == [
        '08f110; Ekberg "1852"; cafe; 60.125; 24.9; Katu 0, 00100 Helsinki; https://example.com/0; {"sv": "Ekberg \\"1852\\"et"}',
        '08f111; Kiasma; museum; 60.125; 25.025; Katu 1, 00100 Helsinki; https://example.com/1; {"sv": "Kiasmaet"}',
        '08f113; Loppu; hotel; 60.125; 25.275; Katu 3, 00100 Helsinki; https://example.com/3; {"sv": "Loppuet"}; permanentlyClosed']
