"""Rows about pages and filters."""

import re
import unicodedata

from .rows import Place, Theme, box_of, list_of, operation

pages = Theme("pages")
filters = Theme("filters")
ROWS = [pages, filters]

FILTERS = ("category", "dataset", "q", "featured", "radius", "bbox")
LINK = re.compile(r"<([^>]*)>; rel=\"next\"")


def link_of(response):
    found = LINK.fullmatch(response.headers.get("Link") or "")
    return found[1] if found else None


def with_links(name, change, hurts):
    """A row that changes the target of each link."""
    def add(function):
        def alter(exchange, response):
            if (target := link_of(response)) is not None:
                response.headers.set("Link", function(exchange.request, target))
        pages.response(name, change, hurts)(alter)
        return function
    return add


@with_links("link-without-filters", "the link to the next page has lost its filters", "page 2 isn't of what was asked for")
def lose_filters(_, target):
    kept = [part for part in target[1:].split("&") if part.partition("=")[0] not in FILTERS]
    return f"<?{'&'.join(kept)}>; rel=\"next\""


@with_links("absolute-link", "links name the server's own host and path", "pages end behind a proxy with a prefix")
def absolute_link(request, target):
    return f"<http://{request.headers.get('Host')}{request.path}{target}>; rel=\"next\""


@with_links("link-to-previous", "links say rel=prev", "a list ends after its first page")
def link_to_previous(_, target):
    return f"<{target}>; rel=\"prev\""


@pages.exchange("link-on-the-last-page", "the last page has a link, too", "a list loads without end")
async def link_on_last(exchange):
    response = await exchange.ask()
    if operation(exchange.request) == "/locations" and response.status == 200:
        if (target := link_of(response)) is not None:
            exchange.memory["link"] = target
        elif "link" in exchange.memory:
            response.headers.append(("Link", f'<{exchange.memory["link"]}>; rel="next"'))
    return response


def last_places(exchange, response):
    """Remembers each page's last place by the cursor of its link; returns that of the page before this one."""
    ends = exchange.memory.setdefault("ends", {})
    if response.status == 200 and operation(exchange.request) == "/locations":
        document, target = response.document, link_of(response)
        if document is not None and list_of(document) and target is not None:
            cursor = dict(part.partition("=")[::2] for part in target[1:].split("&"))["cursor"]
            ends[cursor] = list_of(document)[-1]
        return ends.get(exchange.request.parameter("cursor"))
    return None


@pages.exchange("place-repeated", "a page begins with the last place of the page before", "a list has a place twice")
async def repeat(exchange):
    response = await exchange.ask()
    document, end = response.document, last_places(exchange, response)
    if end is not None and ("geometry" in end) == isinstance(document, dict):
        items = list_of(document)
        items.insert(0, end)
        items[int(exchange.request.parameter("limit") or 20):] = []
        response.document = document
    return response


def with_limit(name, change, hurts, step, first_left_out=False):
    """A row that asks for another number of places than the client."""
    @pages.exchange(name, change, hurts)
    async def handler(exchange):
        request = exchange.request.copy()
        limit = request.parameter("limit") or "20"
        is_later = request.parameter("cursor") is not None or not first_left_out
        if operation(request) != "/locations" or not is_later or not limit.isdigit() or not 1 <= int(limit) + step <= 100:
            return await exchange.ask()
        request.drop("limit")
        request.pairs = [*request.pairs, ("limit", str(int(limit) + step))]
        response = await exchange.ask(request)
        if first_left_out and response.status == 200 and response.document is not None:
            document = response.document
            del list_of(document)[0:1]
            response.document = document
        return response


with_limit("place-skipped", "each page after the first leaves out its first place", "a place is in no list", 1, True)
with_limit("one-too-long", "pages have one place more than asked for", "a list overflows", 1)
with_limit("one-too-short", "pages have one place less than asked for", "an app takes a page for the last one", -1)


@pages.exchange("filter-lost-on-page-two", "pages after the first ignore category, dataset, q, featured and properties",
                "a filtered list ends in other places")
async def lose_filter(exchange):
    response = await exchange.ask()
    end = last_places(exchange, response)
    request = exchange.request.copy()
    for name in ("cursor", "category", "dataset", "q", "featured", "limit"):
        request.drop(name)
    request.pairs = [pair for pair in request.pairs if not pair[0].startswith("property.")]
    if end is None or request.parameter("lat") is None or len(request.pairs) >= len(exchange.request.pairs) - 1:
        return response
    request.pairs = [*request.pairs, ("limit", "100")]
    items = list_of((await exchange.ask(request)).document)
    ids = [item["id"].value for item in items]
    if end["id"].value in ids:
        limit, document = int(exchange.request.parameter("limit") or 20), response.document
        list_of(document)[:] = items[ids.index(end["id"].value) + 1:][:limit]
        response.document = document
    return response


@pages.request("any-cursor-accepted", "a cursor that isn't one is read as none", "a list begins again in silence")
def accept_cursor(request):
    cursor = request.parameter("cursor")
    if cursor is not None and not re.fullmatch(r"[A-Za-z0-9_-]{40,}", cursor):
        request.drop("cursor")


