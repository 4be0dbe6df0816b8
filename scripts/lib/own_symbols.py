#!/usr/bin/env python3
"""Copies a symbol graph without what its module only exports again: own_symbols.py IN OUT MODULE...

Kept are the symbols from the sources of the modules, and the types that these extend, without their other members.
"""

import json
import sys


def main():
    with open(sys.argv[1]) as file:
        graph = json.load(file)
    folders = [f"/Sources/{module}/" for module in sys.argv[3:]]

    def is_located(symbol):
        return any(folder in symbol.get("location", {}).get("uri", "") for folder in folders)

    paths = {tuple(symbol["pathComponents"]) for symbol in graph["symbols"] if is_located(symbol)}
    # What the compiler makes has no location; it belongs to its type.
    kept = [
        symbol
        for symbol in graph["symbols"]
        if is_located(symbol) or "location" not in symbol and tuple(symbol["pathComponents"][:-1]) in paths
    ]
    extended = {tuple(symbol["pathComponents"][:-1]) for symbol in kept} - {()} - paths
    kept += [symbol for symbol in graph["symbols"] if tuple(symbol["pathComponents"]) in extended]

    names = {symbol["identifier"]["precise"] for symbol in kept}
    gone = {symbol["identifier"]["precise"] for symbol in graph["symbols"]} - names
    graph["symbols"] = kept
    graph["relationships"] = [
        one for one in graph["relationships"] if one["source"] in names and one["target"] not in gone
    ]
    with open(sys.argv[2], "w") as file:
        json.dump(graph, file)


if __name__ == "__main__":
    main()
