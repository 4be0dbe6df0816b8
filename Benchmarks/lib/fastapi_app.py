"""What is compared with the server: GET /locations with FastAPI and asyncpg, by the same search in SQL and with the same JSON.

It does less. It takes PostGIS' order and distance, and it has no entity tag, no link to the next page and no limits. It is written to be fast: one prepared
statement a connection, a pool of asyncpg's default size without its statement that resets a session after each use, JSON
by orjson without FastAPI's own model of the response.
"""

import os
from contextlib import asynccontextmanager
from typing import Annotated

import asyncpg
import orjson
from fastapi import FastAPI, Query, Request, Response

SQL = os.environ["BENCHMARK_SQL"]


async def keep(connection):
    """Nothing is changed in a session, so nothing is to be reset."""


@asynccontextmanager
async def lifespan(app):
    settings = {"jit": "off", "max_parallel_workers_per_gather": "0"}
    url = os.environ["BENCHMARK_DATABASE"]
    async with asyncpg.create_pool(url, server_settings=settings, reset=keep) as pool:
        app.state.pool = pool
        yield


app = FastAPI(lifespan=lifespan)


def place(row):
    """As the server writes it: what a place doesn't have is left out."""
    fields = {
        "id": row["id"], "name": row["name"], "category": row["category"], "latitude": row["latitude"],
        "longitude": row["longitude"], "featured": row["featured"], "distance": round(row["distance"], 1)}
    if row["address"] is not None:
        fields["address"] = row["address"]
    if row["website"] is not None:
        fields["website"] = row["website"]
    if row["source_dataset"] is not None:
        fields["source"] = {
            "dataset": row["source_dataset"], "id": row["source_id"], "license": row["source_license"]}
    return fields


@app.get("/locations")
async def locations(
    request: Request, lat: Annotated[float, Query(ge=-90, le=90)], long: Annotated[float, Query(ge=-180, le=180)],
    limit: Annotated[int, Query(ge=1, le=20)] = 20,
):
    rows = await request.app.state.pool.fetch(SQL, lat, long)
    return Response(orjson.dumps([place(row) for row in rows[:limit]]), media_type="application/json")
