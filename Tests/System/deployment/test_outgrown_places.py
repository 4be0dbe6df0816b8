"""Places that take more memory than POI_INDEX_MAX_MEMORY allows: a server that has older ones goes on serving them, and says how
old they are; one that has none isn't ready, and says why. Both serve all places once they fit again."""

import json

from loads import PLACES_SQL
from processes import wait_for
from psql import psql
from servers import Client, Server

# Many times what the seed takes. Places count as stale after a second.
SETTINGS = {"POI_INDEX_MAX_MEMORY": "4MiB", "POI_MAX_REPLICA_LAG": "1s"}
TARGET = "/locations?lat=37.3293&long=-121.8893&limit=5"
REASON = "The places take more memory than POI_INDEX_MAX_MEMORY allows."


def refusal(server, target):
    """The status, code and detail of a problem, and when to try again."""
    status, headers, body = Client(server.port).request("GET", target)
    return status, headers.get("Retry-After"), *(json.loads(body).get(name) for name in ("code", "detail"))


def is_stale(server):
    return "Poi-Stale-Seconds" in Client(server.port).request("GET", TARGET)[1]


def test_old_places_are_served_until_new_ones_fit(poi, server):
    old = server.json(TARGET)
    psql(server.database, PLACES_SQL.format(100_000))
    wait_for(lambda: '"event":"index-too-large"' in server.log.read_text(), 60, "the log says that there is no room")
    with Server(poi, server.database, settings=SETTINGS, is_awaited=False) as late:
        wait_for(lambda: refusal(late, "/readyz") == (503, "1", "not-ready", REASON), 60, "the reason")
        assert refusal(late, TARGET)[:3] == (503, "1", "not-ready")
        wait_for(lambda: is_stale(server), 60, "stale places")
        assert server.json(TARGET) == old and server.is_ready()
        psql(server.database, "UPDATE locations SET name = 'Later' WHERE id = 1; DELETE FROM locations WHERE name LIKE 'Place 0%';"
             "VACUUM ANALYZE locations;")
        for each in server, late:
            wait_for(lambda: each.is_ready() and each.json("/locations/1")["name"] == "Later" and not is_stale(each), 120,
                     "the newest places")
            assert each.json(TARGET)[0].keys() == old[0].keys()
