#!/usr/bin/env python3
"""Makes a test of every ```swift block: extract_snippets.py FOLDER DOCUMENT...

A block becomes the body of a test function; one that declares members of a type (it begins with `@Test`, `private` or
`static`) becomes the body of a type. Its imports go to the top. The compiler and the tests report errors by the
document's name and line. The names that snippets take for granted are in
Tests/Support/OutsidePackage/Tests/SnippetTests/Surroundings.swift.

A comment on the line before a block changes that:

    <!-- in: NAME -->               the surroundings are NAME, a subclass of Surroundings
    <!-- not compiled: REASON -->   the block is passed over
"""

import pathlib
import re
import sys

IMPORTS = ["Foundation", "PointsOfInterestTesting", "Testing"]
MEMBER = re.compile(r"(@Test|private|static)\b")
COMMENT = re.compile(r"<!-- (in|not compiled): (.*) -->")


def blocks(document):
    """Yields the number of the first line, the lines, and the kind and the text of the comment of each block."""
    lines = document.read_text().splitlines()
    number = 0
    while number < len(lines):
        if lines[number].strip() == "```swift":
            start = number + 1
            end = lines.index("```", start)
            before = next((line for line in reversed(lines[:number]) if line.strip()), "")
            comment = COMMENT.fullmatch(before)
            yield start + 1, lines[start:end], *(comment.groups() if comment else (None, None))
            number = end
        number += 1


def source(document, line, block, surroundings):
    imports = [text.split()[1] for text in block if text.startswith("import ")]
    # Imports become empty lines, so that the others keep their numbers.
    body = ["" if text.startswith("import ") else text for text in block]
    name = f"snippet_{re.sub('[^A-Za-z]', '_', document.stem)}_{line}"
    traits = ".timeLimit(.minutes(1))"
    if any(re.search(r"\bmockURL\b", text) for text in body):
        traits += ", .needsMockServer"
    opening = [f'@MainActor @Suite("{document}:{line}", {traits})', f"final class {name}: {surroundings} {{"]
    closing = ["}"]
    if not MEMBER.match(next(text for text in body if text.strip())):
        opening.append('@Test("runs") func run() async throws {')
        closing.append("}")
    return "\n".join(
        [f"import {module}" for module in sorted(set(IMPORTS + imports))]
        + ["#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"]
        + opening
        + [f'#sourceLocation(file: "{document}", line: {line})']
        + body
        + ["#sourceLocation()"]
        + closing
        + [""]
    )


def main():
    folder, documents = pathlib.Path(sys.argv[1]), [pathlib.Path(name) for name in sys.argv[2:]]
    made, passed = 0, 0
    for document in documents:
        found = list(blocks(document))
        if not found:
            sys.exit(f"extract_snippets.py: {document} has no snippet")
        for line, block, kind, text in found:
            if kind == "not compiled":
                passed += 1
            else:
                file = folder / f"{document.stem}-{line}.swift"
                file.write_text(source(document, line, block, text or "Surroundings"))
                made += 1
    print(f"extract_snippets.py: {made} snippets become tests, {passed} passed over")


if __name__ == "__main__":
    main()
