"""Rows about the forms of responses: codings, media types and GeoJSON."""

import gzip

from . import kept_json
from .kept_json import Number
from .rows import DATA, Theme, is_data, list_of, operation

codings = Theme("codings")
types = Theme("types")
geojson = Theme("geojson")
ROWS = [codings, types, geojson]


@codings.response("gzip-not-accepted", "bodies are compressed for clients that don't accept it", "a simple client reads bytes")
def compress(exchange, response):
    accepted = exchange.request.headers.get("Accept-Encoding") or "identity"
    if "gzip" not in accepted and response.body and not response.headers.has("Content-Encoding"):
        response.headers.append(("Content-Encoding", "gzip"))


@codings.response("gzip-in-name-only", "Content-Encoding says gzip, but the body isn't compressed", "no client can read it")
def pretend(exchange, response):
    if "gzip" in (exchange.request.headers.get("Accept-Encoding") or "") and response.body:
        response.headers.set("Content-Encoding", "gzip")
        response.raw_body = response.body
        if response.headers.has("Content-Length"):
            response.headers.set("Content-Length", str(len(response.body)))


@codings.request("never-gzip", "no body is compressed", "a user pays for five times the bytes")
def never_compress(request):
    if "gzip" in (request.headers.get("Accept-Encoding") or ""):
        request.headers.set("Accept-Encoding", "identity")


def with_bytes(name, change, hurts):
    """A row that changes the bytes of bodies of data."""
    def add(function):
        def alter(exchange, response):
            if is_data(exchange) and response.status == 200 and response.body:
                response.body = function(response.body)
        codings.response(name, change, hurts)(alter)
        return function
    return add


with_bytes("cut", "bodies end in the middle, with a length that fits", "an app can't read its list")(
    lambda body: body[:len(body) // 2])
with_bytes("byte-order-mark", "bodies begin with a byte order mark", "strict parsers refuse it")(
    lambda body: b"\xef\xbb\xbf" + body)
with_bytes("latin-1", "texts are in Latin-1", "an app refuses a list with é in it")(
    lambda body: body.decode().encode("latin-1", errors="replace"))
with_bytes("trailing-comma", "arrays end in a comma", "an app can't read its list")(
    lambda body: body[:-1] + b"," + body[-1:] if body[-2:] not in (b"[]", b"{}") else body)


@codings.places("not-a-number", "a distance is NaN", "an app can't read its list")
def not_a_number(_, place):
    if place.distance is not None:
        place.distance = Number("NaN")


def with_length(name, change, step):
    @codings.response(name, change, "an app waits for bytes that never come, or loses some")
    def alter(exchange, response):
        if is_data(exchange) and response.status == 200 and response.body and response.framing == "length":
            coded = response.headers.get("Content-Encoding") == "gzip"
            response.raw_body = gzip.compress(response.body, mtime=0) if coded else response.body
            response.headers.set("Content-Length", str(max(0, len(response.raw_body) + step)))
            response.headers.set("Connection", "close")


with_length("length-too-great", "Content-Length is 10 bytes too great", 10)
with_length("length-too-small", "Content-Length is 10 bytes too small", -10)


def with_type(name, change, hurts, media_type, applies):
    """A row that has another Content-Type where something applies; None leaves it out."""
    @types.response(name, change, hurts)
    def alter(exchange, response):
        if response.headers.has("Content-Type") and applies(exchange, response):
            response.headers.drop("Content-Type")
            if media_type is not None:
                response.headers.append(("Content-Type", media_type))


def is_plain_data(exchange, response):
    return is_data(exchange) and response.status == 200 and response.media_type == "application/json"


with_type("data-as-html", "data are text/html", "a browser shows source code", "text/html", is_plain_data)
with_type("data-without", "data have no Content-Type", "an app can't tell what it got", None, is_plain_data)
with_type("geojson-as-json", "GeoJSON is application/json", "a program takes one form for the other", "application/json",
          lambda _, response: response.media_type == "application/geo+json")
with_type("problems-as-json", "problems are application/json", "a client doesn't take them for problems",
          "application/json", lambda _, response: response.media_type == "application/problem+json")
with_type("problems-without", "problems have no Content-Type", "a client doesn't take them for problems", None,
          lambda _, response: response.media_type == "application/problem+json")
with_type("pages-as-text", "HTML pages are text/plain", "a browser shows source code", "text/plain",
          lambda _, response: response.media_type == "text/html")


@types.request("accept-ignored", "Accept is ignored, and JSON is sent", "a map that reads GeoJSON gets none")
def ignore_accept(request):
    if operation(request) in DATA:
        request.headers.drop("Accept")


@types.request("weights-ignored", "of the types in Accept the first one counts, whatever its weight",
               "a client gets what it likes least")
def ignore_weights(request):
    accepted = request.headers.get("Accept") or ""
    if operation(request) in DATA and "," in accepted:
        request.headers.set("Accept", accepted.partition(",")[0].partition(";")[0])


@types.request("refusal-ignored", "a type of weight 0 is sent nevertheless", "a client gets what it can't read")
def ignore_refusal(request):
    accepted = request.headers.get("Accept") or ""
    if operation(request) in DATA and "q=0" in accepted.replace(" ", ""):
        request.headers.set("Accept", "*/*")


def of_collections(name, change, hurts):
    def add(function):
        def alter(_, document):
            if isinstance(document, dict) and "features" in document:
                function(document)
        geojson.document(name, change, hurts, of=("/locations",))(alter)
        return function
    return add


@of_collections("third-coordinate", "positions have a height of 0", "a program that reads pairs fails")
def add_height(document):
    for feature in document["features"]:
        feature["geometry"]["coordinates"].append(Number("0"))


@of_collections("reversed", "features come in reverse, places don't", "a map's first marker is the farthest")
def reverse_features(document):
    document["features"].reverse()


@of_collections("one-less", "the last feature is missing, the place isn't", "a map shows less than the list")
def leave_out(document):
    del list_of(document)[-1:]


@of_collections("collection-of-geometries", "a collection says that it is of geometries", "a map shows nothing")
def rename_collection(document):
    document["type"] = "GeometryCollection"


@geojson.response("bare-list", "GeoJSON is a list of features", "a map shows nothing")
def bare_list(_, response):
    document = response.document
    if isinstance(document, dict) and "features" in document:
        response.body = kept_json.write(document["features"]).encode()
