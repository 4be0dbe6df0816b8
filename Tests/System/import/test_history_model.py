"""Random histories of places, made by the real program, beside a model of the rule that says what each step does.

The rule: an import stores what its source says, a person's correction lies above it, and what is shown is the correction, or
else the source's value. What a person removes isn't brought back by an import; what is removed else comes back with its old
id. Each version of a place is kept, with who ended it. POI_TEST_ROUND=N runs one round alone.
"""

import copy
import csv
import io
import json
import os
import random
import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

import pytest

from psql import PSQL
from scratch_postgres import ScratchPostgres
from seed import SEED
from servers import ROOT
from service_database import PASSWORDS, migrate

# Few values each, so that they are often equal.
VALUES = {
    "name": ["Alpha", "Beta", "Gamma", "alpha"], "category": ["cafe", "bar", "park"],
    "position": [[1, 2], [1.5, -2.25], [-60, 179]], "featured": [True], "importance": [1, 7, 1000],
    "address": ["Street 1", "Way 2"], "website": ["https://a.example/", "https://b.example/x"],
    "operating_status": ["temporarilyClosed", "permanentlyClosed"],
    "other_names": [["Delta"], ["delta", "Zeta"], ["Epsilon"]], "names.de": ["Eins", "Zwei"], "names.pt-BR": ["Um", "Dois"],
    "properties.phone": ["+1", "+2"], "properties.stars": ["many", 3, True], "properties.open": ["Mo", {"days": ["Tu", "We"]}],
}
REQUIRED, OBJECTS = ("name", "category", "position"), ("names", "properties")
OPTIONAL = [member for member in VALUES if member not in REQUIRED]
PROPERTIES = [member for member in VALUES if member.startswith("properties.")]
CLEARABLE = [member for member in OPTIONAL if not member.startswith("names.")] + [*OBJECTS]
DATASETS, SOURCE_IDS, EDITORS = ("d", "d", "d", "e"), [f"s{number}" for number in range(8)], ("Ann", "Bob")
# How often, and whether there has to be a place.
STEPS = {"import_file": (9, False), "correct": (5, True), "reset": (3, True), "update": (4, True), "remove": (3, True),
         "restore": (4, False), "merge": (1, True), "close": (1, True), "revert": (4, False), "insert": (1, False)}
IMPORT = ["--license", "CC0-1.0", "--id", "id", "--allow", "names,positions,members,empty,removals=100%"]
COUNTS = ["added", "changed", "unchanged", "removed", "suppressed", "refused", "not applicable"]


def present(members):
    """Those that have a value: without a source's word, `featured` is false and `importance` 0."""
    return {member: value for member, value in members.items() if known(value) is not None}


def known(value):
    return None if value is False or value == 0 else value


def within(member, names):
    return any(member == name or member.startswith(name + ".") for name in names)


def names_of(shown):
    return [shown["name"], *shown.get("other_names", [])]


@dataclass
class Place:
    """A place as the rule knows it. `source` is what its source says, `corrected` what is shown instead of it."""

    dataset: str | None = None
    source_id: str | None = None
    source: dict = field(default_factory=dict)
    corrected: dict = field(default_factory=dict)
    # Members that SQL without an editor has changed since the source wrote them.
    by_hand: set = field(default_factory=set)
    version: int | None = None

    def shown(self):
        return present({**self.source, **self.corrected})

    def state(self):
        return (self.dataset, self.source_id, self.shown(), {member: self.source.get(member) for member in self.corrected})

    def correct(self, member, value):
        if self.dataset:
            self.corrected[member] = value
        else:
            self.source = present({**self.source, member: value})


def stored(row):
    """A place's state, of a row."""
    members = {member: row[member] for member in VALUES if member in row}
    members["position"] = [row["latitude"], row["longitude"]]
    for name in OBJECTS:
        members |= {f"{name}.{key}": value for key, value in (row[name] or {}).items()}
    return (row["source_dataset"], row["source_id"], present(members),
            {member: known(value) for member, value in (row["source_values"] or {}).items()})


