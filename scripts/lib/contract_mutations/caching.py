"""Rows about entity tags and caching."""

from .rows import HEALTH, Theme, center_of, is_data, operation

tags = Theme("tags")
caching = Theme("caching")
ROWS = [tags, caching]


@tags.response("strong", "entity tags are strong", "a cache joins parts of two codings")
def strengthen(_, response):
    if (tag := response.headers.get("ETag")) is not None:
        response.headers.set("ETag", tag.removeprefix("W/"))


@tags.exchange("one-for-all", "every response has one tag, and is not modified for whoever has it",
               "an app keeps what it got for another question")
async def one_tag(exchange):
    request = exchange.request.copy()
    if '"one"' in (request.headers.get("If-None-Match") or ""):
        request.headers.set("If-None-Match", "*")
    response = await exchange.ask(request)
    if response.headers.has("ETag"):
        response.headers.set("ETag", 'W/"one"')
    return response


def mapped_back(exchange, request):
    """A request with the server's own tags in place of those that the row has made."""
    condition = request.headers.get("If-None-Match")
    for made, own in exchange.memory.get("tags", {}).items():
        if condition and made in condition:
            condition = condition.replace(made, own)
            request.headers.set("If-None-Match", condition)
    return request


def replaced(exchange, response, made):
    """Gives the response another tag, which `mapped_back` understands."""
    if (own := response.headers.get("ETag")) is not None:
        exchange.memory.setdefault("tags", {})[made] = own.removeprefix("W/")
        response.headers.set("ETag", f"W/{made}")


@tags.exchange("another-each-time", "the same response has another tag each time", "no cache ever keeps anything")
async def another_tag(exchange):
    response = await exchange.ask(mapped_back(exchange, exchange.request.copy()))
    exchange.memory["count"] = exchange.memory.get("count", 0) + 1
    replaced(exchange, response, f'"n{exchange.memory["count"]}"')
    return response


def with_condition(name, change, hurts, header="If-None-Match"):
    """A row whose server reads a condition in another way; None leaves it out."""
    def add(function):
        def alter(request):
            if (value := request.headers.get(header)) is not None:
                other = function(value)
                request.headers.drop(header)
                if other is not None:
                    request.headers.append((header, other))
        tags.request(name, change, hurts)(alter)
        return function
    return add


with_condition("always-not-modified", "whoever has any tag gets 304", "an app shows old places for ever")(lambda _: "*")
with_condition("first-of-list-only", "of a list of tags only the first counts", "a cache of several forms loads all again")(
    lambda value: value.split(",")[0].strip())
with_condition("any-ignored", "`If-None-Match: *` is ignored", "a cache loads what it has")(
    lambda value: None if value == "*" else value)
with_condition("compared-strongly", "a tag without W/ isn't that of the response", "a cache behind a gateway loads all again")(
    lambda value: value if value == "*" or "W/" in value else '"never"')
with_condition("if-match-ignored", "`If-Match` is ignored", "a program that asks for one state gets another", "If-Match")(
    lambda _: None)


@tags.exchange("same-in-both-forms", "JSON and GeoJSON of one query have the same tag", "a cache sends the form of somebody else")
async def same_in_both(exchange):
    request = exchange.request.copy()
    condition = request.headers.get("If-None-Match")
    known = exchange.memory.setdefault("forms", {})
    if condition and condition in known:
        request.headers.set("If-None-Match", f"{condition}, {known[condition]}")
    response = await exchange.ask(request)
    if response.media_type == "application/geo+json" and response.headers.has("ETag"):
        plain = exchange.request.copy()
        plain.headers.set("Accept", "application/json")
        plain.headers.drop("If-None-Match")
        tag = (await exchange.ask(plain)).headers.get("ETag")
        known[tag] = response.headers.get("ETag")
        response.headers.set("ETag", tag)
    return response


@tags.response("missing-from-pages-of-problems", "problems' pages have no tag", "a cache loads them again each time")
def untagged_documents(exchange, response):
    if operation(exchange.request) in ("/problems", "/problems/{code}", "/openapi.json"):
        response.headers.drop("ETag")


def with_caching(name, change, hurts, value, applies, needs=()):
    """A row that has another Cache-Control where something applies."""
    @caching.response(name, change, hurts, needs)
    def alter(exchange, response):
        if response.headers.has("Cache-Control") and applies(exchange, response):
            response.headers.set("Cache-Control", value(response.headers.get("Cache-Control")))


def is_good(_, response):
    return response.status in (200, 304)


with_caching("public-for-a-position", "responses to a position are public", "a shared cache keeps where people were",
             lambda value: value.replace("private", "public"),
             lambda exchange, response: is_good(exchange, response) and center_of(exchange.request) is not None)
with_caching("public-with-keys", "data that need a key are public", "a shared cache gives them to anybody",
             lambda value: value.replace("private", "public"),
             lambda exchange, response: is_good(exchange, response) and is_data(exchange), needs=("keys",))
with_caching("a-day", "data may be kept for a day", "an app shows yesterday's places",
             lambda value: value.replace("max-age=60", "max-age=86400"),
             lambda exchange, response: is_good(exchange, response) and is_data(exchange), needs=("declared",))
with_caching("data-not-stored", "data are no-store", "an app without a network shows nothing",
             lambda _: "no-store", lambda exchange, response: is_good(exchange, response) and is_data(exchange))
with_caching("problems-stored", "problems may be kept", "a cache repeats a problem that is over",
             lambda _: "public, max-age=60", lambda _, response: response.status >= 400)
with_caching("health-stored", "health may be kept", "a balancer believes in a dead server",
             lambda _: "public, max-age=60", lambda exchange, _: operation(exchange.request) in HEALTH)


def without_vary(name, hurts, needs=()):
    @caching.response(f"vary-without-{name.lower()}", f"Vary doesn't name {name}", hurts, needs)
    def alter(_, response):
        names = [part.strip() for part in (response.headers.get("Vary") or "").split(",")]
        kept = [part for part in names if part and part.lower() != name.lower()]
        if kept != names and response.headers.has("Vary"):
            response.headers.set("Vary", ", ".join(kept))


without_vary("Accept", "a cache sends GeoJSON to who wants JSON")
without_vary("Accept-Encoding", "a cache sends gzip to who can't read it")
without_vary("Origin", "a cache sends a web app what only another origin may read", needs=("origins",))
