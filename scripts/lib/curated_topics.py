#!/usr/bin/env python3
"""Fails unless the topics of a DocC catalogue name each public top-level type of its module exactly once:
curated_topics.py MODULE.symbols.json CATALOGUE"""

import collections
import json
import pathlib
import re
import sys

KINDS = {"class", "struct", "enum", "protocol", "actor", "typealias", "macro"}
ITEM = re.compile(r"^- ``([^`/]+)``$", re.MULTILINE)


def main():
    graph, catalogue = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    types = {
        symbol["pathComponents"][0]
        for symbol in json.loads(graph.read_text())["symbols"]
        if len(symbol["pathComponents"]) == 1 and symbol["kind"]["identifier"].removeprefix("swift.") in KINDS
    }
    if not types:
        sys.exit(f"curated_topics: {graph} has no type")
    curated = collections.Counter()
    for page in sorted(catalogue.glob("**/*.md")):
        _, _, topics = page.read_text().partition("\n## Topics\n")
        curated.update(ITEM.findall(topics))
    faults = [f"{name} is in no topic" for name in sorted(types - curated.keys())]
    faults += [f"{name} is no public top-level type" for name in sorted(curated.keys() - types)]
    faults += [f"{name} is in {count} topics" for name, count in sorted(curated.items()) if count > 1]
    for fault in faults:
        print(f"curated_topics: {catalogue.name}: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
