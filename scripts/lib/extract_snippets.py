#!/usr/bin/env python3
"""Makes a Swift file of every ```swift block: extract_snippets.py FOLDER DOCUMENT...

A block becomes the body of an async function of the main actor; one that declares members of a type (it begins with
`@Test`, `private` or `static`) becomes the body of a type. Its imports go to the top. The compiler reports errors by
the document's name and line. The names that snippets take for granted are in
Tests/Support/OutsidePackage/Tests/SnippetTests/Surroundings.swift. A block is passed over where the line before it is
<!-- not compiled: REASON -->."""

import pathlib
import re
import sys

IMPORTS = ["Foundation", "PointsOfInterestTesting", "Testing"]
MEMBER = re.compile(r"(@Test|private|static)\b")


def blocks(document):
    """Yields the number of the first line and the lines of each block."""
    lines = document.read_text().splitlines()
    number = 0
    while number < len(lines):
        if lines[number].strip() == "```swift":
            start = number + 1
            end = lines.index("```", start)
            before = next((line for line in reversed(lines[:number]) if line.strip()), "")
            if not before.startswith("<!-- not compiled: "):
                yield start + 1, lines[start:end]
            number = end
        number += 1


def source(document, line, block):
    imports = [text.split()[1] for text in block if text.startswith("import ")]
    # Imports become empty lines, so that the others keep their numbers.
    body = ["" if text.startswith("import ") else text for text in block]
    name = f"snippet_{re.sub('[^A-Za-z]', '_', document.stem)}_{line}"
    first = next(text for text in body if text.strip())
    if MEMBER.match(first):
        opening, closing = f"@MainActor struct {name} {{", "}"
    else:
        opening, closing = f"@MainActor func {name}() async throws {{", "}"
    return "\n".join(
        [f"import {module}" for module in sorted(set(IMPORTS + imports))]
        + [opening, f'#sourceLocation(file: "{document}", line: {line})']
        + body
        + ["#sourceLocation()", closing, ""]
    )


def main():
    folder, documents = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    count = 0
    for document in documents:
        found = 0
        for line, block in blocks(document):
            (folder / f"{document.stem}-{line}.swift").write_text(source(document, line, block))
            found += 1
        if not found:
            sys.exit(f"extract_snippets.py: {document} has no snippet")
        count += found
    print(f"extract_snippets.py: {count} snippets of {len(documents)} documents")


if __name__ == "__main__":
    main()
