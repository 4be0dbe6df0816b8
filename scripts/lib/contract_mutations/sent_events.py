"""Rows about events that apps send."""

import json

from . import kept_json
from .kept_json import Number
from .messages import Headers, Response
from .rows import Theme, operation

events = Theme("events")
ROWS = [events]


def is_sent(request):
    return operation(request) == "/events" and request.method == "POST"


def of_counts(name, change, hurts):
    """A row that changes the numbers of events that were taken."""
    def add(function):
        def alter(request, document):
            if is_sent(request) and "accepted" in document:
                numbers = function(int(document["accepted"].value), int(document["duplicates"].value))
                document["accepted"], document["duplicates"] = map(Number, numbers)
        events.document(name, change, hurts, of=("/events",))(alter)
        return function
    return add


of_counts("duplicates-never-told", "events that were there count as new", "reports count an event twice")(
    lambda accepted, duplicates: (accepted + duplicates, 0))
of_counts("one-accepted-too-many", "one more is accepted than was sent", "an app's count is wrong")(
    lambda accepted, duplicates: (accepted + 1, duplicates))
of_counts("counts-exchanged", "new events count as duplicates, and the other way round", "an app's count is wrong")(
    lambda accepted, duplicates: (duplicates, accepted))


def of_faults(name, change, hurts):
    """A row that changes the faults of events."""
    def add(function):
        def alter(_, document):
            if "errors" in document:
                function(document["errors"])
        events.document(name, change, hurts, of=("/events",), statuses=(422,))(alter)
        return function
    return add


@of_faults("index-from-one", "events are numbered from 1", "an app drops the wrong event")
def from_one(faults):
    for fault in faults:
        fault["index"] = Number(int(fault["index"].value) + 1)


@of_faults("fault-code-changed", "every fault of an event is `missing`", "a developer looks in the wrong place")
def one_code(faults):
    for fault in faults:
        fault["code"] = "missing"


@of_faults("fault-without-member", "a fault doesn't say which member is wrong", "a developer looks in the wrong place")
def without_member(faults):
    for fault in faults:
        fault.pop("parameter", None)


def without_bad(body):
    """A batch with those events only that look like one."""
    try:
        batch = json.loads(body)
    except ValueError:
        return body
    if not isinstance(batch, list):
        return body
    kept = [event for event in batch if isinstance(event, dict) and isinstance(event.get("event"), dict)
            and isinstance(event.get("user_id"), str) and not isinstance(event.get("time"), str)]
    return body if kept == batch else json.dumps(kept).encode()


@events.request("bad-ones-dropped", "events with faults are left out in silence", "an app believes that they are kept")
def drop_bad(request):
    if is_sent(request) and "Content-Encoding" not in dict(request.headers):
        request.body = without_bad(request.body)


@events.response("accepted-as-202", "events are 202", "an app believes that they may be lost")
def as_accepted(exchange, response):
    if is_sent(exchange.request) and response.status == 200:
        response.status, response.reason = 202, "Accepted"


@events.exchange("not-kept", "events are accepted, and not kept", "reports are empty")
async def forget(exchange):
    response = await exchange.ask()
    try:
        count = len(json.loads(exchange.request.body))
    except (ValueError, TypeError):
        return response
    if not is_sent(exchange.request) or response.status != 200:
        return response
    body = kept_json.write({"accepted": Number(count), "duplicates": Number(0)}).encode()
    return Response(200, "OK", Headers(response.headers), body)


@events.request("any-type-accepted", "events may be text/plain", "any web page sends events without a preflight")
def accept_any(request):
    if is_sent(request):
        request.headers.set("Content-Type", "application/json")


@events.exchange("good-ones-kept", "the good events of a refused batch are kept", "sent again, they count twice")
async def keep_good(exchange):
    response = await exchange.ask()
    if is_sent(exchange.request) and response.status == 422:
        request = exchange.request.copy()
        request.body = without_bad(request.body)
        await exchange.ask(request)
        exchange.has_effect = True
    return response
