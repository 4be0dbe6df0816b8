"""The requests whose instructions are counted, and what their responses have to be."""

import gzip
import json
import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

SEED = 15
CENTRES = 50
PAGE = 20

# Several thousand places near the seed's, with their texts, so that every page is full. Seven decimals, as OpenStreetMap
# has.
PLACES_SQL = """
SELECT setseed(0.5);
INSERT INTO locations (name, category, latitude, longitude, address, website, source_dataset, source_id, source_license)
SELECT name, category, round((latitude + (random() - 0.5) / 50)::numeric, 7),
    round((longitude + (random() - 0.5) / 50)::numeric, 7), address, website, 'instructions', number || '/' || source_id, source_license
FROM locations, generate_series(1, 60) AS number WHERE source_dataset = 'poi-seed-san-jose';
VACUUM ANALYZE locations;
"""


def is_page(response):
    return len(response) == PAGE


def has_clusters(response):
    """Most of the places that PLACES_SQL makes are in each box."""
    return sum(cluster["count"] for cluster in response["clusters"]) > 1000


@dataclass
class Case:
    """Requests of one kind. `make` gets the number of those that are counted together, and what sends one for what others
    need to know. `is_whole` judges the body, where that is looked at."""

    name: str
    count: int
    make: Callable
    is_whole: Callable | None = is_page
    status: int = 200

    def fault(self, status, headers, body):
        """Why a response isn't the expected one; None if it is."""
        if status != self.status:
            return f"{self.status} was expected, not {status}: {body[:200]!r}"
        if self.is_whole is None:
            return None
        if headers["Content-Encoding"] == "gzip":
            body = gzip.decompress(body)
        elif "gzip" in self.name:
            return "the response isn't compressed"
        return None if self.is_whole(json.loads(body)) else f"the response isn't whole: {body[:200]!r}"


def request(target, headers="", method="GET", body=b""):
    head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: instructions\r\nAccept: */*\r\n{headers}\r\n"
    return head.encode() + body


def centres():
    source = random.Random(SEED)
    return [(37.33 + source.uniform(-0.01, 0.01), -121.89 + source.uniform(-0.01, 0.01)) for _ in range(CENTRES)]


TARGETS = [f"/locations?lat={latitude:.5f}&long={longitude:.5f}" for latitude, longitude in centres()]


def plain(count, ask, headers=""):
    return [request(TARGETS[number % CENTRES], headers) for number in range(count)]


def compressed(count, ask):
    return plain(count, ask, "Accept-Encoding: gzip\r\n")


def behind_balancer(target):
    """As a balancer passes it on: three fields change with each request."""
    return request(
        target, f"X-Forwarded-For: 203.0.113.{random.randrange(256)}\r\nX-Request-Id: {uuid.uuid4()}\r\n"
        f"traceparent: 00-{uuid.uuid4().hex}-{uuid.uuid4().hex[:16]}-01\r\n")


def live_behind_balancer(count, ask):
    return [behind_balancer("/livez") for _ in range(count)]


def plain_behind_balancer(count, ask):
    return [behind_balancer(TARGETS[number % CENTRES]) for number in range(count)]


BROWSER = """Connection: keep-alive
sec-ch-ua-platform: "macOS"
sec-ch-ua: "Chromium";v="143", "Not A(Brand";v="24"
sec-ch-ua-mobile: ?0
Sec-Fetch-Site: same-origin
Sec-Fetch-Mode: cors
Sec-Fetch-Dest: empty
Referer: https://places.example/
Accept-Encoding: gzip, deflate, br, zstd
Accept-Language: en-GB,en;q=0.9,de;q=0.8
"""


def browser(count, ask):
    """What a browser's script sends, by a balancer that adds the client's address."""
    fields = BROWSER.replace("\n", "\r\n")
    return [
        request(TARGETS[number % CENTRES], f"{fields}X-Forwarded-For: 203.0.113.{random.randrange(256)}\r\n")
        for number in range(count)
    ]


APP = """Accept: application/json
Accept-Language: en-GB,en;q=0.9
Accept-Encoding: gzip, deflate, br
Connection: keep-alive
User-Agent: Places/214 CFNetwork/1568.300.101 Darwin/24.2.0
"""


def app(count, ask):
    """What URLSession sends for the app's list, with the tag of the page that the app has kept, by a balancer; the places have
    changed since."""
    fields = APP.replace("\n", "\r\n")
    return [
        f"GET {TARGETS[number % CENTRES]} HTTP/1.1\r\nHost: places.example\r\n{fields}If-None-Match: W/\"{number:011}\"\r\n"
        f"X-Forwarded-For: 203.0.113.{random.randrange(256)}\r\n\r\n".encode() for number in range(count)
    ]


def hundred(count, ask):
    return [request(f"{TARGETS[number % CENTRES]}&limit=100") for number in range(count)]


def one_category(count, ask):
    return [request(f"{TARGETS[number % CENTRES]}&category=cafe") for number in range(count)]


def clusters(count, ask):
    """What a phone's map shows at zoom 14."""
    return [request(f"/locations/clusters?bbox={longitude - 0.017:.5f},{latitude - 0.029:.5f},{longitude + 0.017:.5f},"
                    f"{latitude + 0.029:.5f}&zoom=14") for latitude, longitude in (centres() * count)[:count]]


def known(count, ask):
    """Requests for what the client has already, by the tags that the server gave it."""
    tagged = [request(target, f"If-None-Match: {ask(request(target))[1]['ETag']}\r\n") for target in TARGETS]
    return [tagged[number % CENTRES] for number in range(count)]


def upload(events):
    """So many new events, some minutes old, of one user."""
    user, now = str(uuid.uuid4()).upper(), int(time.time())
    body = json.dumps([{
        "id": str(uuid.uuid4()), "user_id": user, "time": now - 600 + number,
        "event": {"name": "page-view", "value": {"page": "location-detail", "additional": str(1000 + number)}},
    } for number in range(events)], separators=(",", ":")).encode()
    return request("/events", f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n", "POST", body)


CASES = [
    Case("livez", 200, lambda count, ask: [request("/livez")] * count, None),
    Case("locations-index", 200, plain),
    Case("livez-balancer", 200, live_behind_balancer, None),
    Case("locations-balancer", 200, plain_behind_balancer),
    Case("locations-browser-gzip", 100, browser),
    Case("locations-app-gzip", 100, app),
    Case("locations-hundred", 50, hundred, lambda response: len(response) == 100),
    Case("locations-category", 100, one_category),
    Case("locations-index-gzip", 100, compressed),
    Case("clusters-index", 100, clusters, has_clusters),
    Case("not-modified", 200, known, None, status=304),
    Case("event", 100, lambda count, ask: [upload(1) for _ in range(count)], None),
    Case("events-fifty", 20, lambda count, ask: [upload(50) for _ in range(count)], None),
    Case("events", 20, lambda count, ask: [upload(100) for _ in range(count)], None),
]
