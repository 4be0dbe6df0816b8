"""What Schemathesis has to be told because OpenAPI 3.1 can't say it: how the parameters of a place hang together.

A generated request that the schema allows, and that breaks one of these rules, is first sent as it is: the
service has to refuse it with 400 and name exactly that. Then it is mended, and sent to be checked as a request
that must be accepted. No check is switched off or loosened.

- `GET /locations` wants `lat` and `long` unless there is `bbox`, and always both or neither.
- `radius` and `bbox` exclude each other, and `ids` all but a centre, `properties` and `lang`.
- A box's south is at most its north.
- A box touches at most so many cells at the zoom that clusters are asked for.
- A cursor comes out of a `Link` header and belongs to its query: a made-up one is replaced by a real one.
- A user's id and an event's name are so many bytes long, not so many characters; an event's value has an end to its
  bytes, its levels, each object's members and each number's digits, and no NUL anywhere.
"""

import atexit
import json
import math
import pathlib
import re
from urllib.parse import parse_qs

import requests
import schemathesis

MAXIMUM_CELLS = 1024
CENTER = {"lat": 37.3293, "long": -121.8893}
EVENT = {"user_id": "test-openapi", "time": 0, "event": {"name": "launch"}, "test": True}
BROKEN_EVENTS = [
    {**EVENT, "user_id": "é" * 101}, {**EVENT, "event": {"name": "é" * 51}},
    *({**EVENT, "event": {"name": "unheard-of", "value": {"value": value}}}
      for value in ("\0", {"\0": 1}, "x" * 8192, [[[[[[[[0]]]]]]]], {str(n): n for n in range(65)}, 10**101))]
session = requests.Session()
# A run that never comes here would show nothing: test_openapi.py looks.
counts = {"refusals": 0, "real cursors": 0, "refused batches": 0}
atexit.register(lambda: pathlib.Path("counts.json").write_text(json.dumps(counts)))


class WrongRefusal(Exception):
    """The service didn't refuse what OpenAPI can't express, or named something else."""


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    if case.method == "POST" and case.path == "/events" and isinstance(case.body, list):
        mend_events(case)
    menders = {"/locations": mend_locations, "/locations/clusters": mend_clusters, "/locations/{id}": mend_center}
    if case.method not in ("GET", "HEAD") or case.path not in menders:
        return
    query = dict(case.query or {})
    faults = menders[case.path](query)
    cursor = query.pop("cursor", None) if case.path == "/locations" else None
    if cursor is not None and not faults:
        # With other faults there is no telling what the cursor's query was.
        faults["cursor"] = {"malformed-cursor", "cursor-mismatch"}
    if faults:
        expect_refusal(case, faults)
        case.query = query
    if cursor is not None:
        case.query = with_real_cursor(case, query)


def mend_locations(query):
    """Makes a query follow the rules; returns which faults it had."""
    if "ids" in query:
        others = set(query) - {"ids", *CENTER, "properties", "lang"}
        faults = mend_center(query) | {name: {"conflicting-parameters"} for name in others}
        for name in others:
            del query[name]
        return faults
    faults = {}
    if "sort" in query and "q" not in query:
        faults["q"] = {"missing-parameter"}
        query["q"] = "a"
    if "near" in query and "sort" not in query:
        faults["near"] = {"conflicting-parameters"}
        del query["near"]
    if "near" in query or "bbox" not in query and ("sort" not in query or "radius" in query):
        faults |= {name: {"missing-parameter"} for name in CENTER if name not in query}
        query.update({name: value for name, value in CENTER.items() if name not in query})
    else:
        faults |= mend_center(query)
    if "bbox" not in query:
        return faults
    if query.pop("radius", None) is not None:
        faults["radius"] = {"conflicting-parameters"}
    return faults | mend_box(query)


def mend_clusters(query):
    """Makes a query for clusters follow the rules; returns which faults it had."""
    faults = mend_box(query)
    if cell_count(box_of(query["bbox"]), int(query["zoom"])) > MAXIMUM_CELLS:
        # Of a box that is refused, the cells aren't counted.
        faults = faults or {"zoom": {"out-of-range"}}
        query["zoom"] = 0
    return faults


def mend_box(query):
    """Puts the edges of a box in their order; returns the fault."""
    box = box_of(query["bbox"])
    if box[1] <= box[3]:
        return {}
    box[1], box[3] = box[3], box[1]
    query["bbox"] = ",".join(map(repr, box))
    return {"bbox": {"malformed-box"}}


