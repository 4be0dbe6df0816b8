"""How long it takes until a change of the places is seen in a response."""

import asyncio
import json
import math
import random
import time
import urllib.parse
from http.client import HTTPConnection

import asyncpg

MAXIMUM_SECONDS = 30


def measure_changes(bench, field):
    count = 40 if bench.options.quick else 300
    times = sorted(asyncio.run(observe(field.index, field.url, count)))
    bench.results["changes"] = {"count": count, **{
        f"p{part}": times[max(0, math.ceil(part / 100 * count) - 1)] for part in (50, 90, 99, 100)}}


async def observe(server, url, count):
    """The times of changes, in microseconds."""
    parts = urllib.parse.urlsplit(url)
    host = urllib.parse.parse_qs(parts.query)["host"][0]
    session = await asyncpg.connect(user=parts.username, database=parts.path[1:], host=host)
    source, connection = random.Random(1), HTTPConnection("127.0.0.1", server.port, timeout=10)
    number = await session.fetchval("SELECT min(id) FROM locations")
    old = await session.fetchval("SELECT name FROM locations WHERE id = $1", number)
    times = []
    try:
        for change in range(count):
            # Not in step with what asks once a second.
            await asyncio.sleep(source.random())
            name = f"Change {change}"
            await session.execute("UPDATE locations SET name = $1 WHERE id = $2", name, number)
            start = time.monotonic()
            while shown(connection, number) != name:
                if time.monotonic() > start + MAXIMUM_SECONDS:
                    raise RuntimeError(f"a change was not seen within {MAXIMUM_SECONDS} s")
            times.append((time.monotonic() - start) * 1e6)
    finally:
        await session.execute("UPDATE locations SET name = $1 WHERE id = $2", old, number)
        await session.close()
    return times


def shown(connection, number):
    """The place's name in a response."""
    connection.request("GET", f"/locations/{number}")
    response = connection.getresponse()
    body = response.read()
    if response.status != 200:
        raise RuntimeError(f"the server did not respond: {response.status} {body[:200]}")
    return json.loads(body)["name"]
