"""What the contract suite says of a service that breaks the contract everywhere, or that ends the suite's process."""

import os
import socket
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree

from contract_mutations.changes import Row, responding
from contract_mutations.proxy import Proxy
from contract_mutations.targets import build_suite, serving
from servers import ROOT


def run_suite(variables, folder):
    """Runs the suite as scripts/contract-test does; returns what it said, and its events."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("POI_")}
    events = folder / "events"
    run = subprocess.run(
        [build_suite(), "--testing-library", "swift-testing", "--filter", "^PointsOfInterestContract",
         "--event-stream-output-path", events, "--event-stream-version", "0"],
        cwd=ROOT, env=own | {"SWIFT_BACKTRACE": "enable=no"} | variables, capture_output=True, timeout=300)
    assert run.returncode != 0
    return run.stdout.decode(errors="replace"), events


def report_of(events, folder):
    report = folder / "report.xml"
    run = subprocess.run([sys.executable, ROOT / "scripts/lib/contract_report.py", events, report, "staging"],
                         capture_output=True, text=True)
    cases = ElementTree.parse(report).getroot().find("testsuite").findall("testcase")
    return run, [case for case in cases if case.find("failure") is not None], cases


def test_what_is_missing_everywhere_is_said_once(poi, tmp_path):
    row = Row("vary", "no response has Vary", responding(lambda _, response: response.headers.drop("Vary")))
    with serving("seed", poi) as target, Proxy(row, target.keys, target.ports) as proxy:
        said, events = run_suite(target.variables | {"POI_BASE_URL": proxy.urls[0]}, tmp_path)
        assert proxy.changes > 200
    lines = said.splitlines()
    assert max(map(len, lines)) < 4000
    assert sum("recorded an issue" in line for line in lines) < 30
    summary = [line for line in lines if line.startswith("contract: ")]
    assert 1 <= len(summary) <= 11
    assert "varies with Accept" in summary[0] and "curl -i" in summary[0]
    _, failed, cases = report_of(events, tmp_path)
    assert 1 <= len(failed) < 30 and len(cases) > 100


def test_a_process_that_ends_has_a_report(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def respond():
            for number in range(1000):
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 404 Not Found\r\n" + (
                        b"Content-Length: 0\r\nConnection: close\r\n\r\n" if number < 30 else b"Content-Type: applica"))

        threading.Thread(target=respond, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        _, events = run_suite({"POI_BASE_URL": url}, tmp_path)
        listener.shutdown(socket.SHUT_RDWR)
    run, failed, cases = report_of(events, tmp_path)
    assert run.returncode != 0
    assert "the process has ended before its tests" in run.stderr
    assert failed and len(cases) > 100
    assert "The process has ended while this test ran." in {case.find("failure").text for case in failed}
