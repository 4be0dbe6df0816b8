"""Rows about what the service refuses, and how it says so."""

from urllib.parse import unquote_plus

from .kept_json import Number
from .rows import Theme, operation

problems = Theme("problems")
ROWS = [problems]

PARAMETERS = {
    "/locations": {"lat", "long", "radius", "limit", "bbox", "category", "dataset", "q", "featured", "cursor"},
    "/locations/clusters": {"zoom", "bbox", "category", "dataset", "q", "featured"}, "/locations/{id}": {"lat", "long"},
    "/categories": set(), "/attributions": set(),
}


def of_problems(name, change, hurts, statuses=range(400, 600)):
    """A row that changes the document of each problem."""
    def add(function):
        def alter(_, document):
            if isinstance(document, dict) and "code" in document:
                function(document)
        problems.document(name, change, hurts, statuses=statuses)(alter)
        return function
    return add


@of_problems("code-changed", "a place or path that isn't there has the code of the other", "an app forgets the wrong thing", (404,))
def change_code(document):
    document["code"] = {"not-found": "unknown-path", "unknown-path": "not-found"}.get(document["code"], "not-found")


@of_problems("one-code-for-all", "every problem of a query is invalid-parameters", "an app can't tell what is wrong", (400,))
def one_code(document):
    document["code"], document["type"] = "invalid-parameters", "/problems/invalid-parameters"


@of_problems("first-fault-only", "only the first fault is told", "somebody mends a request one fault at a time", (400, 422))
def first_fault(document):
    document["errors"] = document.get("errors", [])[:1]
    if not document["errors"]:
        del document["errors"]


@of_problems("another-parameter", "faults name another parameter", "somebody looks in the wrong place", (400,))
def another_parameter(document):
    for fault in document.get("errors", []):
        fault["parameter"] = "latitude" if fault["parameter"] == "lat" else "lat"


@of_problems("another-request-id", "a problem's requestId isn't that of the header", "an operator finds no line in the log")
def another_id(document):
    document["requestId"] = "another"


@of_problems("another-status", "a problem's status isn't that of the response", "a program believes the wrong one")
def another_status(document):
    document["status"] = Number("500")


@of_problems("absolute-type", "a problem's type names the server's own host", "the page isn't found behind a proxy")
def absolute_type(document):
    document["type"] = "http://localhost:8080" + document["type"]


@of_problems("no-type", "a problem's type is about:blank", "nobody can look up what it means")
def no_type(document):
    document["type"] = "about:blank"


@of_problems("detail-is-title", "a problem's detail repeats its title", "somebody doesn't learn what is wrong", (400,))
def repeat_title(document):
    document["detail"] = document["title"]


def of_refusals(name, change, hurts, applies=lambda response: response.status >= 400):
    """A row that changes the response wherever something is refused."""
    def add(function):
        def alter(exchange, response):
            if applies(response):
                function(exchange, response)
        problems.response(name, change, hurts)(alter)
        return function
    return add


@of_refusals("html-page", "problems are HTML pages", "an app can't tell what is wrong")
def html_page(_, response):
    response.body = f"<!doctype html><title>{response.status} {response.reason}</title>".encode()
    response.headers.set("Content-Type", "text/html")


@of_refusals("not-found-empty", "a 404 has no body", "an app can't tell a lost place from a wrong address",
             lambda response: response.status == 404)
def empty_body(_, response):
    response.body = b""
    response.headers.drop("Content-Type")
    response.headers.set("Content-Length", "0")


@of_refusals("refused-as-200", "a query that is refused is 200 with the problem", "an app reads a problem as a list",
             lambda response: response.status == 400)
def as_success(_, response):
    response.status, response.reason = 200, "OK"


def of_queries(name, change, hurts):
    """A row that reads queries more generously."""
    def add(function):
        def alter(request):
            if operation(request) in PARAMETERS:
                request.pairs = function(request, request.pairs)
        problems.request(name, change, hurts)(alter)
        return function
    return add


@of_queries("unknown-parameters-ignored", "unknown parameters are ignored", "a misspelled filter is no filter")
def ignore_unknown(request, pairs):
    known = PARAMETERS[operation(request)]
    return [pair for pair in pairs if unquote_plus(pair[0]) in known or unquote_plus(pair[0]).startswith("property.")]


@of_queries("first-of-repeated", "of repeated parameters the first one counts", "two programs read one query differently")
def first_wins(_, pairs):
    first = {}
    for name, value in pairs:
        first.setdefault(unquote_plus(name), (name, value))
    return list(first.values())


@of_queries("empty-ignored", "empty parameters are ignored", "a form that lost a value finds too much")
def ignore_empty(_, pairs):
    return [pair for pair in pairs if pair[1]]


def clamped(value, least, most):
    try:
        number = float(value)
    except ValueError:
        return value
    return value if least <= number <= most else f"{min(max(number, least), most):g}"


def clamping(parameter, least, most, hurts):
    @of_queries(f"{parameter}-clamped", f"a {parameter} out of range is brought into it", hurts)
    def clamp(_, pairs):
        return [(name, clamped(value, least, most) if name == parameter else value) for name, value in pairs]


clamping("limit", 1, 100, "an app believes that it has all places")
clamping("lat", -90, 90, "swapped coordinates look like a place at the pole")
clamping("long", -180, 180, "a wrong longitude isn't noticed")
clamping("radius", 1, 20037508, "a wrong radius isn't noticed")
clamping("zoom", 0, 22, "a map draws cells of another size")


@of_queries("radius-beside-box", "a radius beside a box is ignored", "a filter is no filter")
def ignore_radius(_, pairs):
    return [pair for pair in pairs if pair[0] != "radius" or "bbox" not in dict(pairs)]


@of_queries("half-a-center-ignored", "half a centre is ignored for one place", "an app lacks a distance and doesn't know why")
def ignore_half(request, pairs):
    if operation(request) != "/locations/{id}" or {"lat", "long"} <= set(dict(pairs)):
        return pairs
    return [pair for pair in pairs if pair[0] not in ("lat", "long")]


@of_queries("long-text-cut", "a text of more than 100 characters is cut", "a search finds what nobody looked for")
def cut_text(_, pairs):
    return [(name, value[:100] if name == "q" and "%" not in value else value) for name, value in pairs]


@of_queries("booleans-in-any-spelling", "featured takes 1, yes and True", "two programs read one query differently")
def spell_booleans(_, pairs):
    known = {"1": "true", "yes": "true", "True": "true", "TRUE": "true", "0": "false", "no": "false", "False": "false"}
    return [(name, known.get(value, value) if name == "featured" else value) for name, value in pairs]


@of_refusals("start-page-for-unknown-paths", "a path that isn't there gets a page with 200", "a wrong address looks right",
             lambda response: response.status == 404 and b"unknown-path" in response.body)
def start_page(_, response):
    response.status, response.reason, response.body = 200, "OK", b"<!doctype html><title>Places</title>"
    response.headers.set("Content-Type", "text/html")


@problems.response("pages-of-problems-missing", "a problem's type is no page", "nobody can look up what it means")
def no_page(exchange, response):
    if operation(exchange.request) == "/problems/{code}" and response.status == 200:
        response.status, response.reason = 404, "Not Found"
