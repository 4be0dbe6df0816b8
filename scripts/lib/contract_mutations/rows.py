"""What a row is, and the ways in which a theme says what its rows change."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from . import kept_json
from .kept_json import Number

OPERATIONS = [
    ("/locations/clusters", r"/locations/clusters"), ("/locations", r"/locations"),
    ("/locations/{id}", r"/locations/[^/]+"), ("/categories", r"/categories"), ("/attributions", r"/attributions"),
    ("/events", r"/events"), ("/livez", r"/livez"), ("/readyz", r"/readyz"), ("/openapi.json", r"/openapi\.json"),
    ("/problems", r"/problems"), ("/problems/{code}", r"/problems/[^/]+"), ("/", r"/"),
]
DATA = ("/locations", "/locations/clusters", "/locations/{id}", "/categories", "/attributions")
HEALTH = ("/livez", "/readyz")


def operation(request):
    """The path as the description has it; None for one that it doesn't have."""
    return next((name for name, pattern in OPERATIONS if re.fullmatch(pattern, request.path)), None)


@dataclass(frozen=True)
class Row:
    """One change: what it is, whom it would hurt, whether the contract allows it, and what the target needs for it."""

    id: str
    change: str
    hurts: str
    handler: Callable
    allowed: bool = False
    needs: frozenset = frozenset()


async def identity(exchange):
    return await exchange.ask()


IDENTITY = Row("identity", "nothing", "nobody", identity, allowed=True)


class Theme:
    """The rows of a theme, in their order; each decorator takes what a row says of itself."""

    def __init__(self, name, allowed=False, hurts=None):
        self.name, self.allowed, self.hurts = name, allowed, hurts
        self.rows = []

    def exchange(self, name, change, hurts=None, needs=()):
        """For a function that handles the whole exchange."""
        def add(handler):
            self.rows.append(Row(f"{self.name}/{name}", change, hurts or self.hurts, handler, self.allowed,
                                 frozenset(needs)))
            return handler
        return add

    def response(self, name, change, hurts=None, needs=()):
        """For a function of an exchange that changes the response."""
        def add(function):
            async def handler(exchange):
                response = await exchange.ask()
                function(exchange, response)
                return response
            self.exchange(name, change, hurts, needs)(handler)
            return function
        return add

    def request(self, name, change, hurts=None, needs=()):
        """For a function that changes the request before the server sees it."""
        def add(function):
            async def handler(exchange):
                request = exchange.request.copy()
                function(request)
                return await exchange.ask(request)
            self.exchange(name, change, hurts, needs)(handler)
            return function
        return add

    def document(self, name, change, hurts=None, needs=(), of=None, statuses=(200,)):
        """For a function of a request and a document in JSON, which it changes, or for which it returns another.

        `of` are the operations whose documents they are, and `statuses` those of the responses.
        """
        def add(function):
            def alter(exchange, response):
                if response.status not in statuses or of is not None and operation(exchange.request) not in of:
                    return
                document = response.document
                if document is None:
                    return
                before = kept_json.write(document)
                other = function(exchange.request, document)
                document = document if other is None else other
                if kept_json.write(document) != before:
                    response.document = document
            self.response(name, change, hurts, needs)(alter)
            return function
        return add

    def places(self, name, change, hurts=None, needs=(), of=DATA):
        """For a function of a request and a place, in whatever form it comes."""
        def add(function):
            def alter(request, document):
                for place in places_in(document):
                    function(request, place)
            self.document(name, change, hurts, needs, of)(alter)
            return function
        return add

    def page(self, name, change, hurts=None, needs=()):
        """For a function of a request and a page's list of places, which returns another list or changes this one."""
        def add(function):
            def alter(request, document):
                items = list_of(document)
                changed = function(request, items)
                if changed is not None:
                    items[:] = changed
            self.document(name, change, hurts, needs, of=("/locations",))(alter)
            return function
        return add


def list_of(document):
    """The places of a page or of a collection, as they stand in its document."""
    return document["features"] if isinstance(document, dict) else document


class Place:
    """A place in either form; `facts` is where most of its members are."""

    def __init__(self, item):
        self.item = item
        self.is_feature = item.get("type") == "Feature"
        self.facts = item["properties"] if self.is_feature else item

    @property
    def position(self):
        if self.is_feature:
            longitude, latitude = self.item["geometry"]["coordinates"]
            return latitude, longitude
        return self.item["latitude"], self.item["longitude"]

    @position.setter
    def position(self, position):
        if self.is_feature:
            self.item["geometry"]["coordinates"] = [position[1], position[0]]
        else:
            self.item["latitude"], self.item["longitude"] = position

    @property
    def distance(self):
        return self.facts["distance"].value if "distance" in self.facts else None

    @distance.setter
    def distance(self, distance):
        self.facts["distance"] = distance if isinstance(distance, Number) else spelled(distance, 1)


def spelled(value, decimals):
    """A number as the service spells it: rounded, without zeros at the end."""
    text = f"{value:.{decimals}f}"
    return Number(text.rstrip("0").rstrip(".") if "." in text else text)


def places_in(document):
    """The places of any document, in either form."""
    if isinstance(document, list):
        return [Place(item) for item in document if isinstance(item, dict) and "latitude" in item]
    if "features" in document:
        return [Place(item) for item in document["features"]]
    if "clusters" in document:
        return [Place(cluster["place"]) for cluster in document["clusters"] if "place" in cluster]
    return [Place(document)] if "geometry" in document or "latitude" in document else []


def box_of(request):
    """A request's box as numbers; None where it has none that can be read."""
    try:
        west, south, east, north = map(float, (request.parameter("bbox") or "").split(","))
    except ValueError:
        return None
    return west, south, east, north


def center_of(request):
    try:
        return float(request.parameter("lat")), float(request.parameter("long"))
    except (TypeError, ValueError):
        return None


def is_data(exchange):
    return operation(exchange.request) in DATA
