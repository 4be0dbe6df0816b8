#!/usr/bin/env python3
"""Prints the Swift source of what a server with the seeded data answers: its places, by their ids, and the names
of its categories. See scripts/record-seed."""

import json
import re
import sys
import urllib.request

EVERYWHERE = "?bbox=-180,-90,180,90&limit=100"


def ask(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer), answer.headers.get("Link")


def places(base):
    query, found = EVERYWHERE, []
    while query:
        page, link = ask(base + "/locations" + query)
        found += page
        query = re.match(r"<(.*)>", link).group(1) if link else None
    return sorted(found, key=lambda place: place["id"])


def main():
    base = sys.argv[1].rstrip("/")
    categories, _ = ask(base + "/categories")
    names = ", ".join(f'"{name}"' for name in sorted(category["name"] for category in categories))
    lines = ",\n".join(
        json.dumps(place, ensure_ascii=False, separators=(",", ":")) for place in places(base))
    print(f'''// Written by scripts/record-seed. Not to be edited.
// swift-format-ignore-file

/// What a server with the seeded data answers.
enum RecordedSeed {{
    /// The categories that there are without any place, too.
    static let categories = [{names}]

    /// Every place, as an array of the items of `GET /locations`.
    static let places = #"""
[
{lines}
]
"""#
}}''')


main()
