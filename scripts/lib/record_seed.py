#!/usr/bin/env python3
"""Prints the seeded data of a server as JSON: the names of its categories, and its places by their ids. See
scripts/record/record-seed."""

import json
import re
import sys
import urllib.request

EVERYWHERE = "?bbox=-180,-90,180,90&limit=100"


def get(url):
    with urllib.request.urlopen(url, timeout=30) as response:
        return json.load(response), response.headers.get("Link")


def places(base):
    query, found = EVERYWHERE, []
    while query:
        page, link = get(base + "/locations" + query)
        found += page
        query = re.match(r"<(.*)>", link).group(1) if link else None
    return sorted(found, key=lambda place: place["id"])


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    base = sys.argv[1].rstrip("/")
    categories, _ = get(base + "/categories")
    names = compact(sorted(category["name"] for category in categories))
    # A place a line, so that a change can be read.
    lines = ",\n".join(compact(place) for place in places(base))
    print(f'{{"categories":{names},\n"places":[\n{lines}\n]}}')


main()
