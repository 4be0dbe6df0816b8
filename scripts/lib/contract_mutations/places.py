"""Rows about places themselves: their order, distances, positions and facts."""

import html
import math
import unicodedata
from decimal import Decimal

from .ellipsoid import distance_on_ellipsoid, distance_on_sphere
from .kept_json import Number
from .rows import Place, Theme, center_of, operation, spelled

order = Theme("order")
distances = Theme("distances")
facts = Theme("facts")
ROWS = [order, distances, facts]


@order.page("reversed", "pages have their places in reverse", "a list shows what is far first")
def reverse(_, items):
    items.reverse()


@order.page("by-id", "a page's places are sorted by id", "a list's first place isn't the nearest")
def sort_by_id(_, items):
    items.sort(key=lambda item: item["id"].value)


@order.page("first-two-swapped", "the two nearest places of a page change places", "an app offers the second nearest")
def swap_first(_, items):
    items[:2] = reversed(items[:2])


@order.page("last-two-swapped", "the last two places of a page change places", "a list isn't in order at its end")
def swap_last(_, items):
    items[-2:] = reversed(items[-2:])


@order.page("ties-by-descending-id", "places at one distance come with the greater id first",
            "pages repeat and skip places that stand on one position")
def reverse_ties(request, items):
    if center_of(request) is not None:
        items.sort(key=lambda item: (Place(item).distance, -item["id"].value))


def with_distances(name, change, hurts):
    """A row that changes each distance."""
    def add(function):
        def alter(request, place):
            if place.distance is not None and center_of(request) is not None:
                place.distance = function(center_of(request), place)
        distances.places(name, change, hurts)(alter)
        return function
    return add


@with_distances("a-thousandth-too-long", "distances are 0.1 % too long", "an app says 10.01 km for 10 km")
def lengthen(_, place):
    return place.distance * Decimal("1.001")


@with_distances("rounded-down", "distances are rounded down instead of to the nearest 0.1 m",
                "two programs disagree about a distance")
def round_down(center, place):
    exact = distance_on_ellipsoid(center, [float(part.value) for part in place.position])
    if exact is None or abs(exact - float(place.distance)) > 0.0501:
        return place.facts["distance"]
    return math.floor(exact * 10) / 10


@with_distances("whole-metres", "distances are rounded to whole metres", "near places seem to be equally far")
def round_to_metres(_, place):
    return round(place.distance)


@with_distances("on-the-sphere", "distances are those on a sphere", "distances are wrong by up to 0.5 %")
def on_sphere(center, place):
    return distance_on_sphere(center, [float(part.value) for part in place.position])


@with_distances("a-decimetre-too-long", "distances are 0.1 m too long", "a place where the user stands is 0.1 m away")
def add_decimetre(_, place):
    return place.distance + Decimal("0.1")


def without_center(name, change, of):
    @distances.places(name, change, "an app shows a distance from nowhere", of=of)
    def add(request, place):
        if center_of(request) is None and "distance" not in place.facts:
            place.distance = Number("0")


without_center("in-a-box-without-a-center", "places of a box have a distance without a centre", ("/locations",))
without_center("of-one-place-without-a-center", "one place has a distance without a centre", ("/locations/{id}",))


def missing(name, change, of):
    @distances.places(name, change, "an app can't say how far a place is", of=of)
    def drop(request, place):
        if center_of(request) is not None:
            place.facts.pop("distance", None)


missing("missing-in-pages", "the places of pages have no distance, in either form", ("/locations",))
missing("missing-of-one-place", "one place has no distance though there is a centre, in either form", ("/locations/{id}",))


@facts.places("positions-of-four-decimals", "positions are rounded to four decimals everywhere",
              "a map shows places 5 m beside where they are", needs=("fine-positions",))
def round_position(_, place):
    place.position = [spelled(part.value, 4) for part in place.position]


@facts.places("positions-shifted", "all latitudes are 0.0001 degrees too far south", "a map's places are 11 m off")
def shift(_, place):
    latitude, longitude = place.position
    if latitude.value > -89:
        place.position = Number(latitude.value - Decimal("0.0001")), longitude


