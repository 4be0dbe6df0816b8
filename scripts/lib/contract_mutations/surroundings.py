"""Rows about what surrounds the data: ids of requests, methods, health and the description."""

import re

from . import kept_json
from .rows import HEALTH, Theme, operation

request_ids = Theme("request-ids")
methods = Theme("methods")
health = Theme("health")
description = Theme("description")
ROWS = [request_ids, methods, health, description]


def wanted_id(exchange):
    return exchange.request.headers.get("X-Request-Id")


def of_ids(name, change, hurts):
    """A row that has another request id; None leaves it as it is."""
    def add(function):
        def alter(exchange, response):
            own = response.headers.get("X-Request-Id")
            other = function(exchange, own)
            if other is not None and other != own:
                response.headers.set("X-Request-Id", other)
                response.body = response.body.replace(f'"requestId":"{own}"'.encode(), f'"requestId":"{other}"'.encode())
        request_ids.response(name, change, hurts)(alter)
        return function
    return add


def count(exchange):
    exchange.memory["ids"] = exchange.memory.get("ids", 0) + 1
    return f"made{exchange.memory['ids']}"


of_ids("not-echoed", "the client's id isn't taken", "an app's log and the server's don't fit")(
    lambda exchange, own: count(exchange) if wanted_id(exchange) == own else None)
of_ids("constant", "every request without an id gets the same one", "an operator can't find a request")(
    lambda exchange, _: "constant" if wanted_id(exchange) is None else None)
of_ids("cut", "ids end after 32 characters", "an app's log and the server's don't fit")(lambda _, own: own and own[:32])
of_ids("any-echoed", "any id is taken, however it is spelled", "somebody writes lines into the log")(
    lambda exchange, _: wanted_id(exchange))
of_ids("in-small-letters", "ids come back in small letters", "an app's log and the server's don't fit")(
    lambda _, own: own and own.lower())


def of_method(name, change, hurts, applies):
    """A row that changes the response to requests of some kind."""
    def add(function):
        def alter(exchange, response):
            if applies(exchange.request, response):
                function(response)
        methods.response(name, change, hurts)(alter)
        return function
    return add


@of_method("head-of-another-length", "HEAD tells another length than GET has", "a cache drops what it has",
           lambda request, response: request.method == "HEAD" and response.framing == "length" and response.body)
def another_length(response):
    response.raw_body = response.body
    response.headers.set("Content-Length", str(len(response.body) + 1))


def refuse_method(response, allow="GET, OPTIONS"):
    response.status, response.reason = 405, "Method Not Allowed"
    response.headers.set("Allow", allow)


of_method("head-refused", "HEAD isn't allowed", "a link checker takes the service for broken",
          lambda request, response: request.method == "HEAD" and response.status < 400)(refuse_method)


def without_method(response, name):
    allowed = [part.strip() for part in response.headers.get("Allow").split(",")]
    response.headers.set("Allow", ", ".join(part for part in allowed if part != name))


of_method("allow-without-head", "the Allow of a 405 doesn't name HEAD", "a client doesn't use what it may",
          lambda _, response: response.status == 405 and response.headers.has("Allow"))(
              lambda response: without_method(response, "HEAD"))
of_method("options-allow-without-get", "the Allow of OPTIONS names neither GET nor POST", "a client uses nothing",
          lambda request, response: request.method == "OPTIONS" and response.headers.has("Allow"))(
              lambda response: (without_method(response, "GET"), without_method(response, "POST")))


@of_method("another-method-not-found", "another method than the path's is 404", "a client looks for another address",
           lambda _, response: response.status == 405)
def not_found(response):
    response.status, response.reason = 404, "Not Found"
    response.body = response.body.replace(b'"status":405', b'"status":404').replace(b"method-not-allowed", b"unknown-path")
    response.headers.drop("Allow")


