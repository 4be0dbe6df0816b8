"""What a row is, and the ways in which it says what it changes."""

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One change of what passes: its handler takes an exchange and returns the response."""

    id: str
    change: str
    handler: Callable
    is_allowed: bool = False


def operation(request):
    """The path as the description has it."""
    if found := re.fullmatch("/locations/[^/]+/(record|versions|restore|merge)", request.path):
        return "/locations/{id}/" + found[1]
    parent, _, last = request.path.rpartition("/")
    named = {"/locations": "/locations/{id}", "/problems": "/problems/{code}"}
    return named[parent] if parent in named and last not in ("clusters", "digest") else request.path


def asking(change):
    """For a function that changes the request before the server sees it."""
    def handler(exchange):
        request = exchange.request.copy()
        change(request)
        return exchange.ask(request)
    return handler


def with_parameter(name, change):
    """For a function of a parameter's value as it is spelled; where it returns nothing, the parameter is left out."""
    def alter(request):
        changed = [(known, change(value) if known.startswith(name) else value) for known, value in request.pairs]
        if changed != request.pairs:
            request.pairs = [(known, value) for known, value in changed if value]
    return asking(alter)


def responding(change, path=None, method=None, status=None, media_type=None):
    """For a function of an exchange and its response, where the response is one of these."""
    def handler(exchange):
        response, request = exchange.ask(), exchange.request
        found = (operation(request), request.method, response.status, response.media_type)
        if all(value in (None, other) for value, other in zip((path, method, status, media_type), found, strict=True)):
            change(exchange, response)
        return response
    return handler


def with_header(name, change, **where):
    """For a function of a request and a header's value, where the response has the header."""
    def alter(exchange, response):
        if value := response.headers.get(name):
            response.headers.set(name, change(exchange.request, value))
    return responding(alter, **where)


def change_document(change, request, response):
    """Changes a document by a function of its request and it, which may return another one."""
    if (document := response.document) is not None:
        other = change(request, document)
        document = document if other is None else other
        # What isn't changed keeps its very bytes.
        if document != response.document:
            response.document = document


def documents(change, **where):
    return responding(lambda exchange, response: change_document(change, exchange.request, response), **where)


def on_page(change):
    """A change of a page's document, in either form, by a function of its places, which returns others."""
    def alter(request, document):
        if isinstance(document, list):
            return change(request, document)
        return document | {"features": change(request, document["features"])}
    return alter


def pages(change):
    return documents(on_page(change), path="/locations", status=200)


def places(change):
    """For a function of a request and a place, in whatever document and form it is."""
    def alter(request, document):
        for place in document if isinstance(document, list) else document.get("features", [document]):
            if "featured" in facts(place):
                change(request, place)
    return documents(alter, status=200)


def facts(place):
    """Where most of a place's members are."""
    return place["properties"] if "geometry" in place else place


def position(place):
    """Latitude and longitude."""
    return place["geometry"]["coordinates"][::-1] if "geometry" in place else [place["latitude"], place["longitude"]]


def numbers(text, count):
    """So many numbers; None where a text isn't that."""
    try:
        found = [float(part) for part in text.replace("%2C", ",").split(",")]
    except ValueError:
        return None
    return found if len(found) == count else None


def center(request):
    return numbers(f"{request.parameter('lat')},{request.parameter('long')}", 2)
