#!/usr/bin/env python3
"""Prints what a target imports of this package without declaring it, and what it declares and doesn't import.

SwiftPM's own --explicit-target-dependency-import-check reports neither with Swift 6.3 on Linux. Reads the output of
`swift package dump-package` on standard input.
"""
import json
import pathlib
import re
import sys

IMPORT = re.compile(r"^\s*(?:@\w+\s+)*(?:public |package |internal |private )?"
                    r"import (?:struct |class |enum |protocol |func )?(\w+)", re.MULTILINE)


def imports(target):
    default = pathlib.Path("Tests" if target["type"] == "test" else "Sources") / target["name"]
    folder = pathlib.Path(target.get("path") or default)
    excluded = [folder / name for name in target.get("exclude", [])]
    files = [file for file in folder.rglob("*.swift") if not any(file.is_relative_to(path) for path in excluded)]
    return {module for file in files for module in IMPORT.findall(file.read_text())}


def main():
    targets = {target["name"]: target for target in json.load(sys.stdin)["targets"]}
    for name, target in targets.items():
        declared = {dependency["byName"][0] for dependency in target["dependencies"]}
        imported = imports(target) & targets.keys() - {name}
        # Tests declare programs so that these are built.
        needless = {other for other in declared - imported if targets[other]["type"] != "executable"}
        for other in sorted(imported - declared):
            print(f"Package.swift: {name} imports {other} and doesn't declare it")
        for other in sorted(needless):
            print(f"Package.swift: {name} declares {other} and doesn't import it")


if __name__ == "__main__":
    main()