@dataclass
class Run:
    """What an import did: the source's values before and after it, what it added, as it was and by what it had been removed
    before, and what it removed."""

    dataset: str
    number: int = 0
    changed: dict = field(default_factory=dict)
    added: dict = field(default_factory=dict)
    removed: dict = field(default_factory=dict)
    is_reverted: bool = False

    def blocks(self, earlier):
        return self.dataset == earlier.dataset and self.number > earlier.number and not self.is_reverted and bool(
            self.changed or self.added or self.removed)


class Database:
    """A database of its own for one history, with a session of psql."""

    numbers = count(1)

    def __init__(self, poi, postgres):
        self.poi, self.postgres = poi, postgres
        self.create(postgres.database)

    def create(self, template):
        self.name = f"history_{next(self.numbers)}"
        self.postgres.psql("postgres", "--command", f"CREATE DATABASE {self.name} TEMPLATE {template}")
        self.url = f"{self.postgres.url('poi_migrate').rpartition('/')[0]}/{self.name}"
        self.session = subprocess.Popen([*PSQL, self.url], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def drop(self):
        self.session.communicate()
        self.postgres.psql("postgres", "--command", f"DROP DATABASE {self.name}")

    def move(self):
        """Into another database, by a dump."""
        dump, where = self.postgres.folder / "dump", ("--host", self.postgres.folder, "--port", self.postgres.port)
        self.postgres.as_postgres("pg_dump", *where, "--format=custom", "--file", dump, self.name)
        self.drop()
        self.create("template0")
        self.postgres.as_postgres("pg_restore", *where, "--exit-on-error", "--dbname", self.name, dump)

    def sql(self, statement):
        """The JSON of each line that it prints."""
        self.session.stdin.write(f"{statement};\n\\echo ready\n")
        self.session.stdin.flush()
        lines = []
        for line in self.session.stdout:
            if line == "ready\n":
                return [json.loads(line) for line in lines]
            lines.append(line)
        raise AssertionError("".join(lines))

    def command(self, *arguments):
        return subprocess.run([self.poi, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              env={**os.environ, "DATABASE_URL": self.url})

    def rows(self):
        return {row["id"]: row for row in self.sql("SELECT to_jsonb(place) - 'position' FROM locations AS place")}

    def last_run(self):
        return self.sql("SELECT max(id) FROM import_runs")[0]


class File:
    """A random file of a dataset. A row of CSV has something, or None, for each column; one of JSON not always."""

    def __init__(self, generator):
        self.kind = generator.choice(["csv", "csv", "jsonl", "geojson"])
        self.columns = [member for member in OPTIONAL if generator.random() < 0.45]
        for name in OBJECTS:
            if generator.random() < 0.25:
                self.columns = [member for member in self.columns if not within(member, [name])] + [name]
        is_sparse = self.kind != "csv" and generator.random() < 0.6
        self.rows = {
            source_id: {member: generator.choice(VALUES[member]) for member in REQUIRED} | {
                column: self.value(generator, column) for column in self.columns
                if not (is_sparse and generator.random() < 0.4)}
            for source_id in generator.sample(SOURCE_IDS, generator.choice([0, 1, 2, 4, 6, 8]))}

    def value(self, generator, column):
        if generator.random() < 0.25:
            return None
        if column in OBJECTS:
            members = [member for member in VALUES if within(member, [column])]
            chosen = generator.sample(members, generator.randint(0, len(members)))
            return {member.split(".")[1]: generator.choice([*VALUES[member], None]) for member in chosen}
        value = generator.choice(VALUES[column])
        # A column of CSV is text.
        return str(value) if self.kind == "csv" and column in PROPERTIES else value

    def source(self, row, source, named, cleared):
        """What a source says after the import of a row, where it said `source`. Options have `named` members and cleared some."""
        source = dict(source)
        missing = {member: None for member in named if member not in row and self.kind != "csv"
                   and any(member in other for other in self.rows.values())}
        for column, value in {**row, **missing}.items():
            if column in OBJECTS:
                source = {member: old for member, old in source.items() if not within(member, [column])}
                source |= {f"{column}.{key}": item for key, item in (value or {}).items()}
            elif column in named or column not in PROPERTIES:
                source[column] = value
        return {member: value for member, value in present(source).items() if not within(member, cleared)}

    def text(self):
        rows = [{"id": source_id, "lat": row["position"][0], "lon": row["position"][1],
                 **{header(column): row[column] for column in ("name", "category", *self.columns) if column in row}}
                for source_id, row in self.rows.items()]
        if self.kind == "csv":
            output = io.StringIO()
            table = csv.writer(output, lineterminator="\n")
            table.writerow(["id", "lat", "lon", *map(header, ("name", "category", *self.columns))])
            table.writerows([cell(value) for value in row.values()] for row in rows)
            return output.getvalue()
        if self.kind == "jsonl":
            return "".join(json.dumps(row) + "\n" for row in rows)
        return json.dumps({"type": "FeatureCollection", "features": [
            {"type": "Feature", "geometry": {"type": "Point", "coordinates": [row.pop("lon"), row.pop("lat")]}, "properties": row}
            for row in rows]})


def header(column):
    return column.replace("names.", "name:") if column.startswith("names.") else column.removeprefix("properties.")


def cell(value):
    if isinstance(value, (dict, list)):
        return json.dumps(value) if isinstance(value, dict) else ";".join(value)
    return "yes" if value is True else value


class History:
    """Random steps in a database, and what the rule makes of them."""

    def __init__(self, database, generator, folder):
        self.database, self.generator, self.folder = database, generator, folder
        # Places by their ids, what they are in the table, and those whose id the table has still to say.
        self.places, self.rows, self.new = {}, {}, []
        # Removed ones, whether a person removed them, and the import that did.
        self.gone = {}
        # For each place, its earlier versions: what ended it, who did, and the place.
        self.versions = {}
        # Members that the last import's options named, for each dataset; None where the rule doesn't say.
        self.runs, self.named, self.last_file = [], {name: set() for name in DATASETS}, None
        self.log = []

    def step(self, kind=None, **arguments):
        """Each step returns the editor's name and the import's number of the versions that it has ended."""
        kind = kind or self.generator.choices(list(STEPS), [weight for weight, _ in STEPS.values()])[0]
        if self.places or not STEPS[kind][1]:
            before = copy.deepcopy(self.places)
            self.compare(before, getattr(self, kind)(editor=self.generator.choice(EDITORS), **arguments))

    def compare(self, before, who):
        """The table with the model. Remembers the versions that have ended."""
        rows = self.database.rows()
        for place in self.new:
            number, = (number for number, row in rows.items() if number not in before and number not in self.gone and
                       (row["source_dataset"], row["source_id"]) == (place.dataset, place.source_id))
            self.places[number] = place
            if place.dataset:
                self.runs[-1].added[number] = None, None
        self.new = []
        for number in sorted(self.places.keys() | rows.keys()):
            state = stored(rows[number]) if number in rows else None
            expected = self.places[number].state() if number in self.places else None
            assert state == expected, f"place {number} is {state} instead of {expected}"
        for number, place in before.items():
            if number not in self.places or self.places[number].state() != place.state():
                self.versions.setdefault(number, []).append(("update" if number in rows else "delete", *who, place))
                assert number not in rows or rows[number]["version"] != place.version, f"place {number} keeps its version"
            else:
                assert rows[number] == self.rows[number], f"place {number} has changed: {self.rows[number]}, {rows[number]}"
        for number, place in self.places.items():
            place.version = rows[number]["version"]
        for run in self.runs[-1:]:
            run.added = {number: (copy.deepcopy(self.places[number]) if place is None else place, remover)
                         for number, (place, remover) in run.added.items()}
        self.rows = rows

    def compare_versions(self):
        actual = {}
        for row in self.database.sql("SELECT to_jsonb(ended) FROM location_versions AS ended ORDER BY change"):
            actual.setdefault(row["id"], []).append((row["operation"], row["by_role"], row["by_editor"], row["by_import"],
                                                     row["version"], stored(row)))
        for number in sorted(actual.keys() | self.versions.keys()):
            expected = [(operation, "poi_migrate", *who, place.version, place.state())
                        for operation, *who, place in self.versions.get(number, [])]
            assert actual.get(number, []) == expected, f"versions of {number} are {actual.get(number)} instead of {expected}"

    def table(self):
        """All but what each change makes new."""
        return [{**row, "version": None, "updated_at": None} for _, row in sorted(self.rows.items())]

    def run(self, *arguments, succeeds=True):
        arguments = [str(argument) for argument in arguments]
        done = self.database.command(*arguments)
        self.log += ["poi " + " ".join(arguments), done.stdout]
        assert (done.returncode == 0) == succeeds, done.stdout
        return done.stdout

    def sql(self, statement, editor):
        self.log.append(f"SET poi.editor = '{editor}'; {statement}; RESET poi.editor" if editor else statement)
        self.database.sql(self.log[-1])

    def any_place(self):
        return self.generator.choice(sorted(self.places))

    def any_members(self, greatest):
        """Some members with values, or None where they may have none."""
        members = self.generator.sample(list(VALUES), self.generator.randint(1, greatest))
        return {member: None if member in OPTIONAL and self.generator.random() < 0.25 else
                self.generator.choice(VALUES[member]) for member in members}

    def any_options(self, dataset, file):
        """An import's options, the members that they name, and those that they clear."""
        generator, options, named, cleared = self.generator, [], self.named[dataset], []
        # A file has either an object of all properties or columns of single ones.
        if named is None or "properties" in file.columns or generator.random() < 0.1:
            options, named = ["--reset-options"], set()
        if "properties" not in file.columns and generator.random() < 0.6:
            chosen = generator.sample(PROPERTIES, generator.randint(1, 3))
            options += ["--properties", ",".join(map(header, chosen))]
            named = named.difference(PROPERTIES).union(chosen)
        if generator.random() < 0.1:
            options += ["--column", "address=address"]
            named = named | {"address"}
        if generator.random() < 0.3:
            options.append("--sync")
        absent = [member for member in CLEARABLE
                  if not any(within(member, [column]) or within(column, [member]) for column in file.columns)]
        if absent and generator.random() < 0.2:
            cleared = generator.sample(absent, min(len(absent), generator.randint(1, 2)))
            options += ["--clear", ",".join(cleared)]
        return options, named, cleared

    def import_file(self, editor, dataset=None):
        if self.last_file and self.generator.random() < 0.15:
            dataset, file, options, named, cleared = self.last_file
        else:
            dataset, file = dataset or self.generator.choice(DATASETS), File(self.generator)
            options, named, cleared = self.any_options(dataset, file)
        refused = {}
        if self.generator.random() < 0.3:
            refused = {source_id: self.generator.choice(["added", "changed", "removed"])
                       for source_id in self.generator.sample(SOURCE_IDS, self.generator.randint(1, 4))}
        self.last_file, self.named[dataset] = (dataset, file, options, named, cleared), named
        path = self.folder / f"places.{file.kind}"
        path.write_text(file.text())
        self.log += [f"{path.name}:", file.text()]
        if refused:
            lines = [{"import": {"dataset": dataset}}] + [{"sourceId": name, "change": what} for name, what in refused.items()]
            excepted = self.folder / "refused.jsonl"
            excepted.write_text("".join(json.dumps(line) + "\n" for line in lines))
            self.log += [f"{excepted.name}:", excepted.read_text()]
        there = [place for place in self.places.values() if place.dataset == dataset and place.source_id in file.rows]
        has_corrected = any(place.corrected for place in there)
        counts, overwritten = self.apply_file(dataset, file, named, cleared, "--sync" in options, refused)
        output = self.run("import", path, "--dataset", dataset, *IMPORT, *options, *(["--except", excepted] if refused else []))
        actual = {what: reported(rf"\b{what} (\d+)", output) for what in COUNTS}
        assert actual == counts, f"{counts} expected"
        by_hand = reported(r"(\d+) of these were changed by hand", output)
        assert by_hand == overwritten, f"{overwritten} overwritten"
        assert has_corrected or not reported(r"corrections kept (\d+)", output)
        self.runs[-1].number = self.database.last_run()
        return None, self.runs[-1].number

    def apply_file(self, dataset, file, named, cleared, is_sync, refused):
        """How many places the report has to count, and those with changes by hand that are overwritten."""
        run, counts, overwritten, left = Run(dataset), dict.fromkeys(COUNTS, 0), 0, {}
        numbers = {place.source_id: number for number, place in self.places.items() if place.dataset == dataset}
        gone = {place.source_id: number for number, (place, _, _) in self.gone.items() if place.dataset == dataset}
        for source_id in numbers.keys() - file.rows.keys() if is_sync else ():
            if source_id in refused:
                left[source_id] = "removed"
                continue
            run.removed[numbers[source_id]] = copy.deepcopy(self.places[numbers[source_id]])
            self.take_away(numbers[source_id], remover=run)
            counts["removed"] += 1
        for source_id, row in file.rows.items():
            if source_id in numbers:
                place = self.places[numbers[source_id]]
                source = file.source(row, place.source, named, cleared)
                changed = {member: (place.source.get(member), source.get(member)) for member in VALUES
                           if place.source.get(member) != source.get(member)}
                if source_id in refused:
                    left[source_id] = "changed" if changed else None
                    continue
                counts["changed" if changed else "unchanged"] += 1
                overwritten += not place.by_hand.isdisjoint(changed)
                if changed:
                    run.changed[numbers[source_id]] = changed
                place.source, place.by_hand = source, place.by_hand - changed.keys()
                continue
            number = gone.get(source_id)
            is_suppressed = number is not None and self.gone[number][1]
            if source_id in refused:
                left[source_id] = None if is_suppressed else "added"
                continue
            counts["suppressed" if is_suppressed else "added"] += 1
            place = Place(dataset, source_id, file.source(row, {}, named, cleared))
            if number is None:
                self.new.append(place)
            elif not is_suppressed:
                was, _, remover = self.gone[number]
                place.corrected = dict(was.corrected)
                self.bring_back(number, place)
                run.added[number] = None, remover
        self.runs.append(run)
        counts["refused"] = sum(left.get(source_id) == change for source_id, change in refused.items())
        counts["not applicable"] = len(refused) - counts["refused"]
        return counts, overwritten

    def take_away(self, number, is_suppressed=False, remover=None):
        self.gone[number] = self.places.pop(number), is_suppressed, remover

    def bring_back(self, number, place):
        del self.gone[number]
        self.places[number] = copy.deepcopy(place)

    def correct(self, editor):
        number, members = self.any_place(), self.any_members(3)
        for member, value in members.items():
            self.places[number].correct(member, value)
        self.run("places", "correct", number, *(argument(member, value) for member, value in members.items()), "--as", editor)
        return editor, None

    def reset(self, editor):
        """All that is named, or nothing where something isn't corrected."""
        number = self.generator.choice([number for number, place in self.places.items() if place.corrected] or list(self.places))
        place = self.places[number]
        names = self.generator.sample(sorted(place.corrected), min(len(place.corrected), self.generator.randint(1, 3)))
        names = self.generator.choice([names, names, names, ["properties"], ["names"], [*names, "website"]]) or ["name"]
        succeeds = all(any(within(member, [name]) for member in place.corrected) for name in names)
        if succeeds:
            place.corrected = {member: value for member, value in place.corrected.items() if not within(member, names)}
        self.run("places", "reset", number, *names, "--as", editor, succeeds=succeeds)
        return editor, None

    def update(self, editor):
        numbers, members = {self.any_place(), self.any_place()}, self.any_members(4)
        editor = self.generator.choice([editor, None])
        for place in (self.places[number] for number in numbers):
            shown = place.shown()
            for member in [member for member, value in members.items() if shown.get(member) != value]:
                if editor or not place.dataset or member in place.corrected:
                    place.correct(member, members[member])
                else:
                    place.source = present({**place.source, member: members[member]})
                    place.by_hand.add(member)
        self.sql(f"UPDATE locations SET {assignments(members)} WHERE id IN ({', '.join(map(str, sorted(numbers)))})", editor)
        return editor, None

    def remove(self, editor):
        number, editor = self.any_place(), self.generator.choice([editor, editor, None])
        self.take_away(number, is_suppressed=editor is not None)
        if editor and self.generator.random() < 0.6:
            self.run("places", "remove", number, "--as", editor)
        else:
            self.sql(f"DELETE FROM locations WHERE id = {number}", editor)
        return editor, None

    def restore(self, editor):
        if self.versions:
            number = self.generator.choice(sorted(self.versions))
            then = self.generator.choice(self.versions[number])[-1]
            shown = then.shown()
            if number in self.gone:
                was = self.gone[number][0]
                self.bring_back(number, then)
                # What it wasn't when it was removed is the editor's now.
                self.places[number].by_hand = {
                    member for member in was.by_hand if was.source.get(member) == then.source.get(member)}
            elif then.dataset:
                self.places[number].corrected = {
                    member: shown.get(member) for member in VALUES
                    if member in then.corrected or shown.get(member) != self.places[number].source.get(member)}
            else:
                self.places[number].source = shown
            self.run("places", "restore", number, then.version, "--as", editor)
        return editor, None

    def merge(self, editor):
        number, into = self.any_place(), self.any_place()
        if number != into:
            place, kept = self.places[number].shown(), self.places[into]
            called = {name.lower() for name in names_of(kept.shown())}
            more = {name.lower(): name for name in reversed(names_of(place)) if name.lower() not in called}
            for member in ["address", "website", *(member for member in VALUES if within(member, OBJECTS))]:
                if member in place and member not in kept.shown():
                    kept.correct(member, place[member])
            if more:
                kept.correct("other_names", [*kept.shown().get("other_names", []), *more.values()])
            self.take_away(number, is_suppressed=True)
            self.run("places", "merge", number, into, "--as", editor)
            # Their order isn't of the rule.
            names = self.database.rows()[into]["other_names"]
            if more and sorted(names) == sorted(kept.shown()["other_names"]):
                kept.correct("other_names", names)
        return editor, None

    def close(self, editor):
        number, options = self.any_place(), self.generator.choice([[], ["--temporarily"]])
        self.places[number].correct("operating_status", "temporarilyClosed" if options else "permanentlyClosed")
        self.run("places", "close", number, *options, "--as", editor)
        return editor, None

    def insert(self, editor):
        """A place without a dataset, by SQL."""
        members = {member: self.generator.choice(VALUES[member]) for member in (*REQUIRED, "address", "other_names")}
        self.new = [Place(source=dict(members))]
        latitude, longitude = members.pop("position")
        self.sql(f"INSERT INTO locations (latitude, longitude, {', '.join(members)}) VALUES "
                 f"({latitude}, {longitude}, {', '.join(map(literal, members.values()))})", None)
        return None, None

    def revert(self, editor, run=None):
        if not self.runs:
            return None, None
        run = run or self.generator.choice([self.runs[-1], self.generator.choice(self.runs)])
        is_allowed = not run.is_reverted and not any(other.blocks(run) for other in self.runs)
        stays = self.apply_revert(run) if is_allowed else ()
        output = self.run("imports", "revert", run.number, succeeds=is_allowed)
        for number in stays:
            assert re.search(rf"\bplace {number}\b", output), f"place {number} stays and isn't listed"
        return None, self.database.last_run()

    def apply_revert(self, run):
        """The places that stay as they are in something, since it has changed since."""
        run.is_reverted, self.named[run.dataset], self.last_file = True, None, None
        # What it changed and is gone stays gone.
        stays = run.changed.keys() - self.places.keys()
        for number in run.changed.keys() - stays:
            place = self.places[number]
            for member, (before, after) in run.changed[number].items():
                if place.source.get(member) == after:
                    place.source = present({**place.source, member: before})
                    place.by_hand.discard(member)
                elif place.source.get(member) != before:
                    stays.add(number)
        for number in run.added.keys() & self.places.keys():
            place, remover = run.added[number]
            if self.places[number].state() == place.state():
                self.take_away(number, remover=remover)
            else:
                stays.add(number)
        for number, place in run.removed.items():
            if number in self.gone and self.gone[number][2] is run:
                self.bring_back(number, place)
            else:
                stays.add(number)
        return stays


def reported(pattern, output):
    found = re.search(pattern, output)
    return int(found[1]) if found else 0


def argument(member, value):
    """A member as `poi places correct` takes it."""
    if value is None or isinstance(value, str):
        return f"{member}={value or ''}"
    if member in PROPERTIES:
        return f"{member}:={json.dumps(value)}"
    separator = "," if member == "position" else ";"
    return f"{member}={separator.join(map(str, value)) if isinstance(value, list) else json.dumps(value)}"


def literal(value):
    if isinstance(value, list):
        return f"ARRAY[{', '.join(map(literal, value))}]"
    return "NULL" if value is None else f"'{value}'"


def assignments(members):
    """What sets members in SQL."""
    sets, objects = [], {name: name for name in OBJECTS}
    for member, value in members.items():
        name, _, key = member.partition(".")
        if key:
            objects[name] = f"coalesce({objects[name]}, '{{}}') " + (
                f"- '{key}'" if value is None else f"|| '{json.dumps({key: value})}'")
        elif member == "position":
            sets.append(f"latitude = {value[0]}, longitude = {value[1]}")
        else:
            sets.append(f"{member} = {literal({'featured': False, 'importance': 0}.get(member) if value is None else value)}")
    return ", ".join(sets + [f"{name} = nullif({text}, '{{}}')" for name, text in objects.items() if text != name])


@pytest.fixture(scope="module")
def postgres(poi):
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", PASSWORDS) as postgres:
        migrate(poi, postgres.url("poi_migrate"))
        yield postgres


@contextmanager
def history(poi, postgres, folder, name):
    """A failure says the steps. At the end the versions are compared."""
    database = Database(poi, postgres)
    steps = History(database, random.Random(f"{SEED} {name}"), folder)
    try:
        yield steps
        steps.compare_versions()
    except Exception as error:
        raise AssertionError("\n".join([f"{error}, POI_TEST_SEED={SEED} {name}", *steps.log])) from error
    finally:
        database.drop()


def one_round(poi, postgres, folder, number):
    with history(poi, postgres, folder, f"POI_TEST_ROUND={number}") as steps:
        steps.step("import_file")
        for index in range(steps.generator.randint(10, 15)):
            steps.step()
            if number % 8 == 0 and index == 5:
                steps.log.append("dump and restore")
                steps.database.move()


@pytest.mark.parametrize("rounds", [
    pytest.param(8, marks=pytest.mark.ci), pytest.param(2000, marks=[pytest.mark.soak, pytest.mark.timeout(14400)])])
def test_places_are_what_the_rule_says(poi, postgres, tmp_path, rounds):
    for number in [int(os.environ["POI_TEST_ROUND"])] if "POI_TEST_ROUND" in os.environ else range(rounds):
        one_round(poi, postgres, tmp_path, number)


@pytest.mark.parametrize("runs, every", [
    pytest.param(30, 5, marks=pytest.mark.ci), pytest.param(500, 5, marks=[pytest.mark.soak, pytest.mark.timeout(3600)])])
@pytest.mark.parametrize("is_corrected", [False, True], ids=["imports", "corrections"])
def test_a_reverted_import_leaves_the_table_as_it_was(poi, postgres, tmp_path, is_corrected, runs, every):
    with history(poi, postgres, tmp_path, f"reverts {is_corrected}") as steps:
        for number in range(runs):
            steps.step("import_file", dataset="d")
            for kind in ["correct", steps.generator.choice(["reset", "restore", "restore", "remove"])] if is_corrected else ():
                steps.step(kind)
            if number % every == 0:
                before = steps.table()
                steps.step("import_file", dataset="d")
                steps.step("revert", run=steps.runs[-1])
                assert steps.table() == before, f"{steps.table()} instead of {before}"
