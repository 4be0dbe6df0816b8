"""The first table of Documentation/performance.md: this server beside nginx, PostgreSQL, Redis, Go and FastAPI."""

import json

from field import path, typical_page
from load import (
    Side, alternate, by_load, by_pgbench, by_wrk, http_request, measure, pgbench_script, redis_request, write_lines, write_requests,
)
from processes import fetch
from servers import FastAPI, GoApp, Nginx, Redis

CLIENTS = [1, 2, 3, 4, 8]
# What fastapi_app.py and go_app.go need of the statement's columns, one by one.
PLACE_COLUMNS = ["name", "category", "featured", "address", "website", "source_dataset", "source_id", "source_license"]
# PostGIS' search for the nearest by the index, as somebody would write it at first.
STATEMENT = (f"SELECT id, latitude, longitude, {', '.join(PLACE_COLUMNS)}, position <-> location_point($1, $2) AS distance "
             "FROM locations ORDER BY distance LIMIT 20")


def measure_comparison(bench, field):
    sides = http_sides(bench, field)
    others = {name: field.keep(start(bench.work, field.url, STATEMENT))
              for name, start in (("fastapi", FastAPI), ("go", GoApp))}
    sides += [Side(name, by_wrk(child.url, field.paths("page")), field.processes(child)) for name, child in others.items()]
    redis = field.keep(Redis(bench.work, bench.database, field.name))
    sides += redis_sides(bench, field, redis)
    sides.append(best_pgbench(bench, field))
    bench.results["redis"] = {"places": redis.places, "bytes": redis.used_memory()}
    bench.results["checks"] = compare_responses(bench, field, others)
    bench.results["comparison"] = alternate(sides, bench.options.rounds, bench.options.seconds)


def http_sides(bench, field):
    """The server, and nginx with bodies of the same size: asked by wrk, and without logs by our own generator too."""
    page, livez = field.paths("page"), write_lines(bench.file("livez.paths"), ["/livez"])
    body, alive = typical_page(bench, field.index), fetch(f"{field.index.url}/livez")
    bench.results["body_bytes"] = {"page": len(body), "livez": len(alive)}
    nginx = {name: field.keep(Nginx(bench.work, name, text, log)) for name, text, log in (
        ("nginx-livez", alive, False), ("nginx-page", body, False), ("nginx-page-log", body, True))}
    servers = {"livez": field.index, "index": field.index, "index-log": field.keep(field.server("index-log", log=True))}
    sides = [Side(name, by_wrk(child.url, livez if "livez" in name else page), field.processes(child, name not in nginx))
             for name, child in {**servers, **nginx}.items()]
    return sides + sides_by_load(bench, field, {**servers, **nginx})


def sides_by_load(bench, field, servers):
    """wrk may be slower than what it measures; `load` takes less for a request."""
    page = field.requests("page")
    livez = write_requests(bench.file("livez.requests"), [http_request("/livez")])
    return [Side(f"{name}-load", by_load(bench.load, child.port, livez if "livez" in name else page),
                 field.processes(child, "nginx" not in name))
            for name, child in servers.items() if name in ("livez", "index", "nginx-livez", "nginx-page")]


def redis_sides(bench, field, redis):
    """The nearest 20 within 5 km: the same centres, generator and number of connections for both."""
    commands = write_requests(bench.file("redis.requests"), [
        redis_request("GEOSEARCH", Redis.KEY, "FROMLONLAT", centre[1], centre[0], "BYRADIUS", 5, "km", "ASC", "COUNT", 20,
                      "WITHDIST", "WITHCOORD") for centre in bench.centres if abs(centre[0]) < 85])
    sides = [Side("redis", by_load(bench.load, redis.port, commands), {"server": redis.pid})]
    near = by_load(bench.load, field.index.port, field.requests("near", radius=5_000))
    return [*sides, Side("index-5km", near, field.processes(field.index))]


def best_pgbench(bench, field):
    """pgbench with the number of clients that is best for it."""
    scripts = [(pgbench_script(bench.file("pgbench.sql"), STATEMENT, bench.centres), 1)]
    process = {"PostgreSQL": bench.database.postmaster}
    sides = {clients: Side("pgbench", by_pgbench(field.url, scripts, clients), process) for clients in CLIENTS}
    rates = {clients: measure(side, bench.options.seconds)["rate"] for clients, side in sides.items()}
    best = max(rates, key=rates.get)
    bench.results["pgbench"] = {"sql": STATEMENT, "clients": best, "rates": rates}
    return sides[best]


def compare_responses(bench, field, others):
    """How many of many responses' places FastAPI and Go lack; their distances may differ."""
    compared = within = 0
    missing = dict.fromkeys(others, 0)
    for centre in bench.centres[:300]:
        expected = json.loads(fetch(field.index.url + path(centre)))
        compared += 1
        for name, child in others.items():
            found = {place["id"]: place for place in json.loads(fetch(child.url + path(centre)))}
            missing[name] += sum(
                {**place, "distance": 0} != {**found.get(place["id"], {}), "distance": 0} for place in expected)
        within += len(json.loads(fetch(field.index.url + path(centre, radius=5_000))))
    return {"compared": compared, "missing": missing, "places_within_5km": within / compared}