def cell_count(box, zoom):
    """How many tiles of Web Mercator, two levels below a zoom, a box touches."""
    west, south, east, north = box
    across = 1 << zoom + 2

    def row(latitude):
        sine = math.sin(math.radians(max(-85.0511287798066, min(latitude, 85.0511287798066))))
        return max(0, min(across - 1, int((0.5 - math.log((1 + sine) / (1 - sine)) / (4 * math.pi)) * across)))

    # Longitude 180 is -180, and as an east edge the first column once around.
    if west == 180:
        west, east = -180, -180 if east == 180 else east
    columns = int((east + 180) / 360 * across) - int((west + 180) / 360 * across) + 1
    return (row(south) - row(north) + 1) * min(across, columns + (across if west > east else 0))


def mend_center(query):
    """Takes half a centre away; returns the fault."""
    given = [name for name in CENTER if name in query]
    if len(given) != 1:
        return {}
    del query[given[0]]
    return {"long" if given == ["lat"] else "lat": {"missing-parameter"}}


def mend_events(case):
    """Replaces events that break a rule, once the service has refused exactly those.

    Integers that a double can't count are replaced before: which of them are right is no contract.
    """
    case.body = [EVENT if has_uncountable(event) else event for event in case.body]
    if not counts["refused batches"]:
        # Once at least every rule is broken, however the requests are made.
        body, case.body = case.body, [*BROKEN_EVENTS, EVENT]
        expect_refused_events(case, set(range(len(BROKEN_EVENTS))))
        case.body = body
    faulty = {index for index, event in enumerate(case.body) if breaks_rule(event)}
    if faulty:
        expect_refused_events(case, faulty)
        case.body = [EVENT if index in faulty else event for index, event in enumerate(case.body)]


def expect_refused_events(case, faulty):
    """Sends a batch as it was made, of which exactly these events have to be refused."""
    response = send(case)
    if response.status_code != 422:
        raise WrongRefusal(f"{response.status_code} instead of 422 for {case.body}")
    named = {fault["index"] for fault in response.json()["errors"]}
    if named != faulty:
        raise WrongRefusal(f"events {named} instead of {faulty} of {case.body}")
    counts["refused batches"] += 1


def has_uncountable(value):
    if isinstance(value, dict):
        return any(has_uncountable(item) for item in value.values())
    if isinstance(value, list):
        return any(has_uncountable(item) for item in value)
    return isinstance(value, int) and abs(value) > 1 << 53


def breaks_rule(event):
    content = event["event"]
    value = content.get("value")
    return (len(event["user_id"].encode()) > 200 or len(content["name"].encode()) > 100 or is_unstorable(value)
            or value is not None and len(json.dumps(value).encode()) > 8192)


def is_unstorable(value, level=1):
    """Whether PostgreSQL, or a bound of the service, has no room for a value of an event."""
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return len(json.dumps(value)) > 100
    if isinstance(value, (list, dict)) and level > 8:
        return True
    if isinstance(value, list):
        return any(is_unstorable(item, level + 1) for item in value)
    if isinstance(value, dict):
        return len(value) > 64 or any("\0" in name or is_unstorable(item, level + 1) for name, item in value.items())
    return False


def box_of(value):
    return list(value) if isinstance(value, list) else [float(edge) for edge in value.split(",")]


def send(case):
    arguments = case.as_transport_kwargs()
    return session.request(**{**arguments, "allow_redirects": False})


def expect_refusal(case, faults):
    """Sends a request as it was made, which has to be refused for exactly these faults."""
    response = send(case)
    if response.status_code != 400:
        raise WrongRefusal(f"{response.status_code} instead of 400 for {response.request.url}")
    if case.method == "HEAD":
        return
    named = {fault["parameter"]: fault["code"] for fault in response.json()["errors"]}
    if set(named) != set(faults) or any(named[name] not in codes for name, codes in faults.items()):
        raise WrongRefusal(f"{named} instead of {faults} for {response.request.url}")
    counts["refusals"] += 1


def with_real_cursor(case, query):
    """The query with the cursor of its second page, where it has one."""
    first = session.get(send_url(case), headers={"Accept": "application/json"}, allow_redirects=False)
    if first.status_code != 200:
        raise WrongRefusal(f"{first.status_code} for the first page {first.request.url}: {first.text}")
    link = re.fullmatch(r'<\?([^>]*)>; rel="next"', first.headers.get("Link", ""))
    if link is None:
        return query
    counts["real cursors"] += 1
    return {**query, "cursor": parse_qs(link[1])["cursor"][0]}


def send_url(case):
    arguments = case.as_transport_kwargs()
    return requests.Request("GET", arguments["url"], params=arguments.get("params")).prepare().url


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """A method that no parser of HTTP here knows is 501, as RFC 9110 (section 9.1) demands, not 405.

    QUERY is newer than the system's llhttp.
    """
    is_unknown = response.request.method == "QUERY" and response.status_code == 501
    return not (is_unknown and response.json()["code"] == "not-implemented")
