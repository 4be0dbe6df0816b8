"""Rows about who may ask: keys, scripts of other origins, limits, and the connection."""

import json
from email.utils import formatdate

from .messages import Headers, Response
from .rows import DATA, HEALTH, Theme, operation

keys = Theme("keys")
origins = Theme("origins")
limits = Theme("limits")
connection = Theme("connection")
ROWS = [keys, origins, limits, connection]


def problem(exchange, status, reason, code, title):
    """A problem as the service might send it, without any other fault that the suite might notice."""
    request_id = exchange.request.headers.get("X-Request-Id") or "made-by-the-row"
    body = {"type": f"/problems/{code}", "title": title, "status": status, "detail": f"{title}.", "code": code,
            "requestId": request_id}
    headers = [("Date", formatdate(usegmt=True)), ("Content-Type", "application/problem+json"),
               ("Cache-Control", "no-store"), ("Vary", "Accept, Accept-Encoding, Origin"), ("Content-Length", ""),
               ("X-Request-Id", request_id)]
    return Response(status, reason, Headers(headers), json.dumps(body, separators=(",", ":")).encode())


def key_of(exchange, other=False):
    """The key that opens what the request asks for, or the other one."""
    kind = "events" if operation(exchange.request) == "/events" else "data"
    if other:
        kind = {"events": "data", "data": "events"}[kind]
    return f"Bearer {exchange.memory['keys'][kind]}"


def accepting(name, change, hurts, applies):
    """A row that gives requests the right key where something holds for what they have."""
    @keys.exchange(name, change, hurts, needs=("keys",))
    async def handler(exchange):
        request = exchange.request.copy()
        if operation(request) in (*DATA, "/events") and applies(exchange, request.headers.get("Authorization")):
            request.headers.set("Authorization", key_of(exchange))
        return await exchange.ask(request)


accepting("none-needed", "no key is needed", "anybody reads what is sold", lambda _, sent: sent is None)
accepting("any-accepted", "any key is accepted", "anybody reads what is sold",
          lambda exchange, sent: sent is not None and sent not in (key_of(exchange), key_of(exchange, True)))
accepting("data-opened-by-events", "the key of events opens the data", "every copy of the app has the data's key",
          lambda exchange, sent: operation(exchange.request) != "/events" and sent == key_of(exchange, True))
accepting("events-opened-by-data", "the key of data opens events", "whoever reads may write",
          lambda exchange, sent: operation(exchange.request) == "/events" and sent == key_of(exchange, True))


@keys.response("wrong-one-unnamed", "a wrong key gets `Bearer` without an error", "an app asks for a key that it has",
               needs=("keys",))
def unnamed(_, response):
    if "invalid_token" in (response.headers.get("WWW-Authenticate") or ""):
        response.headers.set("WWW-Authenticate", "Bearer")


@keys.response("missing-one-invalid", "no key at all gets error=\"invalid_token\"", "an app throws its key away", needs=("keys",))
def invalid(exchange, response):
    if response.headers.get("WWW-Authenticate") == "Bearer" and not exchange.request.headers.has("Authorization"):
        response.headers.set("WWW-Authenticate", 'Bearer error="invalid_token"')


@keys.response("basic", "a key is asked for as Basic", "a browser asks for a password", needs=("keys",))
def basic(_, response):
    if response.headers.has("WWW-Authenticate"):
        response.headers.set("WWW-Authenticate", 'Basic realm="places"')


def needing(name, change, hurts, paths):
    """A row that asks for a key where none is needed."""
    @keys.exchange(name, change, hurts, needs=("keys",))
    async def handler(exchange):
        if operation(exchange.request) in paths and not exchange.request.headers.has("Authorization"):
            made = problem(exchange, 401, "Unauthorized", "unauthorized", "A key is needed")
            made.headers.append(("WWW-Authenticate", "Bearer"))
            return made
        return await exchange.ask()


needing("for-health", "health needs a key", "a balancer takes all servers for dead", HEALTH)
needing("for-description", "the description needs a key", "a developer can't read it", ("/openapi.json",))
needing("for-problems", "the pages of problems need a key", "nobody can look up what 401 means", ("/problems", "/problems/{code}"))


def of_origins(name, change, hurts):
    """A row that changes what responses say to scripts of other origins."""
    def add(function):
        def alter(exchange, response):
            if exchange.request.headers.has("Origin"):
                function(exchange, response.headers)
        origins.response(name, change, hurts, needs=("origins",))(alter)
        return function
    return add


def is_preflight(exchange):
    return exchange.request.method == "OPTIONS" and exchange.request.headers.has("Access-Control-Request-Method")


@of_origins("any-echoed", "scripts of any origin may read", "any web page reads with the user's key")
def echo(exchange, headers):
    headers.set("Access-Control-Allow-Origin", exchange.request.headers.get("Origin"))


@of_origins("star", "the origin is *", "any web page reads with the user's key")
def star(_, headers):
    headers.set("Access-Control-Allow-Origin", "*")


