#!/usr/bin/env python3
"""Prints what a page (*.md) names that isn't there: the target of a link, a heading, a test by its suite and function,
a file or folder of this package, or a command of `poi`.

The changelog tells of what was, so only its links and tests are looked for.
"""
import pathlib
import re
import subprocess

CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"(?<![\w/.-])(?:scripts|Sources|Tests|deploy|Documentation|Examples|Migrations|Benchmarks|Events)"
                  r"/[\w/.+-]*[\w+]")
COMMAND = re.compile(r"(?:`|^ *)poi ([a-z]+)", re.MULTILINE)
TEST = re.compile(r"\b([A-Z][A-Za-z]*Tests)\.(?!swift\b)([a-z][A-Za-z]*)\b")


def anchor(heading):
    """What a heading is linked by, as GitHub makes it: its letters in lower case, with hyphens for spaces."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip())
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def missing(page, texts, tests, commands):
    text = texts[page]
    for link in LINK.findall(text):
        name, _, heading = link.partition("#")
        if re.match("[a-z]+:", name):
            continue
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"the link {link}"
        elif heading and target in texts and heading not in map(anchor, HEADING.findall(texts[target])):
            yield f"the heading of {link}"
    for suite, name in TEST.findall(page.read_text()):
        if not any(re.search(rf"(struct|class) {suite}\b", test) and f"func {name}(" in test for test in tests):
            yield f"the test {suite}.{name}"
    if page.name == "CHANGELOG.md":
        return
    for path in PATH.findall(text):
        if not any((folder / path).exists() for folder in (pathlib.Path(), page.parent)):
            yield f"the file {path}"
    yield from (f"the command poi {name}" for name in COMMAND.findall(text) if name not in commands)


def files(pattern):
    """The files of the package that match a pattern, also those that aren't committed yet."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern]
    names = subprocess.check_output(command, text=True)
    return [path for path in map(pathlib.Path, names.splitlines()) if path.exists()]


def main():
    # What is between ``` may be an app's.
    texts = {page.resolve(): CODE.sub("", page.read_text()) for page in files("*.md")}
    tests = [file.read_text() for file in files("Tests/*.swift")]
    commands = re.findall(r'\bname: "([a-z]+)"', pathlib.Path("Sources/poi/CommandLineTool.swift").read_text())
    for page in texts:
        for fault in missing(page, texts, tests, commands):
            print(f"{page.relative_to(pathlib.Path.cwd())} names what isn't there: {fault}")


main()
