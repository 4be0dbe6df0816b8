"""What `read-places` reads, as an import does, compared with other programs; and files that are hostile.

Real files become the places that osmium and GeoNames have. Hostile ones are refused with their line, in little memory, and
lead GDAL to no other file, network or database, with a sandbox and without.
"""

import gzip
import json
import os
import re
import subprocess
import zipfile
from collections import Counter
from pathlib import Path

import pytest

import hostile_sources
from processes import MEASURED, wait_for
from real_files import HELSINKI, write_cities
from servers import ROOT

CITY_COUNT = 234_908
MAXIMUM_MEBIBYTES = 64


@pytest.fixture
def read(read_places):
    """Reads with the program; returns what it prints, and what it says is wrong."""
    def run(*arguments, timeout=600, **variables):
        done = subprocess.run([read_places, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **variables})
        return done.stdout, done.stderr.strip()

    return run


def has_sandbox():
    return subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True).returncode == 0


# OpenStreetMap

TYPES = {"n": "node", "w": "way", "r": "relation"}


def objects(*arguments):
    """The objects that an osmium command writes, by their ids, with the fields of OPL."""
    text = subprocess.run(["osmium", *arguments, "-f", "opl", "--no-progress"], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in text.splitlines():
        first, *fields = line.split(" ")
        found[f"{TYPES[first[0]]}/{first[1:]}"] = {field[0]: field[1:] for field in fields if field}
    return found


def expressions(conditions):
    """A rule as osmium has it; one key is enough for the built-in mapping. Of several values the first counts."""
    [(key, values)] = conditions.items()
    values = [values] if isinstance(values, str) else values
    if values == ["*"]:
        return [f"nwr/{key}"]
    return [f"nwr/{key}={','.join(values)}", *(f"nwr/{key}={value};*" for value in values)]


def is_whole(name, everything):
    """Whether all that an object is made of is in the extract."""
    fields = everything.get(name)
    if fields is None:
        return False
    parts = [f"node/{node[1:].split('x')[0]}" for node in fields.get("N", "").split(",") if node]
    parts += [f"{TYPES[member[0]]}/{member[1:].split('@')[0]}" for member in fields.get("M", "").split(",") if member]
    return all(is_whole(part, everything) for part in parts)


def places_by_osmium():
    """The named objects that the mapping's rules find, with their categories."""
    mapping = json.loads((ROOT / "Sources/PlaceImport/Mappings/openstreetmap.json").read_text())
    expected = {}
    for rule in mapping["category"]:
        # The first rule that applies is the one that counts.
        for name, fields in objects("tags-filter", "-R", HELSINKI, *expressions(rule["when"])).items():
            expected.setdefault(name, (rule["then"], "name" in dict(tag.split("=", 1) for tag in fields["T"].split(","))))
    return {name: category for name, (category, is_named) in expected.items() if is_named}


def test_an_openstreetmap_extract_has_the_places_that_osmium_finds(read):
    expected = places_by_osmium()
    output, error = read("--ids", HELSINKI)
    assert not error
    actual = {name: category for category, name in re.findall(r"^place (\S+) (\S+)$", output, re.M)}
    missing = expected.keys() - actual.keys()
    everything = objects("cat", HELSINKI)
    cut_off = {name for name in missing if not is_whole(name, everything)}
    assert missing == cut_off, "only what the extract's edge cuts off may be missing"
    assert not actual.keys() - expected.keys()
    assert Counter(actual.values()) == Counter(category for name, category in expected.items() if name not in cut_off)
    assert actual


def test_no_town_of_geonames_is_rejected(read, tmp_path):
    write_cities(tmp_path / "cities500.txt")
    output, error = read("--mapping", "geonames", tmp_path / "cities500.txt")
    assert output.startswith(f"category town {CITY_COUNT}\n") and f"rows {CITY_COUNT} " in output, error


# Layers and sheets

def converted(path, driver, *options):
    """A file that `ogr2ogr` has written, with a cafe in it."""
    rows = path.parent / "rows.csv"
    rows.write_text("name,category,latitude,longitude,note\nAlpha,cafe,50.1,8.6,x\n")
    subprocess.run(["ogr2ogr", "-f", driver, path, rows, *options], check=True)
    return path


def test_an_explanation_has_the_layers_and_their_coordinate_systems(poi, tmp_path):
    for layer, system, more in ("cafes", "EPSG:25832", []), ("more cafes", "EPSG:4326", ["-update"]):
        path = converted(tmp_path / "two.gpkg", "GPKG", "-nln", layer, "-oo", "X_POSSIBLE_NAMES=longitude", "-oo",
                         "Y_POSSIBLE_NAMES=latitude", "-s_srs", "EPSG:4326", "-t_srs", system, *more)
    done = subprocess.run([poi, "import", path, "--explain"], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[1:3] == [
        "  layer cafes, 1 feature, in ETRS89 / UTM zone 32N (EPSG:25832)", "  layer more cafes, 1 feature, in WGS 84 (EPSG:4326)"]
    assert "--layer cafes: the places of one layer only, not of all" in done.stdout


@pytest.mark.parametrize("driver", ["XLSX", "ODS"])
def test_a_sheet_has_the_names_of_its_columns_in_the_first_row(read, tmp_path, driver):
    """GDAL's own rule takes the first row for a place where all cells of an XLSX are texts."""
    output, error = read(converted(tmp_path / f"cafes.{driver.lower()}", driver))
    assert output.startswith("category cafe 1\n"), output + error


def two_columns(path, name):
    """A table with the columns `name` and `note`, of which the second has another name."""
    if path.suffix == ".shp":
        converted(path, "ESRI Shapefile", "-select", "name,note", "-oo", "X_POSSIBLE_NAMES=longitude", "-oo",
                  "Y_POSSIBLE_NAMES=latitude")
        table = path.with_suffix(".dbf")
        table.write_bytes(table.read_bytes().replace(b"note\0\0\0\0", name.encode().ljust(8, b"\0"), 1))
        return path
    member = "xl/sharedStrings.xml" if path.suffix == ".xlsx" else "content.xml"
    plain = converted(path.with_stem("plain"), path.suffix[1:].upper())
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in source.namelist():
            text = source.read(entry)
            archive.writestr(entry, text.replace(b">note<", f">{name}<".encode(), 1) if entry == member else text)
    return path


@pytest.mark.parametrize("file", ["a.xlsx", "a.ods", "a.shp"])
def test_two_columns_of_one_name_are_refused_where_a_place_is_made_of_them(read, tmp_path, file):
    """GDAL gives the second one another name, of which it only warns."""
    output, error = read("--column", "category=name", two_columns(tmp_path / file, "Name"))
    assert error.splitlines()[0].endswith("ogr2ogr: two columns are both called Name: rename one of them"), output + error
    output, error = read("--column", "category=name", two_columns(tmp_path / file, "note"))
    assert output.startswith("category alpha 1\n"), output + error


# Hostile files

HEADER = b"name,category,lat,lon\n"
MUCH = 200 << 20
FEATURE = b'\n{"type":"Feature","id":"'
# Contents that are far larger than the memory that is allowed, and what is said.
HOSTILE = {
    "endless.csv": (lambda: HEADER + b"A,cafe,1,2\n" + b"a" * MUCH, "line 3: a row has more than 1 MiB"),
    "quote.csv": (lambda: HEADER + b'"' + b"A,cafe,1,2\n" * (MUCH // 11), "line 2: a row has more than 1 MiB"),
    "open.csv": (lambda: HEADER + b'A,cafe,1,2\n"A,cafe,1,2\n', "line 3: a quote isn't closed"),
    "columns.csv": (lambda: b"a" + b"," * 1_000_000 + b"\n", "line 1: 1000001 columns are more than 4096"),
    "zeros.csv.gz": (lambda: gzip.compress(bytes(MUCH), 9), "line 1: a row has more than 1 MiB"),
    "zeros.json.gz": (lambda: gzip.compress(bytes(MUCH), 9), "line 1: there should be a feature"),
    "blanks.json.gz": (lambda: gzip.compress(b"\n" * MUCH, 9), ""),
    "deep.json": (lambda: b"[" * MUCH, "line 1: there should be a feature"),
    "feature.json": (lambda: FEATURE + b"a" * MUCH, "line 2: the feature isn't closed"),
    "nested.json": (lambda: FEATURE + b'","properties":' + b'{"a":' * (MUCH // 5), "line 2: the feature isn't closed"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_takes_little_memory(read, tmp_path, name):
    content, message = HOSTILE[name]
    (tmp_path / name).write_bytes(content())
    output, error = read(tmp_path / name)
    (tmp_path / name).unlink()
    assert message in error and bool(message) == bool(error)
    assert int(re.search(r"memory (\d+) MiB", output + error).group(1)) <= MAXIMUM_MEBIBYTES


def refused(read_places, path, file, message):
    """Reads a file that is refused with a message, and returns how many MiB the largest process took."""
    memory = file.with_name("memory")
    # Without the sandbox: whose processes have ended in there, Linux doesn't count for those outside.
    done = subprocess.run([*MEASURED, memory, read_places, file], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PATH": path})
    error = done.stderr.split("\n")[0]
    assert done.returncode == 1 and message in error, error
    return int(memory.read_text()) >> 10


@pytest.mark.parametrize("name", ["bomb.kmz", "bomb.xlsx", "bomb.ods"])
def test_an_archive_that_unpacks_to_much_is_refused(read_places, without_bubblewrap, tmp_path, name):
    """GDAL isn't started with it."""
    file = tmp_path / name
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("doc.kml", "w") as document:
            for _ in range(2000):
                document.write(b" " * (1 << 20))
    assert refused(read_places, without_bubblewrap, file, "the archive unpacks to 2097152000 bytes") <= MAXIMUM_MEBIBYTES


def wide_rows(folder):
    """A workbook of 2,000 columns, GDAL's maximum: each row of 50 bytes becomes as many fields."""
    plain = hostile_sources.spreadsheet(folder / "plain.xlsx", [])
    file, sheet = folder / "wide.xlsx", "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(plain) as source, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for member in source.namelist():
            text = source.read(member).decode()
            if member == sheet:
                head, tail = text.split("<sheetData>")[0], text.split("</sheetData>")[1]
                row = '<row r="{0}"><c r="BXX{0}"><v>1</v></c></row>'
                text = f"{head}<sheetData>{''.join(map(row.format, range(1, 120_000)))}</sheetData>{tail}"
            archive.writestr(member, text)
    return file


def nested_entities(folder):
    """Entities of entities in the texts of a workbook."""
    lol = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    return hostile_sources.spreadsheet(folder / "entities.xlsx", [
        ("xl/sharedStrings.xml", "<sst", f'<!DOCTYPE sst [<!ENTITY e0 "aaaaaaaaaa">{lol}]><sst'),
        ("xl/sharedStrings.xml", "<t>A</t>", "<t>&e9;</t>")])


def long_document(folder):
    """KML, of which GDAL keeps nine times as much."""
    file, place = folder / "long.kml", "<Placemark><name>A</name><Point><coordinates>2,1</coordinates></Point></Placemark>"
    file.write_text(f'<kml xmlns="http://www.opengis.net/kml/2.2"><Document>{place * 2_000_000}</Document></kml>')
    return file


@pytest.mark.parametrize("make, message", [
    (wide_rows, "ogr2ogr would take more than 1 GiB of memory"), (nested_entities, "ogr2ogr: "),
    (long_document, "ogr2ogr would take more than 1 GiB of memory")])
def test_what_makes_much_of_little_ends_at_the_limit_of_memory(read_places, without_bubblewrap, tmp_path, make, message):
    (tmp_path / "files").mkdir()
    assert refused(read_places, without_bubblewrap, make(tmp_path / "files"), message) <= 1100


# What would lead GDAL elsewhere

@pytest.mark.soak
def test_no_source_leads_elsewhere(read, without_bubblewrap, tmp_path, subtests):
    """Each hostile source with the sandbox, where it works, and without it, which is where PATH has no bwrap."""
    canaries = hostile_sources.Canaries(tmp_path)
    is_sandboxed, breaches, count = has_sandbox(), 0, 0
    for source in hostile_sources.sources(canaries):
        name, count = str(source.name).removeprefix(f"{canaries.sources}/"), count + 1
        # What GDAL itself does with it shows that there is something to keep it from.
        bare = ["ogr2ogr", "-f", "GeoJSONSeq", "/vsistdout/", str(source.name)]
        _, reached = canaries.watch(lambda: subprocess.run(bare, capture_output=True, timeout=60))
        breaches += bool(reached)
        for kind, path in [("sandbox", os.environ["PATH"]), ("no sandbox", without_bubblewrap)]:
            with subtests.test(f"{name}, {kind}"):
                (output, error), reached = canaries.watch(
                    lambda: read("--ids", "--column", "category=type", *source.options, source.name, timeout=60, PATH=path))
                assert not reached and "leaked" not in output
                if source.message:
                    assert source.message in error.split("\n")[0]
                else:
                    assert not error and len(re.findall("^place ", output, re.M)) == source.places
                    assert ("remark" in output) == (kind == "no sandbox" or not is_sandboxed)
    assert count == 69 and breaches >= 20, f"of {count} sources, GDAL alone follows {breaches}"


def test_the_sandbox_shows_nothing_of_ours(read_places, tmp_path):
    """While it reads, the converter has a network of its own, and of the files that we see only what it needs."""
    if not has_sandbox():
        pytest.skip("there is no sandbox here: bwrap fails")
    secret = tmp_path / "secret"
    secret.write_text("a")

    def converter():
        """The one that has the pipe as its input; those that say which drivers there are have none."""
        pipe = os.fstat(reader.stdin.fileno()).st_ino
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if (process / "comm").read_text() == "ogr2ogr\n" and (process / "fd/0").stat().st_ino == pipe:
                    return process
            except (FileNotFoundError, ProcessLookupError):
                pass
        return None

    with subprocess.Popen([read_places, "--format", "gdal", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as reader:
        process = wait_for(converter, 60, "ogr2ogr in the sandbox")
        assert (process / "ns/net").readlink() != Path("/proc/self/ns/net").readlink()
        ours = (secret, Path("/etc/passwd"), Path.home(), Path("/proc/self"))
        assert not [path for path in ours if (process / f"root{path}").exists()]
