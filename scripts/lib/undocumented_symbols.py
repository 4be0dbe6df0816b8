#!/usr/bin/env python3
"""Lists the symbols of symbol graphs that have no comment of their own; fails if there are any.

What the compiler makes, and what a requirement of a protocol has documented, needs none.
"""

import json
import sys

missing = []
count = 0
for path in sys.argv[1:]:
    with open(path) as file:
        graph = json.load(file)
    documented_elsewhere = {
        relationship["source"]
        for relationship in graph["relationships"]
        if relationship.get("sourceOrigin") or relationship["kind"] == "defaultImplementationOf"
    }
    for symbol in graph["symbols"]:
        name = symbol["identifier"]["precise"]
        if "location" not in symbol or "::SYNTHESIZED::" in name or name in documented_elsewhere:
            continue
        count += 1
        if not symbol.get("docComment", {}).get("lines"):
            line = symbol["location"]["position"]["line"] + 1
            missing.append(f'{symbol["location"]["uri"]}:{line}: {".".join(symbol["pathComponents"])}')

if not count:
    sys.exit("undocumented_symbols: no symbols at all")
for line in sorted(missing):
    print(f"undocumented: {line}", file=sys.stderr)
sys.exit(1 if missing else 0)
