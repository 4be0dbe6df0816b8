#!/usr/bin/env python3
"""Makes a JUnit report of the events of a run of the contract suite, and sums it up: contract_report.py EVENTS REPORT TARGET.
Fails where no test has run, and where the process has ended before its tests: on Linux, a response that is cut inside its
head ends it."""

import json
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path


class Run:
    """The tests of a run: what each is called, why it was skipped, when it began and ended, and its issues."""

    def __init__(self, lines):
        self.names, self.skipped, self.started, self.ended, self.issues = {}, {}, {}, {}, {}
        self.is_whole = False
        for line in lines:
            # The last one may be cut.
            if line.endswith("\n"):
                record = json.loads(line)
                self.note(record["kind"], record["payload"])

    def note(self, kind, payload):
        if kind == "test":
            if payload["kind"] == "function":
                self.names[payload["id"]] = payload.get("displayName", payload["name"])
            return
        event, test = payload["kind"], payload.get("testID", "")
        self.is_whole |= event == "runEnded"
        if event == "testSkipped":
            self.skipped[test] = "; ".join(payload.get("_comments", [])) or "for no reason that is told"
        elif event == "issueRecorded" and not payload["issue"].get("isKnown"):
            self.issues.setdefault(test, []).append("\n".join(each["text"] for each in payload.get("messages", [])))
        elif event in ("testStarted", "testEnded"):
            times = self.started if event == "testStarted" else self.ended
            times[test] = payload["instant"]["absolute"]

    def of_suites(self, found, test):
        """What a test has by itself or by its suite."""
        return found.get(test) or next((value for suite, value in found.items() if test.startswith(f"{suite}/")), None)

    def outcome(self, test):
        """What became of a test: the name of JUnit's element, None where it has passed, and a text."""
        if issues := self.issues.get(test):
            return "failure", "\n\n".join(issues)
        if reason := self.of_suites(self.skipped, test):
            return "skipped", reason
        if test in self.ended:
            return None, ""
        if test in self.started:
            return "failure", "The process has ended while this test ran."
        return "skipped", "not run: the process has ended before"


def main():
    source, report, target = sys.argv[1:]
    try:
        run = Run(Path(source).read_text().splitlines(keepends=True))
    except OSError:
        sys.exit("contract-test: the run ended without a report")
    outcomes = {test: run.outcome(test) for test in run.names}
    counts = Counter(kind for kind, _ in outcomes.values())
    if run.is_whole and len(outcomes) == counts["skipped"]:
        sys.exit("contract-test: no test has run")

    root = ElementTree.Element("testsuites")
    # Tests that were skipped count as tests, as readers of such reports expect.
    suite = ElementTree.SubElement(root, "testsuite", {
        "name": f"contract: {target}", "tests": str(len(outcomes)), "skipped": str(counts["skipped"]),
        "failures": str(counts["failure"]), "errors": "0", "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S")})
    for test, (kind, text) in outcomes.items():
        seconds = max(0, run.ended.get(test, 0) - run.started.get(test, 0))
        case = ElementTree.SubElement(suite, "testcase", {
            "classname": test.partition("/")[0], "name": run.names[test], "time": f"{seconds:.3f}"})
        if kind:
            element = ElementTree.SubElement(case, kind, {"message": text.partition("\n")[0]})
            # XML has no control characters.
            element.text = "".join(letter for letter in text if letter.isprintable() or letter in "\n\t")
    tree = ElementTree.ElementTree(root)
    ElementTree.indent(tree)
    tree.write(report, encoding="utf-8", xml_declaration=True)

    for reason, count in Counter(text for kind, text in outcomes.values() if kind == "skipped").most_common():
        print(f"contract-test: {count} skipped: {reason}")
    print(f"contract-test: {target}: {len(outcomes)} tests, {counts[None]} passed, {counts['skipped']} skipped, "
          f"{counts['failure']} failed; report: {report}")
    if not run.is_whole:
        running = [run.names[test] for test in run.started if test in run.names and test not in run.ended]
        sys.exit("\n".join([
            "contract-test: the process has ended before its tests, while these ran:", *running,
            "On Linux, URLSession ends it where a response is cut inside its head (Swift 6.3)."]))


main()
