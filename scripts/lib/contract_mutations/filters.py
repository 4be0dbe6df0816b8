"""Rows about filters by properties: which of a request's filters the server looks at, and how it compares values."""

import re
from urllib.parse import unquote_plus

from .rows import Theme, operation

property_filters = Theme("property-filters")
ROWS = [property_filters]
PREFIX = "property."


def is_filter(name):
    return unquote_plus(name).startswith(PREFIX)


def with_filters(name, change, hurts, of=("/locations", "/locations/clusters"), needs=()):
    """A row that changes a request's filters, each a name and a list of values; those without values are left out."""
    def add(function):
        def alter(request):
            if operation(request) not in of:
                return
            filters = [(name, re.split(",|%2[Cc]", value)) for name, value in request.pairs if is_filter(name)]
            if not filters or any("" in values for _, values in filters):
                return
            request.pairs = [pair for pair in request.pairs if not is_filter(pair[0])] + [
                (name, ",".join(values)) for name, values in function(filters) if values]
        property_filters.request(name, change, hurts, needs)(alter)
        return function
    return add


with_filters("ignored", "places aren't filtered by properties", "a user is shown places without a lift")(lambda filters: [])
with_filters("ignored-in-clusters", "clusters aren't filtered by properties", "a map shows more places than its list",
             of=("/locations/clusters",))(lambda filters: [])
with_filters("first-only", "of several filters only the first counts", "a list has places that match only one filter",
             needs=("several-filters",))(
    lambda filters: filters[:1])
with_filters("last-only", "of several filters only the last counts", "a list has places that match only one filter",
             needs=("several-filters",))(
    lambda filters: filters[-1:])
with_filters("first-value-only", "of several values only the first counts", "places with the others are missing")(
    lambda filters: [(name, values[:1]) for name, values in filters])
with_filters("last-value-only", "of several values only the last counts", "places with the others are missing")(
    lambda filters: [(name, values[-1:]) for name, values in filters])
with_filters("negated", "true finds what is false, and false what is true", "a filter finds the opposite",
             needs=("boolean-filters",))(
    lambda filters: [(name, [{"true": "false", "false": "true"}.get(value, value) for value in values])
                     for name, values in filters])
with_filters("case-folded", "values are compared in small letters", "a filter finds other values than the one it names")(
    lambda filters: [(name, [value.lower() for value in values]) for name, values in filters])
with_filters("decomposed-as-written", "texts are compared without composing them", "an app that decomposes texts finds nothing",
             needs=("accented-values",))(
    lambda filters: [(name, ["no-such-value" if "%CC%" in value.upper() else value for value in values])
                     for name, values in filters])


@property_filters.page("first-place-lost", "a filter leaves out the first place that matches", "a list lacks the nearest place")
def drop_first(request, items):
    return items[1:] if any(is_filter(name) for name, _ in request.pairs) else None


@property_filters.exchange("unknown-ignored", "a filter by a property that can't be filtered by is ignored",
                           "a misspelt filter is no filter")
async def ignore_unknown(exchange):
    response = await exchange.ask()
    if response.status == 400 and b"unknown-property" in response.body:
        request = exchange.request.copy()
        request.pairs = [pair for pair in request.pairs if not is_filter(pair[0])]
        return await exchange.ask(request)
    return response


@property_filters.exchange("any-boolean-spelling", "a filter takes yes for true", "two programs read one query differently",
                           needs=("boolean-filters",))
async def accept_yes(exchange):
    request = exchange.request.copy()
    request.pairs = [(name, "true" if is_filter(name) and value == "yes" else value) for name, value in request.pairs]
    return await exchange.ask(request)


@property_filters.request("values-cut", "values of more than 200 characters are cut", "a filter finds what nobody asked for")
def cut_values(request):
    request.pairs = [(name, value[:200] if is_filter(name) and "," not in value and "%" not in value else value)
                     for name, value in request.pairs]


@property_filters.request("many-values-cut", "values after the twentieth are ignored", "places with the others are missing")
def cut_lists(request):
    request.pairs = [(name, ",".join(value.split(",")[:20]) if is_filter(name) else value) for name, value in request.pairs]


@property_filters.document("undescribed", "the description doesn't say what can be filtered by",
                           "a team doesn't learn which filters there are", of=("/openapi.json",), needs=("seeded",))
def drop_parameters(_, document):
    for path in ("/locations", "/locations/clusters"):
        parameters = document["paths"][path]["get"]["parameters"]
        parameters[:] = [each for each in parameters if not each["name"].startswith(PREFIX)]
