"""The first table of Documentation/performance.md: this server beside nginx, PostgreSQL, Redis, Go and FastAPI."""

import itertools
import json
import math

from field import path, typical_page
from load import (
    Side, alternate, by_load, by_pgbench, by_wrk, http_request, measure, pgbench_script, redis_request, write_lines, write_requests,
)
from processes import fetch
from servers import FastAPI, GoApp, Nginx, Redis

CLIENTS = [1, 2, 3, 4, 8]
# What fastapi_app.py and go_app.go need of the statement's columns.
PLACE_COLUMNS = ["name", "category", "featured", "address", "website", "source_dataset", "source_id", "source_license"]


def measure_comparison(bench, field):
    sides = http_sides(bench, field)
    others = {name: field.keep(start(bench.work, field.url, plain_statement(bench)))
              for name, start in (("fastapi", FastAPI), ("go", GoApp))}
    sides += [Side(name, by_wrk(child.url, field.paths("page")), field.processes(child)) for name, child in others.items()]
    redis = field.keep(Redis(bench.work, bench.database, field.name))
    sides += redis_sides(bench, field, redis)
    sides.append(best_pgbench(bench, field))
    bench.results["redis"] = {"places": redis.places, "bytes": redis.used_memory()}
    bench.results["checks"] = compare_responses(bench, field, others)
    measured = alternate(sides, bench.options.rounds, bench.options.seconds)
    bench.results["comparison"] = measured
    if field.index:
        require_index(measured)


def require_index(measured):
    """Fails, without the index's rows, if PostgreSQL had a tenth as much to do for them as for the database's."""
    def postgres(name):
        rounds = measured[name]
        return sum(sum(one["cpu_by_process"]["PostgreSQL"]) * one["requests"] for one in rounds) / sum(
            one["requests"] for one in rounds)
    names = ["index", "index-load", "index-log", "index-5km"]
    working = [name for name in names if postgres(name) > postgres("database") / 10]
    if working:
        for name in names:
            del measured[name]
        raise RuntimeError(f"PostgreSQL worked for {working[0]}, so the index did not serve")


def http_sides(bench, field):
    """The server, and nginx with bodies of the same size: asked by wrk, and without logs by our own generator too."""
    best = field.index or field.database
    page, livez = field.paths("page"), write_lines(bench.file("livez.paths"), ["/livez"])
    body, alive = typical_page(bench, best), fetch(f"{best.url}/livez")
    bench.results["body_bytes"] = {"page": len(body), "livez": len(alive)}
    nginx = {name: field.keep(Nginx(bench.work, name, text, log)) for name, text, log in (
        ("nginx-livez", alive, False), ("nginx-page", body, False), ("nginx-page-log", body, True))}
    servers = {"livez": best, **field.own_sides()}
    if field.index:
        servers["index-log"] = field.keep(field.server("index-log", index=True, log=True))
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
    near = field.requests("near", radius=5_000)
    sides += [Side(f"{name}-5km", by_load(bench.load, child.port, near), field.processes(child))
              for name, child in field.own_sides().items()]
    return sides


def half(centre):
    """Towards which of six directions a centre is, roughly: the server has a statement for each."""
    latitude, longitude = map(math.radians, centre)
    point = [math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude), math.sin(latitude)]
    axis = max(range(3), key=lambda axis: abs(point[axis]))
    return axis, point[axis] > 0


def server_statements(bench, field):
    """The SQL that the server sends for pages of 20, as PostgreSQL shows it, and the centres that each is for."""
    find = """SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%geocentric_point(%'
        AND query LIKE '%LIMIT 24%' AND query NOT LIKE '%pg_stat_activity%' ORDER BY query_start DESC LIMIT 1"""
    statements = []
    for _, group in itertools.groupby(sorted(bench.centres, key=half), key=half):
        centres = list(group)
        fetch(field.database.url + path(centres[0]))
        statements.append((bench.database.psql(field.name, find), centres))
    if len({sql for sql, _ in statements if sql}) != len(statements):
        raise RuntimeError("the server's SQL was not found in pg_stat_activity")
    return statements


def best_pgbench(bench, field):
    """pgbench with the number of clients that is best for it."""
    statements = server_statements(bench, field)
    scripts = [(pgbench_script(bench.file(f"pgbench-{number}.sql"), *one), len(one[1])) for number, one in enumerate(statements)]
    process = {"PostgreSQL": bench.database.postmaster}
    sides = {clients: Side("pgbench", by_pgbench(field.url, scripts, clients), process) for clients in CLIENTS}
    rates = {clients: measure(side, bench.options.seconds)["rate"] for clients, side in sides.items()}
    best = max(rates, key=rates.get)
    bench.results["pgbench"] = {"sql": [sql for sql, _ in statements], "clients": best, "rates": rates}
    return sides[best]


def plain_statement(bench):
    """With the walk of the server's own statement, and the columns one by one: the server joins them in a form of its own."""
    sql = (f"SELECT id, latitude, longitude, {', '.join(PLACE_COLUMNS)}, "
           "geocentric <<->> (SELECT geocentric_point($1, $2)) AS chord FROM locations ORDER BY chord LIMIT 24")
    bench.results["plain_sql"] = sql
    return sql


def compare_responses(bench, field, others):
    """How many of many responses are the same on all sides; FastAPI's and Go's distances may differ."""
    compared = differing = within = 0
    missing = dict.fromkeys(others, 0)
    for centre in bench.centres[:300]:
        by_database = json.loads(fetch(field.database.url + path(centre)))
        compared += 1
        differing += field.index is not None and json.loads(fetch(field.index.url + path(centre))) != by_database
        for name, child in others.items():
            found = {place["id"]: place for place in json.loads(fetch(child.url + path(centre)))}
            missing[name] += sum(
                {**place, "distance": 0} != {**found.get(place["id"], {}), "distance": 0} for place in by_database)
        within += len(json.loads(fetch(field.database.url + path(centre, radius=5_000))))
    if differing:
        raise RuntimeError(f"{differing} of {compared} responses of the index differ from the database's")
    return {"compared": compared, "missing": missing, "places_within_5km": within / compared}