@of_method("options-not-found", "OPTIONS is 404", "a web app's preflight fails",
           lambda request, response: request.method == "OPTIONS" and response.status == 204)
def no_options(response):
    response.status, response.reason, response.framing = 404, "Not Found", "length"
    response.headers.set("Content-Length", "0")


@of_method("any-method-accepted", "DELETE and PUT are 204", "somebody believes that a place is gone",
           lambda request, response: request.method in ("DELETE", "PUT", "PATCH") and response.status == 405)
def accept_method(response):
    response.status, response.reason, response.framing = 204, "No Content", "none"
    for name in ("Content-Type", "Content-Length", "Allow"):
        response.headers.drop(name)


@health.document("ready-says-nothing", "/readyz is {}", "an operator can't tell which release serves", of=("/readyz",))
def say_nothing(*_):
    return {}


@health.response("alive-without-content", "/livez is 204", "a check that reads it fails")
def without_content(exchange, response):
    if operation(exchange.request) == "/livez" and response.status == 200:
        response.status, response.reason, response.framing = 204, "No Content", "none"
        response.headers.drop("Content-Type")
        response.headers.drop("Content-Length")


@health.document("another-version", "/readyz tells another version than the description", "an operator rolls back the wrong one",
                 of=("/readyz",))
def another_version(_, document):
    document["version"] = "99.0.0"


@health.response("as-text", "health is text/plain", "a check that reads it fails")
def health_as_text(exchange, response):
    if operation(exchange.request) in HEALTH and response.status == 200:
        response.headers.set("Content-Type", "text/plain")


def described(name, change, hurts="a generated client lacks it"):
    """A row that changes the description of the service."""
    return description.document(name, change, hurts, of=("/openapi.json",))


def without_path(name, path):
    @described(name, f"the description doesn't have {path}")
    def drop(_, document):
        document["paths"].pop(path, None)


without_path("without-events", "/events")
without_path("without-clusters", "/locations/clusters")


@described("without-a-parameter", "the description doesn't have radius")
def drop_parameter(_, document):
    for each in document["paths"]["/locations"].values():
        each["parameters"] = [entry for entry in each["parameters"] if entry.get("name") != "radius"]


@described("without-a-member", "the description of a place doesn't have its website")
def drop_member(_, document):
    document["components"]["schemas"]["PointOfInterest"]["properties"].pop("website")


@described("without-a-code", "the description doesn't have the problem not-found")
def drop_code(_, document):
    codes = document["components"]["schemas"]["ProblemCode"]
    codes["enum"] = [code for code in codes["enum"] if code != "not-found"]


@described("dangling-reference", "the description refers to a schema that it doesn't have", "a generator fails")
def dangle(_, document):
    document["components"]["schemas"].pop("Source")


@described("empty", "the description is {}", "a generator makes nothing")
def empty(*_):
    return {}


@described("without-responses", "the description has no response but 200", "a generated client can't read problems")
def only_good(_, document):
    for path in document["paths"].values():
        for each in path.values():
            each["responses"] = {"200": each["responses"]["200"]}


@description.response("of-another-version", "the description is of OpenAPI 2.0", "a generator refuses it")
def older(exchange, response):
    if operation(exchange.request) == "/openapi.json" and response.status == 200:
        response.body = re.sub(rb'"openapi":"3[^"]*"', b'"swagger":"2.0"', response.body, count=1)


@description.document("problem-without-a-code", "the list of problems lacks not-found", "nobody can look it up", of=("/problems",))
def drop_meaning(_, document):
    return [entry for entry in document if entry["code"] != "not-found"]


@description.response("problems-in-html-only", "the pages of problems are HTML for everybody", "a program can't read them")
def html_only(exchange, response):
    if operation(exchange.request) in ("/problems", "/problems/{code}") and response.media_type == "application/json":
        document = response.document
        response.body = f"<!doctype html><pre>{kept_json.write(document)}</pre>".encode()
        response.headers.set("Content-Type", "text/html")
