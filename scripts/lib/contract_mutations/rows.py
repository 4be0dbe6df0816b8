"""The rows by hand, for what no description says."""

import json
import math
import re
import unicodedata

from geographiclib.geodesic import Geodesic

from .changes import (Row, asking, center, change_document, documents, facts, numbers, on_page, operation, pages,
                      places, position, responding, with_header, with_parameter)

PROBLEM, PAGE = "application/problem+json", {"path": "/locations", "status": 200}


def with_distances(measure):
    """For a function of a centre, a position and the distance between them."""
    def alter(request, place):
        start, told = center(request), facts(place).get("distance")
        if start is not None and told is not None:
            facts(place)["distance"] = round(measure(start, position(place), told), 1)
    return places(alter)


def geodesic(start, end, ellipsoid=Geodesic.WGS84):
    return ellipsoid.Inverse(*start, *end)["s12"]


def greater_id_first(request, found):
    if center(request) is None:
        return found
    return sorted(found, key=lambda place: (facts(place)["distance"], -place["id"]))


def longer(value):
    radius = numbers(value, 1)
    return f"{min(20037508, radius[0] * 1.05):.3f}" if radius and radius[0] > 0 else value


def without_edges(request, found):
    box = numbers(request.parameter("bbox") or "", 4)
    return [place for place in found if box is None
            or position(place)[0] not in (box[1], box[3]) and position(place)[1] not in (box[0], box[2])]


def without_west(value):
    box = numbers(value, 4)
    return ",".join(f"{part:.10g}" for part in (-180, *box[1:])) if box and box[0] > box[2] else value


def parts(value):
    return re.split(",|%2[Cc]", value)


def matching(fold):
    """Pages without the places whose words have to be folded further than this."""
    def alter(request, found):
        def starts(place, word):
            return any(part.startswith(word) for part in map(fold, re.findall(r"\w+", facts(place)["name"])))
        words = [fold(word) for word in re.findall(r"\w+", request.parameter("q") or "")]
        return [place for place in found if all(starts(place, word) for word in words)]
    return pages(alter)


def without_accents(text):
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def longer_page(exchange):
    request = exchange.request.copy()
    limit = request.parameter("limit") or "20"
    if operation(request) == "/locations" and limit.isdigit() and 1 <= int(limit) < 100:
        request.drop("limit")
        request.pairs = [*request.pairs, ("limit", str(int(limit) + 1))]
    return exchange.ask(request)


def skip_place(exchange):
    if exchange.request.parameter("cursor") is None:
        return exchange.ask()
    response = longer_page(exchange)
    if response.status == 200:
        change_document(on_page(lambda _, found: found[1:]), exchange.request, response)
    return response


def repeat_place(exchange, response):
    """The last place of the page before is known by the cursor of that page's link."""
    ends = exchange.memory.setdefault("ends", {})
    link = re.search(r"cursor=([^&>]*)", response.headers.get("Link"))

    def alter(request, found):
        end = ends.get(request.parameter("cursor"))
        if link and found:
            ends[link[1]] = found[-1]
        is_known = end and found and ("geometry" in end) == ("geometry" in found[0])
        return [end, *found][:int(request.parameter("limit") or 20)] if is_known else found
    change_document(on_page(alter), exchange.request, response)


def link_on_last_page(exchange, response):
    if link := response.headers.get("Link") or exchange.memory.get("link"):
        exchange.memory["link"] = link
        response.headers.set("Link", link)


def without_filters(_, link):
    kept = [part for part in re.split("[?&>]", link)[1:-1] if not re.match("category|dataset|q=|radius|bbox", part)]
    return f"<?{'&'.join(kept)}>; rel=\"next\""


def accepting(code):
    """Asks once more, without the parameters at fault, what is refused with this code."""
    def handler(exchange):
        response, request = exchange.ask(), exchange.request.copy()
        if response.status != 400 or code not in response.body:
            return response
        for fault in response.document.get("errors", []):
            request.drop(fault["parameter"])
        return exchange.ask(request)
    return handler


def without_name(header, name):
    """A list in a header without one of its names."""
    return with_header(header, lambda _, names: ", ".join(each for each in re.split(", *", names) if each != name))


def pretend_gzip(exchange, response):
    if "gzip" in exchange.request.headers.get("Accept-Encoding") and response.body:
        response.headers.set("Content-Encoding", "gzip")
        response.sent_body = response.body