@of_origins("credentials", "scripts may send cookies", "a browser sends what it needn't")
def credentials(_, headers):
    if headers.has("Access-Control-Allow-Origin"):
        headers.set("Access-Control-Allow-Credentials", "true")


@of_origins("nothing-exposed", "scripts may read no header", "a web app can't find the next page")
def expose_nothing(_, headers):
    headers.drop("Access-Control-Expose-Headers")


@of_origins("link-not-exposed", "scripts may not read Link", "a web app can't find the next page")
def hide_link(_, headers):
    if headers.has("Access-Control-Expose-Headers"):
        headers.set("Access-Control-Expose-Headers", "ETag, Retry-After, X-Request-Id")


@origins.response("problems-hidden", "scripts may not read problems", "a web app can't tell what is wrong", needs=("origins",))
def hide_problems(_, response):
    if response.status >= 400:
        response.headers.drop("Access-Control-Allow-Origin")


@of_origins("timing-hidden", "scripts may not read timing", "a web app can't measure")
def hide_timing(_, headers):
    headers.drop("Timing-Allow-Origin")


def of_preflights(name, change, header, without=None):
    """A row that leaves a header out of responses to preflights, or a name out of it."""
    @of_origins(name, change, "a web app's request isn't sent")
    def alter(exchange, headers):
        if is_preflight(exchange) and headers.has(header):
            left = [part.strip() for part in headers.get(header).split(",") if part.strip() != without]
            headers.drop(header)
            if without is not None:
                headers.append((header, ", ".join(left)))


of_preflights("preflight-without-methods", "preflights don't name methods", "Access-Control-Allow-Methods")
of_preflights("preflight-without-headers", "preflights don't name headers", "Access-Control-Allow-Headers")
of_preflights("preflight-without-authorization", "preflights don't allow Authorization", "Access-Control-Allow-Headers",
              "Authorization")
of_preflights("preflight-without-origin", "preflights allow no origin", "Access-Control-Allow-Origin")
of_preflights("preflight-not-kept", "preflights may not be kept", "Access-Control-Max-Age")


@origins.exchange("preflight-needs-key", "preflights need a key", "a web app's request isn't sent", needs=("origins", "keys"))
async def preflight_key(exchange):
    if is_preflight(exchange):
        made = problem(exchange, 401, "Unauthorized", "unauthorized", "A key is needed")
        made.headers.append(("WWW-Authenticate", "Bearer"))
        return made
    return await exchange.ask()


def of_limits(name, change, hurts):
    """A row that changes responses of 429."""
    def add(function):
        def alter(_, response):
            if response.status == 429:
                function(response)
        limits.response(name, change, hurts, needs=("limited",))(alter)
        return function
    return add


@of_limits("retry-after-as-date", "429 says when to try again as a date", "an app that reads seconds asks at once")
def retry_date(response):
    response.headers.set("Retry-After", "Mon, 23 Nov 2026 12:00:00 GMT")


@of_limits("as-503", "too many requests are 503", "an app takes its own fault for the service's")
def as_unavailable(response):
    response.status, response.reason = 503, "Service Unavailable"
    response.body = response.body.replace(b'"status":429', b'"status":503').replace(b"too-many-requests", b"overloaded")


@of_limits("as-403", "too many requests are 403", "an app gives up")
def as_forbidden(response):
    response.status, response.reason = 403, "Forbidden"
    response.body = response.body.replace(b'"status":429', b'"status":403').replace(b"too-many-requests", b"forbidden")


@of_limits("without-a-problem", "429 has no body", "an app can't tell whose limit it is")
def without_problem(response):
    response.body = b""
    response.headers.drop("Content-Type")


@of_limits("stored", "429 may be kept", "a cache repeats it when the limit is over")
def stored(response):
    response.headers.set("Cache-Control", "public, max-age=60")


@limits.exchange("health-counts", "requests for health are limited, too", "a balancer takes a busy server for dead",
                 needs=("limited",))
async def limit_health(exchange):
    if exchange.is_limited and operation(exchange.request) in HEALTH:
        made = problem(exchange, 429, "Too Many Requests", "too-many-requests", "There are too many requests")
        made.headers.append(("Retry-After", "3600"))
        return made
    return await exchange.ask()


@connection.exchange("redirect", "paths lead to the same with a slash, by 302", "an app sends each request twice")
async def redirect(exchange):
    response = await exchange.ask()
    path, _, query = exchange.request.target.partition("?")
    if response.status == 200 and path in DATA:
        target = f"{path}/" + ("?" + query if query else "")
        return Response(302, "Found", Headers([*response.headers, ("Location", target)]), response.body)
    return response


@connection.response("date-malformed", "Date isn't a date of HTTP", "a cache can't tell how old a response is")
def malformed_date(_, response):
    if response.headers.has("Date"):
        response.headers.set("Date", "2026-11-23T12:00:00Z")


@connection.response("date-of-yesterday", "Date is a day old", "a cache takes every response for stale")
def old_date(_, response):
    if response.headers.has("Date"):
        response.headers.set("Date", "Sun, 22 Nov 2020 12:00:00 GMT")
