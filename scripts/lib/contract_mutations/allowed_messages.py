"""Changes of heads and of what is around a document that the contract allows."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

from .caching import mapped_back
from .messages import head
from .rows import Theme, is_data

ROWS = [Theme("allowed", allowed=True, hurts="nobody")]
allowed = ROWS[0]


@allowed.response("charset", "JSON says charset=utf-8")
def charset(_, response):
    if response.media_type.endswith("json"):
        response.headers.set("Content-Type", f"{response.headers.get('Content-Type')}; charset=utf-8")


def new_headers(name, change, *headers):
    @allowed.response(name, change)
    def add(_, response):
        response.headers.extend(headers)


new_headers("server-and-via", "responses name servers and proxies", ("Server", "nginx/1.22.1"), ("Via", "1.1 gateway"))
new_headers("cookie", "a gateway sets a cookie", ("Set-Cookie", "gateway=1; Path=/; HttpOnly"))
new_headers("timing", "there are further timings", ("Server-Timing", "gateway;dur=0.3, cache;desc=miss"))
new_headers("keep-alive", "Keep-Alive is told", ("Keep-Alive", "timeout=75"))
new_headers("new-header", "there is a header that nobody knows", ("X-New", "1"), ("Strict-Transport-Security", "max-age=1"))


@allowed.response("chunked", "bodies are chunked, without a length")
def chunk(exchange, response):
    if response.framing == "length" and response.body and exchange.request.method != "HEAD":
        response.framing = "chunked"
        response.headers.drop("Content-Length")
        response.headers.append(("Transfer-Encoding", "chunked"))


@allowed.response("close", "the connection is closed after each response")
def close(_, response):
    response.headers.set("Connection", "close")


@allowed.response("small-letters", "names of headers are in small letters")
def small_letters(_, response):
    response.headers[:] = [(name.lower(), value) for name, value in response.headers]


def with_vary(name, change, function):
    @allowed.response(name, change)
    def alter(_, response):
        names = [part.strip() for part in (response.headers.get("Vary") or "").split(",") if part.strip()]
        if names:
            response.headers.drop("Vary")
            response.headers.extend(("Vary", value) for value in function(names))


with_vary("vary-more", "Vary names more", lambda names: [", ".join([*names, "Authorization", "X-Forwarded-Host"])])
with_vary("vary-order", "Vary has another order, in small letters", lambda names: [", ".join(reversed(names)).lower()])
with_vary("vary-lines", "Vary is several headers", lambda names: names)


def with_caching(name, change, function, needs=()):
    @allowed.response(name, change, needs=needs)
    def alter(exchange, response):
        if is_data(exchange) and response.status in (200, 304) and response.headers.has("Cache-Control"):
            response.headers.set("Cache-Control", function(response.headers.get("Cache-Control")))


with_caching("another-age", "data may be kept for 30 s", lambda value: value.replace("max-age=60", "max-age=30"),
             needs=("undeclared",))
with_caching("caching-extended", "Cache-Control has an extension", lambda value: f"{value}, stale-while-revalidate=30")
with_caching("caching-order", "Cache-Control has another order", lambda value: ",".join(reversed(value.split(", "))))


@allowed.response("gzip-level", "gzip compresses less")
def compress_less(_, response):
    if response.headers.get("Content-Encoding") == "gzip":
        response.gzip_level = 1


@allowed.response("other-reason", "the reason phrase is another")
def other_reason(_, response):
    response.reason = "Well"


@allowed.exchange("other-tags", "tags have other values")
async def other_tags(exchange):
    response = await exchange.ask(mapped_back(exchange, exchange.request.copy()))
    own = response.headers.get("ETag")
    if own is not None:
        made = f'"v2!{own.removeprefix("W/")[1:]}'
        exchange.memory.setdefault("tags", {})[made] = own.removeprefix("W/")
        response.headers.set("ETag", f"W/{made}")
    return response


def interim(name, line, *headers):
    @allowed.response(name, f"an interim {line[:3]} comes before the response")
    def add(_, response):
        response.interim.append(head(f"HTTP/1.1 {line}", headers))


interim("processing", "102 Processing")
interim("early-hints", "103 Early Hints", ("Link", "</style.css>; rel=preload; as=style"))


@allowed.response("another-date", "Date is two seconds earlier")
def another_date(_, response):
    if response.headers.has("Date"):
        earlier = parsedate_to_datetime(response.headers.get("Date")).astimezone(UTC) - timedelta(seconds=2)
        response.headers.set("Date", format_datetime(datetime.fromtimestamp(earlier.timestamp(), UTC), usegmt=True))


@allowed.response("allow-order", "Allow has another order")
def allow_order(_, response):
    if response.headers.has("Allow"):
        response.headers.set("Allow", ",".join(reversed(response.headers.get("Allow").split(", "))))


@allowed.request("weights-spelled-otherwise", "a gateway spells weights otherwise")
def spell_weights(request):
    if (accepted := request.headers.get("Accept")) is not None:
        request.headers.set("Accept", re.sub(r";\s*q=(0\.\d)\b", r" ; q=\g<1>0", accepted))


@allowed.response("realm", "a key is asked for with a realm", needs=("keys",))
def realm(_, response):
    asked = response.headers.get("WWW-Authenticate")
    if asked is not None:
        rest = asked.removeprefix("Bearer").strip()
        response.headers.set("WWW-Authenticate", 'Bearer realm="Places"' + (f", {rest}" if rest else ""))


@allowed.response("more-exposed", "scripts may read more headers", needs=("origins",))
def expose_more(_, response):
    if response.headers.has("Access-Control-Expose-Headers"):
        exposed = response.headers.get("Access-Control-Expose-Headers")
        response.headers.set("Access-Control-Expose-Headers", f"{exposed}, Server-Timing, Date")


@allowed.response("longer-wait", "429 asks to wait longer", needs=("limited",))
def longer_wait(_, response):
    if response.headers.has("Retry-After"):
        response.headers.set("Retry-After", str(int(response.headers.get("Retry-After")) + 7))
