#!/usr/bin/env python3
"""Prints what a page (*.md) names that isn't there: the target of a link, a heading, a file or folder of this package, or
a command of `poi`.

The changelog and the evidence tell of what was, so only their links are followed.
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
OF_THE_PAST = {"CHANGELOG.md", "evidence.md"}


def anchor(heading):
    """What a heading is linked by, as GitHub makes it: its letters in lower case, with hyphens for spaces."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip())
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def missing(page, texts, commands):
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
    if page.name in OF_THE_PAST:
        return
    for path in PATH.findall(text):
        if not any((folder / path).exists() for folder in (pathlib.Path(), page.parent)):
            yield f"the file {path}"
    yield from (f"the command poi {name}" for name in COMMAND.findall(text) if name not in commands)


def main():
    names = subprocess.check_output(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], text=True)
    pages = [path for path in map(pathlib.Path, names.splitlines()) if path.exists()]
    # What is between ``` may be an app's.
    texts = {page.resolve(): CODE.sub("", page.read_text()) for page in pages}
    commands = re.findall(r'\bname: "([a-z]+)"', pathlib.Path("Sources/poi/CommandLineTool.swift").read_text())
    for page in pages:
        for fault in missing(page.resolve(), texts, commands):
            print(f"{page} names what isn't there: {fault}")


main()