def cut(_, response):
    """Half of a body, with the tag of the whole."""
    response.body = response.body[:len(response.body) // 2]


def match_any(request):
    if request.headers.get("If-None-Match"):
        request.headers.set("If-None-Match", "*")


def echo_origin(exchange, response):
    if origin := exchange.request.headers.get("Origin"):
        response.headers.set("Access-Control-Allow-Origin", origin)


def opened(holds):
    """Gives requests the right key, where something holds for the one that they have and for the other one."""
    def handler(exchange):
        request = exchange.request.copy()
        right, other = ("events", "data") if request.path == "/events" else ("data", "events")
        if request.method != "OPTIONS" and holds(request.headers.get("Authorization"), exchange.keys[other]):
            request.headers.set("Authorization", f"Bearer {exchange.keys[right]}")
        return exchange.ask(request)
    return handler


def count_as_new(_, document):
    return {"accepted": document["accepted"] + document["duplicates"], "duplicates": 0}


def drop_bad_events(request):
    if operation(request) == "/events" and b"contract-test" in request.body:
        batch = json.loads(request.body)
        request.body = json.dumps([event for event in batch if isinstance(event, dict) and "event" in event]).encode()


def clusters(change):
    return documents(lambda _, document: document | {"clusters": change(document["clusters"])},
                     path="/locations/clusters", status=200)


def count_less(found):
    return [cluster | {"count": cluster["count"] - (cluster["count"] > 2)} for cluster in found]


def with_operating_status(change):
    """For a function of a place's status, if it has any, which returns another one."""
    def alter(request, place):
        if (status := change(request, facts(place).get("operatingStatus"))) is not None:
            facts(place)["operatingStatus"] = status
    return places(alter)


def rewritten(change):
    """Another spelling of documents; `change` takes an object and returns it in another way."""
    def mapped(value):
        if isinstance(value, dict):
            return change({name: mapped(member) for name, member in value.items()})
        return [mapped(item) for item in value] if isinstance(value, list) else value

    def alter(exchange, response):
        if response.document is not None and operation(exchange.request) != "/openapi.json":
            response.document = mapped(response.document)
    return responding(alter)


def with_new_member(value):
    # A place's changes have its members' names, and are no object that may have more of them.
    known = [value[name] for name in ("name", "status", "code", "count") if name in value]
    return value if not known or isinstance(known[0], dict) else value | {"newMember": ["a", 1, None]}


def with_zeros(_, response):
    response.body = re.sub(rb'("(?:latitude|longitude|distance)":-?\d+)(\.\d+)?(?=[,}])',
                           lambda found: found[1] + (found[2] or b".") + b"0", response.body)


def with_more_headers(_, response):
    more = [("Server", "nginx"), ("Via", "1.1 gateway"), ("Set-Cookie", "gateway=1; Path=/"), ("X-New", "1")]
    response.headers[:] = [(name.lower(), value) for name, value in response.headers] + more


ROWS = [
    Row("order/reversed", "a page's places come in reverse", pages(lambda _, found: found[::-1])),
    Row("order/swapped", "a page's last two are swapped", pages(lambda _, found: found[:-2] + found[-2:][::-1])),
    Row("order/ties", "of places at one distance the greater id comes first", pages(greater_id_first)),
    Row("distances/too-long", "distances are 0.1 % too long", with_distances(lambda _, __, told: told * 1.001)),
    Row("distances/rounded-down", "distances are rounded down",
        with_distances(lambda start, end, _: math.floor(geodesic(start, end) * 10) / 10)),
    Row("distances/on-the-sphere", "distances are those on a sphere",
        with_distances(lambda start, end, _: geodesic(start, end, Geodesic(6371008.8, 0)))),
    Row("filters/radius", "places up to 5 % beyond the radius come", with_parameter("radius", longer)),
    Row("filters/box-edges", "places on a box's edges are left out", pages(without_edges)),
    Row("filters/box-west", "a box across the antimeridian lacks its west", with_parameter("bbox", without_west)),
    Row("filters/category", "the first category counts", with_parameter("category", lambda value: parts(value)[0])),
    Row("filters/dataset", "the last dataset counts", with_parameter("dataset", lambda value: parts(value)[-1])),
    Row("filters/word", "the last word counts", with_parameter("q", lambda value: re.split(r"%20|\+", value)[-1])),
    Row("filters/accents", "San Jose doesn't find San José", matching(str.casefold)),
    Row("filters/case", "san doesn't find San", matching(without_accents)),
    Row("filters/value", "a property's last value counts",
        with_parameter("property.", lambda value: parts(value)[-1])),
    Row("pages/too-long", "pages have one place more than asked for", longer_page),
    Row("pages/skipped", "pages after the first lack their first place", skip_place),
    Row("pages/repeated", "a page begins with the last place before it", responding(repeat_place, **PAGE)),
    Row("pages/filters-lost", "the link to the next page lacks filters", with_header("Link", without_filters)),
    Row("pages/no-end", "the last page has a link", responding(link_on_last_page, **PAGE)),
    Row("pages/any-cursor", "a cursor of another query is read as none", accepting(b'"cursor-mismatch"')),
    Row("details/ids", "the first id counts", with_parameter("ids", lambda value: parts(value)[0])),
    Row("details/language", "the last language is preferred",
        with_parameter("lang", lambda value: ",".join(parts(value)[::-1]))),
    Row("places/closed-for-a-time", "places that are closed permanently are closed for a time",
        with_operating_status(lambda _, status: status and "temporarilyClosed")),
    Row("places/closed-in-lists", "lists have places that are closed permanently",
        with_operating_status(lambda request, _: "permanentlyClosed" if request.parameter("bbox") else None)),
    Row("caching/one-tag", "every response has the same tag", with_header("ETag", lambda _, __: 'W/"one"')),
    Row("caching/no-news", "whoever has any tag gets 304", asking(match_any)),
    Row("caching/public-positions", "responses to a position are public", with_header(
        "Cache-Control", lambda request, value: value.replace("private", "public") if center(request) else value)),
    Row("caching/public-with-keys", "other data that need a key are public", with_header(
        "Cache-Control", lambda request, value: value if center(request) else value.replace("private", "public"))),
    Row("caching/problems", "problems may be stored",
        with_header("Cache-Control", lambda _, __: "public, max-age=60", media_type=PROBLEM)),
    Row("caching/codings", "Vary doesn't name Accept-Encoding", without_name("Vary", "Accept-Encoding")),
    Row("caching/origins", "Vary doesn't name Origin", without_name("Vary", "Origin")),
    Row("gzip/in-name-only", "a body that isn't compressed is said to be", responding(pretend_gzip)),
    Row("gzip/never", "no body is compressed", asking(lambda request: request.headers.drop("Accept-Encoding"))),
    Row("bodies/cut", "bodies of JSON are cut in half", responding(cut, media_type="application/json", status=200)),
    Row("head/tag", "HEAD has another tag than GET", with_header("ETag", lambda _, __: 'W/"head"', method="HEAD")),
    Row("origins/any", "scripts of any origin may read", responding(echo_origin)),
    Row("origins/link", "scripts may not read Link", without_name("Access-Control-Expose-Headers", "Link")),
    Row("origins/key", "scripts may not send a key", without_name("Access-Control-Allow-Headers", "Authorization")),
    Row("keys/none", "no key is needed", opened(lambda sent, _: not sent)),
    Row("keys/other", "the key for events opens data, and the reverse", opened(lambda sent, other: sent[7:] == other)),
    Row("problems/code", "a place that isn't there is an unknown path", documents(
        lambda _, document: document | {"code": "unknown-path", "type": "/problems/unknown-path"}, status=404)),
    Row("problems/faults", "only the first fault is told",
        documents(lambda _, document: document | {"errors": document.get("errors", [])[:1]}, status=400)),
    Row("problems/unknown", "unknown parameters are ignored", accepting(b'"unknown-parameter"')),
    Row("problems/range", "numbers out of range are ignored", accepting(b'"out-of-range"')),
    Row("events/twice", "events that were there count as new", documents(count_as_new, path="/events", status=200)),
    Row("events/bad", "bad events are left out in silence", asking(drop_bad_events)),
    Row("clusters/counts", "clusters count one place too few", clusters(count_less)),
    Row("clusters/last", "the last cluster is missing", clusters(lambda found: found[:-1])),
    Row("allowed/member", "there are new members", rewritten(with_new_member), True),
    Row("allowed/order", "members have another order", rewritten(lambda value: dict(reversed(value.items()))), True),
    Row("allowed/zeros", "numbers have more zeros", responding(with_zeros, media_type="application/json"), True),
    Row("allowed/charset", "a charset is told",
        with_header("Content-Type", lambda _, value: f"{value.partition(';')[0]}; charset=utf-8"), True),
    Row("allowed/link", "the relation of a link has no quotes",
        with_header("Link", lambda _, link: link.replace('"', "")), True),
    Row("allowed/headers", "headers are in small letters, and there are more", responding(with_more_headers), True),
]
