"""Rows about search by relevance: which places it finds, in which order, and by which names."""

import re

from .rows import Place, Theme

relevance = Theme("relevance")
ROWS = [relevance]


def is_by_relevance(request):
    return request.parameter("sort") == "relevance"


def page(name, change, hurts):
    """A row that changes the pages of searches by relevance."""
    def add(function):
        def alter(request, items):
            return function(items) if is_by_relevance(request) else None
        relevance.page(name, change, hurts)(alter)
        return function
    return add


@relevance.request("ignored", "the order by relevance is passed over where there is a box or a centre",
                   "who types the name of a city gets a hamlet nearby")
def ignore(request):
    if request.parameter("bbox") or request.parameter("lat"):
        request.drop("sort")


@relevance.request("last-word-only", "only the last word of a text is looked for", "a search for a full name finds much else")
def last_word(request):
    if is_by_relevance(request):
        request.target = re.sub(r"([?&]q=)[^&]*(?:%20|\+)", r"\1", request.target)


page("first-left-out", "the best place is left out", "the place that was asked for isn't found")(lambda items: items[1:])
page("reversed", "the best places come last", "a list begins with what somebody mistyped")(lambda items: items[::-1])
page("by-id", "places are in the order of their ids", "unknown places come before important ones")(
    lambda items: sorted(items, key=lambda item: item["id"].value))
page("importance-ignored", "the most important place comes last", "a hamlet comes before the city of the same name")(
    lambda items: sorted(items, key=lambda item: importance(item) == max(map(importance, items), default=0)))
page("errors-left-out", "places with an error are left out", "a mistyped name finds nothing")(
    lambda items: items if len(items) > 40 else items[:len(items) // 2])


def importance(item):
    value = Place(item).facts.get("importance", 0)
    return getattr(value, "value", value)


@relevance.places("matched-name-left-out", "a place doesn't say by which name it was found",
                  "a user doesn't see why a place was found", of=("/locations",))
def leave_out(_, place):
    place.facts.pop("matchedName", None)


@relevance.places("matched-name-always", "a place says that it was found by the name that is shown",
                  "a list shows each name twice", of=("/locations",))
def repeat(request, place):
    if is_by_relevance(request):
        place.facts.setdefault("matchedName", place.facts["name"])


@relevance.places("distance-from-nowhere", "places have a distance though there is no centre",
                  "a list shows distances from the Gulf of Guinea", of=("/locations",))
def measure(request, place):
    if is_by_relevance(request) and not request.parameter("lat"):
        place.distance = 1