@pages.exchange("cursor-of-any-query", "a cursor holds for every query, which begins again", "a list begins again in silence")
async def accept_mismatch(exchange):
    response = await exchange.ask()
    if response.status == 400 and b"cursor-mismatch" in response.body:
        request = exchange.request.copy()
        request.drop("cursor")
        return await exchange.ask(request)
    return response


def with_parameter(name, change, hurts, parameter):
    """A row that gives a parameter another value; None leaves it out."""
    def add(function):
        def alter(request):
            value = request.parameter(parameter)
            if value is None:
                return
            other = function(value)
            request.pairs = [pair if pair[0] != parameter else (parameter, other)
                             for pair in request.pairs if pair[0] != parameter or other is not None]
        filters.request(name, change, hurts)(alter)
        return function
    return add


with_parameter("first-category-only", "of several categories only the first counts", "places of the others are missing",
               "category")(lambda value: re.split(",|%2[Cc]", value)[0])
with_parameter("last-category-only", "of several categories only the last counts", "places of the others are missing",
               "category")(lambda value: re.split(",|%2[Cc]", value)[-1])
with_parameter("first-dataset-only", "of several datasets only the first counts", "places of the others are missing",
               "dataset")(lambda value: value.split(",")[0])
with_parameter("last-dataset-only", "of several datasets only the last counts", "places of the others are missing",
               "dataset")(lambda value: value.split(",")[-1])
with_parameter("first-word-only", "of several words only the first has to be there", "a search finds too much", "q")(
    lambda value: value.split()[0].replace(" ", "+") if len(value.split()) > 1 else value)
with_parameter("last-word-only", "of several words only the last has to be there", "a search finds too much", "q")(
    lambda value: value.split()[-1] if len(value.split()) > 1 else value)
with_parameter("featured-false-ignored", "featured=false is as good as no filter", "a list has what was to be left out",
               "featured")(lambda value: None if value == "false" else value)


@with_parameter("radius-in-kilometres", "the radius is read as kilometres", "far places are near ones", "radius")
def in_kilometres(value):
    try:
        return f"{min(20037508.0, float(value) * 1000):.3f}" if float(value) > 0 else value
    except ValueError:
        return value


@with_parameter("radius-a-twentieth-too-long", "places up to 5 % beyond the radius come", "a list has what is too far",
                "radius")
def lengthen(value):
    try:
        return f"{min(20037508.0, float(value) * 1.05):.3f}" if float(value) > 0 else value
    except ValueError:
        return value


@filters.request("box-without-its-west", "a box across the antimeridian has lost its western half",
                 "a map of Fiji shows half of it")
def halve_box(request):
    box = box_of(request)
    if box is not None and box[0] > box[2]:
        west, rest = -180, ",".join(f"{part:.10g}" for part in box[1:])
        request.pairs = [("bbox", f"{west},{rest}") if name == "bbox" else (name, value) for name, value in request.pairs]


@filters.page("box-without-its-edges", "places on a box's edges are left out", "tiles of a map lose places between them")
def exclude_edges(request, items):
    box = box_of(request)
    if box is None:
        return None
    positions = [(item, [float(part.value) for part in Place(item).position]) for item in items]
    return [item for item, (latitude, longitude) in positions
            if latitude not in (box[1], box[3]) and longitude not in (box[0], box[2])]


def folded(text, keeps_accents):
    letters = unicodedata.normalize("NFC" if keeps_accents else "NFD", text)
    return "".join(letter for letter in letters if keeps_accents or not unicodedata.combining(letter))


def matching(name, change, hurts, fold):
    """A row whose search compares words more strictly than the service does."""
    @filters.page(name, change, hurts)
    def select(request, items):
        words = [fold(word) for word in re.findall(r"\w+", request.parameter("q") or "")]
        def is_found(item):
            parts = [fold(part) for part in re.findall(r"\w+", Place(item).facts["name"])]
            return all(any(part.startswith(word) for part in parts) for word in words)
        return [item for item in items if is_found(item)]


matching("accents-matter", "a search for San Jose doesn't find San José", "a user without that keyboard finds nothing",
         lambda text: folded(text, True).casefold())
matching("case-matters", "a search for san doesn't find San", "a user who types small letters finds nothing",
         lambda text: folded(text, False))


@filters.request("box-as-latitude-first", "a box is read as south,west,north,east", "a map shows another country")
def exchange_axes(request):
    box = box_of(request)
    if box is not None and operation(request) == "/locations" and box[0] >= -90 and box[2] <= 90:
        west, south, east, north = (request.parameter("bbox") or "").split(",")
        value = ",".join((south, west, north, east))
        request.pairs = [("bbox", value) if name == "bbox" else (name, text) for name, text in request.pairs]


@filters.exchange("unknown-category-empty", "a category that nobody knows gives no places instead of a problem",
                  "a typing error looks like an empty town")
async def accept_category(exchange):
    response = await exchange.ask()
    if response.status == 400 and b'"unknown-category"' in response.body and operation(exchange.request) == "/locations":
        response.status, response.reason, response.body = 200, "OK", b"[]"
        response.headers.set("Content-Type", "application/json")
        response.headers.set("Cache-Control", "private, max-age=60")
        response.headers.append(("ETag", 'W/"none"'))
    return response
