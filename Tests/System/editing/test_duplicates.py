"""`poi duplicates` and `poi places merge --from`: what is there twice in two datasets is found, and merged as a person's edits."""

import csv
import io
import os
import subprocess
import time

import pytest

from psql import psql
from servers import ROOT

SETTINGS = {"POI_SEEDS": "false"}
HEADER = ["id", "name", "category", "latitude", "longitude", "website", "operating_status"]


class Datasets:
    def __init__(self, poi, server, folder):
        self.poi, self.database, self.folder = poi, server.database, folder

    def run(self, *words, expect=0):
        done = subprocess.run([self.poi, *map(str, words)], cwd=ROOT, capture_output=True, text=True,
                              env={**os.environ, "DATABASE_URL": self.database})
        assert done.returncode == expect, done.stdout + done.stderr
        return done

    def write(self, dataset, rows):
        path = self.folder / f"{dataset}.csv"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([HEADER, *rows])
        self.run("import", path, "--dataset", dataset, "--license", "CC0-1.0", "--add-categories")

    def duplicates(self, *words):
        done = self.run("duplicates", *words)
        return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr

    def sql(self, statement):
        return psql(self.database, statement).stdout.strip()

    def ids(self, dataset):
        rows = self.sql(f"SELECT source_id, id FROM locations WHERE source_dataset = '{dataset}'").split()
        return dict(row.split("|") for row in rows)


@pytest.fixture
def datasets(poi, server, tmp_path):
    return Datasets(poi, server, tmp_path)


def test_duplicates_are_found_and_merged_unless_they_have_changed(datasets):
    datasets.write("own", [
        ["a1", "Café Müller", "cafe", 52.5, 13.4, "", ""], ["a2", "Adler, \"Gasthaus\"", "bar", 52.6, 13.4, "", ""],
        ["a3", "Museum", "museum", 52.7, 13.4, "", ""], ["a4", "Kino", "cinema", 52.8, 13.4, "", ""]])
    datasets.write("theirs", [
        ["b1", "CAFE MUELLER", "cafe", 52.5005, 13.4, "https://mueller.example", ""],
        ["b2", "Müller Café", "cafe", 52.5, 13.4002, "", ""], ["b3", "Adler", "bar", 52.6, 13.4, "", ""],
        ["b4", "Museum", "museum", 52.702, 13.4, "", ""], ["b5", "Museum", "museum", 52.7, 13.4, "", "permanentlyClosed"],
        ["b6", "Kino", "cinema", 52.8, 13.4, "", ""], ["b7", "Kino", "cinema", 52.8, 13.4, "", ""]])
    own, theirs = datasets.ids("own"), datasets.ids("theirs")
    pairs, summary = datasets.duplicates("own", "theirs")
    found = [(pair["id"], pair["into"], pair["meters"], pair["reason"]) for pair in pairs]
    assert sorted(found) == sorted([
        (theirs["b2"], own["a1"], "14", "same words"), (theirs["b1"], own["a1"], "56", "same words"),
        (theirs["b3"], own["a2"], "0", "fewer words"),
        (theirs["b6"], own["a4"], "0", "same words"), (theirs["b7"], own["a4"], "0", "same words")])
    assert {pair["into_name"] for pair in pairs if pair["name"] == "Adler"} == {'Adler, "Gasthaus"'}
    assert summary == "5 pairs\n"

    path = datasets.folder / "pairs.csv"
    datasets.run("duplicates", "own", "theirs", path)
    datasets.run("places", "correct", theirs["b3"], "name=Gasthaus Adler", "--as", "anna")
    datasets.run("places", "remove", theirs["b7"], "--as", "anna")
    done = datasets.run("places", "merge", "--from", path, "--as", "bert", expect=1)
    lines = done.stderr.splitlines()
    numbers = {pair["id"]: line for line, pair in enumerate(pairs, start=2)}
    failed = sorted([(numbers[theirs["b3"]], theirs["b3"], own["a2"]), (numbers[theirs["b7"]], theirs["b7"], own["a4"])])
    for line, (number, place, into) in zip(lines, failed):
        assert line.startswith(f"line {number}: {place} isn't merged into {into}: ")
    assert lines[2:] == ["poi: merged 3 of 5"]
    assert datasets.ids("theirs").keys() == {"b3", "b4", "b5"}
    assert datasets.sql(f"SELECT website FROM locations WHERE id = {own['a1']}") == "https://mueller.example"
    # What is merged isn't found again, and the history has each as an edit that can be taken back.
    pairs, _ = datasets.duplicates("own", "theirs")
    assert [pair["id"] for pair in pairs] == [theirs["b3"]]
    history = datasets.run("places", "history", theirs["b1"]).stdout
    assert "bert (postgres): removed" in history
    version = history.rpartition("(before: version ")[2].split(")")[0]
    datasets.run("places", "restore", theirs["b1"], version, "--as", "anna")
    assert "b1" in datasets.ids("theirs")


def test_wrong_names_and_files_are_refused(datasets):
    datasets.write("own", [["a1", "Kino", "cinema", 52.8, 13.4, "", ""]])
    assert "there is no dataset owm; did you mean own?" in datasets.run("duplicates", "own", "owm", expect=1).stderr
    datasets.run("duplicates", "own", expect=64)
    path = datasets.folder / "pairs.csv"
    for text, fault in [("id,name\n1,2\n", "no column into"), ("id,into\n1,x\n", "line 2: expected numbers")]:
        path.write_text(text)
        assert fault in datasets.run("places", "merge", "--from", path, "--as", "anna", expect=1).stderr
    datasets.run("places", "merge", "--from", path, expect=64)


def test_the_time_grows_with_the_places_also_at_a_crowded_point(datasets):
    spread = [["", f"Place {n % 500} {n}", "cafe", 40 + n % 200 / 100, 2 + n // 200 / 100, "", ""] for n in range(20_000)]
    datasets.write("spread", [[f"s{n}", *row[1:]] for n, row in enumerate(spread)])
    datasets.write("same", [[f"t{n}", row[1], row[2], row[3] + 0.0003, *row[4:]] for n, row in enumerate(spread)])
    start = time.monotonic()
    pairs, summary = datasets.duplicates("spread", "same")
    print("20,000 and 20,000:", time.monotonic() - start)
    assert len(pairs) == 20_000 and summary == "20000 pairs\n"
    for dataset in ("crowd", "crowd2"):
        datasets.write(dataset, [[f"c{n}", "Kiosk" if n % 2 else f"Kiosk {n}", "cafe", 10, 10, "", ""] for n in range(5000)])
    start = time.monotonic()
    pairs, summary = datasets.duplicates("crowd", "crowd2")
    print("5,000 at one point:", time.monotonic() - start)
    by_place = {}
    for pair in pairs:
        by_place.setdefault(pair["into_name"], []).append(pair["name"])
    assert all(name in by_place[name] for name in by_place)
    assert len(pairs) < 5000 * 40 and "places had more than are written" in summary
