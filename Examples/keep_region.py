#!/usr/bin/env python3
"""Keeps the places of a region in a file equal to those of a service, by sums: the protocol of GET /locations/digest.

    keep_region.py URL FILE [bbox=W,S,E,N] [category=…] [dataset=…] [featured=…] [names=all]     with a key in POI_KEY

Places fall into 64 groups of 64 buckets each, by a hash of their id. The service tells the sum of each group, of each bucket
in a group, and the places of a bucket. So three requests find whatever differs, however long the file was kept: places that
are new, changed, removed, merged, or moved across the region's edge, after imports, restored backups and from servers that are
behind. Nobody keeps anything for a phone, and where all 64 sums are equal, all places are.
"""

import base64
import gzip
import json
import os
import sys
import urllib.parse
import urllib.request
from pathlib import Path

ALL = 2**64 - 1
# More buckets than this in one request would make its target too long.
AT_ONCE = 64


def mixed(number):
    """The end of SplitMix64, in 64 bits."""
    number = (number + 0x9E3779B97F4A7C15) & ALL
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & ALL
    number = (number ^ number >> 27) * 0x94D049BB133111EB & ALL
    return number ^ number >> 31


def bucket_of(place_id):
    """Its number among all 4096: the first 12 bits of the id's hash."""
    return mixed(place_id) >> 52


def text(number):
    """As sums and hashes are sent: eight bytes in Base64 for URLs, nothing for 0."""
    return base64.urlsafe_b64encode(number.to_bytes(8)).decode().rstrip("=") if number else ""


def number(sent):
    return int.from_bytes(base64.urlsafe_b64decode(sent + "=")) if sent else 0


def short(sent):
    """The first four bytes of a sum, which is how those of buckets are sent."""
    return base64.urlsafe_b64encode(base64.urlsafe_b64decode(sent + "=")[:4]).decode().rstrip("=") if sent else ""


class Sum:
    """The sum of some places: of their hashes, each mixed with its id, and their number."""

    def __init__(self, places=()):
        self.count, self.sum = 0, 0
        for place in places:
            self.count += 1
            self.sum = (self.sum + mixed(number(place["hash"]) ^ mixed(~place["id"] & ALL))) & ALL

    def __add__(self, other):
        both = Sum()
        both.count, both.sum = self.count + other.count, (self.sum + other.sum) & ALL
        return both

    def __str__(self):
        return text(mixed(self.sum ^ mixed(self.count))) if self.count else ""


class Region:
    def __init__(self, url, path, filters):
        self.url, self.path, self.filters = url.rstrip("/"), Path(path), filters
        # The places of each bucket.
        self.buckets = [[] for _ in range(4096)]
        if self.path.exists():
            with gzip.open(self.path, "rt") as file:
                for place in map(json.loads, file):
                    self.buckets[bucket_of(place["id"])].append(place)

    @property
    def places(self):
        return [place for places in self.buckets for place in places]

    def ask(self, **parts):
        names = {name: value for name, value in self.filters.items() if name != "names" or "bucket" in parts or "places" in parts}
        query = urllib.parse.urlencode(names | parts, safe=",.")
        headers = {"Accept-Encoding": "gzip"}
        if key := os.environ.get("POI_KEY"):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(f"{self.url}/locations/digest?{query}", headers=headers)
        with urllib.request.urlopen(request, timeout=60) as response:
            body = response.read()
            self.bytes += len(body)
            self.requests += 1
            return json.loads(gzip.decompress(body) if response.headers["Content-Encoding"] == "gzip" else body)

    def compare(self):
        """Makes the places those of the service; False where these changed meanwhile, and it is to be done again."""
        root = self.ask()
        sums = [Sum(places) for places in self.buckets]
        groups = [sum(sums[64 * group:64 * group + 64], Sum()) for group in range(64)]
        different = [group for group in range(64) if str(groups[group]) != root["sums"][group]]
        # A group of which nothing is there yet comes whole.
        known = [group for group in different if groups[group].count > 0]
        self.take_groups(set(different) - set(known))
        wanted = []
        if known:
            for group, found in self.ask(group=",".join(map(str, known)))["groups"].items():
                wanted += [f"{group}.{own}" for own in range(64) if short(str(sums[64 * int(group) + own])) != found[own]]
        for start in range(0, len(wanted), AT_ONCE):
            self.take(self.ask(bucket=",".join(wanted[start:start + AT_ONCE])))
        # The proof: all sums are those of the service. Half a sum may hide a difference once in four billion times.
        left = self.different(root)
        if left and self.dataset == root["dataset"]:
            self.take_groups(left)
        return not self.different(root)

    def different(self, root):
        groups = (sum(map(Sum, self.buckets[64 * group:64 * group + 64]), Sum()) for group in range(64))
        return [group for group, own in enumerate(groups) if str(own) != root["sums"][group]]

    def take_groups(self, groups):
        for group in groups:
            self.take(self.ask(group=group, places="true"))

    def take(self, answer):
        """Replaces whole buckets: what isn't there any more is gone."""
        self.dataset = answer["dataset"]
        for name, places in answer["buckets"].items():
            group, _, own = name.partition(".")
            self.buckets[64 * int(group) + int(own)] = places

    def keep(self):
        self.bytes, self.requests, self.dataset = 0, 0, None
        for _ in range(5):
            is_equal = self.compare()
            part = self.path.with_suffix(".part")
            with gzip.open(part, "wt") as file:
                for place in self.places:
                    file.write(json.dumps(place, ensure_ascii=False, separators=(",", ":")) + "\n")
            part.replace(self.path)
            if is_equal:
                return
        raise SystemExit("the places change too often")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    region = Region(sys.argv[1], sys.argv[2], dict(option.split("=", 1) for option in sys.argv[3:]))
    region.keep()
    print(f"{len(region.places)} places, equal to the service's, by {region.requests} requests of {region.bytes} bytes")
