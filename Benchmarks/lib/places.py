"""What Benchmarks/places measures, in the database that DATABASE_URL leads to."""

import os
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

POI = os.environ["POI_BINARY"]
DATABASE = os.environ["DATABASE_URL"]
ROWS = int(os.environ.get("ROWS", "1000000"))
ROUNDS = int(os.environ.get("ROUNDS", "1"))
SEED = 16
COLUMNS = "id,name,category,latitude,longitude,address,website,dataset,license"
WORDS = ("Old New Green White Saint Royal Grand Little River Harbour Market Station North South Garden Castle Bridge Corner "
         "Golden Silver Lucky Blue Central Park Hill Lake Mill Church Abbey Forest").split()
CATEGORIES = ["cafe", "restaurant", "shop", "park", "school", "hotel"]


def psql(*statements):
    options = [option for statement in statements for option in ("--command", statement)]
    return subprocess.run(
        ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1", *options, DATABASE],
        check=True, capture_output=True, text=True).stdout.strip()


def write_rows(path):
    """Places around a thousand towns, in no order, with names of three words and some addresses and websites."""
    source = random.Random(SEED)
    towns = [(source.uniform(-55, 65), source.uniform(-180, 180)) for _ in range(1000)]
    with path.open("w") as file:
        file.write(COLUMNS + "\n")
        for number in range(ROWS):
            latitude, longitude = source.choice(towns)
            latitude += source.gauss(0, 0.05)
            longitude = (longitude + source.gauss(0, 0.05) + 180) % 360 - 180
            name = " ".join(source.choices(WORDS, k=3))
            address = f"{source.choice(WORDS)} Street {number % 300}" if number % 2 else ""
            website = f"https://example.org/{number}" if number % 3 == 0 else ""
            file.write(f"{number},{name},{source.choice(CATEGORIES)},{latitude:.6f},{longitude:.6f},{address},{website},"
                       "bench,CC0-1.0\n")


def processor_seconds():
    """What all processes of the PostgreSQL have used, those that have ended included."""
    postmaster = int((Path(psql("SHOW data_directory")) / "postmaster.pid").read_text().splitlines()[0])
    total = 0
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(folder.name) == postmaster:
                total += sum(map(int, fields[11:15]))
            elif int(fields[1]) == postmaster:
                total += sum(map(int, fields[11:13]))
    return total / os.sysconf("SC_CLK_TCK")


def pages_of_searches():
    """The pages of `locations` and its indexes that the 20 nearest places are read from, on average."""
    source = random.Random(SEED + 1)
    centers = psql(f"SELECT latitude, longitude FROM locations WHERE source_id::int % {ROWS // 300} = 7").splitlines()
    count = "SELECT heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit FROM pg_statio_user_tables WHERE relname = 'locations'"
    before = int(psql(count))
    psql("SET max_parallel_workers_per_gather = 0", *(
        f"SELECT count(*) FROM (SELECT id, name, latitude, longitude FROM locations ORDER BY position <-> "
        f"location_point({float(latitude) + source.gauss(0, 0.01)}, {longitude}) LIMIT 20) AS near"
        for latitude, longitude in (center.split("|") for center in centers)), "SELECT pg_stat_force_next_flush()")
    return (int(psql(count)) - before) / len(centers)


class Load:
    """Runs a command that loads the rows into the empty table, and measures it."""

    def __init__(self, name, command):
        psql("TRUNCATE locations", "VACUUM (ANALYZE) locations", "CHECKPOINT")
        self.name = name
        cpu, start = processor_seconds(), time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0 or psql("SELECT count(*) FROM locations") != str(ROWS):
            raise SystemExit(f"places: {name} has failed")
        self.rate = ROWS / (time.monotonic() - start)
        self.memory = usage.ru_maxrss / 1024
        self.cpu = (processor_seconds() - cpu) * 1e6 / ROWS
        psql("VACUUM (ANALYZE) locations")
        self.pages = pages_of_searches()
        print(f"   {name:22} {self.rate:8.0f} rows/s   PostgreSQL {self.cpu:5.1f} us a row   "
              f"{self.memory:4.0f} MiB   {self.pages:5.1f} pages a search")


def main():
    with tempfile.TemporaryDirectory(prefix="poi-bench-") as name:
        folder = Path(name)
        rows, ordered = folder / "rows.csv", folder / "ordered.csv"
        write_rows(rows)

        def copy(path):
            return ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", DATABASE, "--command",
                    "\\copy locations (source_id, name, category, latitude, longitude, address, website, source_dataset, "
                    f"source_license) FROM '{path}' WITH (FORMAT csv, HEADER)"]

        command = [POI, "import", str(rows), "--dataset", "bench", "--license", "CC0-1.0", "--database-url", DATABASE]
        print(f"== places: {ROWS} rows, {ROUNDS} round(s)")
        results = {"\\copy": [], "poi import": [], "\\copy, ordered": []}
        for _ in range(ROUNDS):
            results["\\copy"].append(Load("\\copy", copy(rows)))
            psql("\\copy (SELECT source_id, name, category, latitude, longitude, address, website, source_dataset, "
                 f"source_license FROM locations ORDER BY location_point(latitude, longitude)) TO '{ordered}' WITH (FORMAT csv, HEADER)")
            results["poi import"].append(Load("poi import", command))
            results["\\copy, ordered"].append(Load("\\copy, ordered", copy(ordered)))

        def median(name, what):
            return statistics.median(getattr(load, what) for load in results[name])

        for other in ("\\copy", "\\copy, ordered"):
            print(f"== ratio to {other}: speed {median('poi import', 'rate') / median(other, 'rate'):.2f}, "
                  f"pages {median('poi import', 'pages') / median(other, 'pages'):.2f}")


main()