def with_names(name, change, hurts):
    """A row that changes each name."""
    def add(function):
        def alter(_, place):
            place.facts["name"] = function(place.facts["name"])
        facts.places(name, change, hurts)(alter)
        return function
    return add


@with_names("names-without-accents", "names have lost their accents", "a user reads San Jose for San José")
def without_accents(name):
    return "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))


with_names("names-escaped", "names are escaped as in HTML", "a user reads &amp; and &#x27;")(html.escape)
with_names("names-decomposed", "names are in NFD", "an app that compares names finds none")(
    lambda name: unicodedata.normalize("NFD", name))
with_names("names-in-capitals", "names are in capitals", "a user reads shouted names")(str.upper)
with_names("names-cut", "names end after 20 letters", "a user reads half a name")(lambda name: name[:20])


@facts.places("category-replaced", "all places of the most frequent kinds are of another category",
              "an app shows the wrong symbol")
def replace_category(_, place):
    others = {"town": "village", "village": "town", "place_of_worship": "historic_site", "historic_site": "museum"}
    place.facts["category"] = others.get(place.facts["category"], place.facts["category"])


@facts.places("featured-inverted", "featured is true for the others", "an app features what nobody chose")
def invert_featured(_, place):
    place.facts["featured"] = not place.facts["featured"]


def dropped_everywhere(member, hurts):
    @facts.places(f"{member}-dropped-everywhere", f"no response has a place's {member}", hurts)
    def drop(_, place):
        place.facts.pop(member, None)


dropped_everywhere("address", "a user doesn't learn where to go")
dropped_everywhere("website", "a user can't read more")
dropped_everywhere("source", "an app can't name where data come from, which licences ask for")
dropped_everywhere("importance", "a map labels any place before the famous one")
dropped_everywhere("properties", "a user doesn't learn when a place is open")


def without_properties(name, change, of):
    @facts.places(name, change, "a user learns only elsewhere when a place is open", of=of)
    def drop(_, place):
        place.facts.pop("properties", None)


without_properties("properties-dropped-in-pages", "pages have no properties, whatever they are asked for", ("/locations",))
without_properties("properties-dropped-in-clusters", "single places of clusters have no properties", ("/locations/clusters",))
without_properties("properties-dropped-in-details", "one place has no properties", ("/locations/{id}",))


@facts.places("properties-in-arrays", "each property is an array with its value", "an app can't decode its own type",
              of=("/locations",))
def wrap_properties(_, place):
    for name, value in place.facts.get("properties", {}).items():
        place.facts["properties"][name] = [value]


@facts.request("properties-unasked", "pages have properties that nobody asked for", "lists are longer than they have to be")
def ask_for_properties(request):
    if operation(request) == "/locations" and "properties=" not in request.target and "?" in request.target:
        request.target += "&properties=opened,population,timezone,world_heritage"


@facts.places("importance-halved-in-pages", "pages have half of a place's importance", "a map's labels change while it is moved",
              of=("/locations",))
def halve_importance(_, place):
    if "importance" in place.facts:
        place.facts["importance"] = Number(str(max(1, int(place.facts["importance"].value) // 2)))


@facts.places("license-replaced", "all places have another license", "an app breaks the terms of a dataset")
def replace_license(_, place):
    if "source" in place.facts:
        place.facts["source"]["license"] = "MIT"


@facts.request("leading-zeros-accepted", "an id may have leading zeros", "one place has two addresses in every cache")
def accept_zeros(request):
    if operation(request) == "/locations/{id}":
        head, _, number = request.path.rpartition("/")
        if number.isdigit() and number.lstrip("0"):
            request.target = request.target.replace(request.path, f"{head}/{number.lstrip('0')}", 1)


@facts.response("unknown-place-is-null", "a place that isn't there is 200 with null", "an app shows a place without a name")
def null_place(exchange, response):
    if operation(exchange.request) == "/locations/{id}" and response.status == 404:
        response.status, response.reason, response.body = 200, "OK", b"null"
        response.headers.set("Content-Type", "application/json")
