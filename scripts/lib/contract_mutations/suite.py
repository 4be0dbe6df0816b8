"""The contract suite as a program: it is built, run once for each row, and ended at its first failure."""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from .targets import ROOT

# POI_CONTRACT_TESTS names others that are built already, such as quicker ones in release mode.
PROGRAM = os.environ.get("POI_CONTRACT_TESTS", ".build/debug/points-of-interestPackageTests.xctest")
FILTER = "^PointsOfInterestContract"
# On foreign data a suite takes 11 s on two cores; several may run at once, beside builds.
MOST_SECONDS = 300


def build():
    """Builds the suite, unless POI_CONTRACT_TESTS names it."""
    if "POI_CONTRACT_TESTS" not in os.environ:
        subprocess.run(["swift", "build", "--quiet", "--build-tests"], cwd=ROOT, check=True)


@dataclass
class Run:
    """What a run of the suite has shown; `test` and `text` are of its first failure, `crash` says what went wrong."""

    tests: int = 0
    test: str | None = None
    text: str = ""
    crash: str | None = None
    skipped: dict = field(default_factory=dict)

    def note(self, line):
        """Takes an event; returns whether it is a failure."""
        record = json.loads(line)
        event = record["payload"]
        if record["kind"] != "event":
            return False
        if event["kind"] == "testCaseStarted":
            self.tests += 1
        elif event["kind"] == "testSkipped":
            self.skipped[event.get("testID", "")] = " ".join(event.get("_comments") or ["no reason"])
        elif event["kind"] == "issueRecorded" and not event["issue"].get("isKnown"):
            self.test = event.get("testID", "no test")
            self.text = " ".join(message["text"] for message in event.get("messages", []))
            return True
        return False


async def read_events(path, run):
    """Reads events as they come, to the first failure or the end of the stream; returns whether there was a failure."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=1 << 24)
    # Non-blocking, so that it opens before the suite does.
    pipe = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb")
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while line := await reader.readline():
            if run.note(line):
                return True
        return False
    finally:
        transport.close()


async def end(process):
    """Kills the suite, if it hasn't ended; it has nothing to finish."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


async def run_suite(variables):
    """Runs the suite with these variables of its own, to its first failure."""
    run = Run()
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("POI_")} | variables
    with tempfile.TemporaryDirectory(prefix="poi-suite-") as folder:
        stream, output = Path(folder) / "events", Path(folder) / "output"
        os.mkfifo(stream)
        # Kept open for writing until the suite has it open, or the stream would end before it begins.
        reading = asyncio.ensure_future(read_events(stream, run))
        await asyncio.sleep(0)
        holder = os.open(stream, os.O_RDWR | os.O_NONBLOCK)
        with output.open("wb") as sink:
            process = await asyncio.create_subprocess_exec(
                ROOT / PROGRAM, "--testing-library", "swift-testing", "--filter", FILTER, "--event-stream-output-path",
                stream, "--event-stream-version", "0", cwd=ROOT, env=environment, stdout=sink, stderr=sink,
                start_new_session=True)
        try:
            code = await follow(process, reading, holder)
        finally:
            reading.cancel()
            await end(process)
        judge(run, code, output)
    return run


async def follow(process, reading, holder):
    """Waits for the first failure or the end of the suite; returns its exit code, None where it takes too long."""
    ended = asyncio.ensure_future(process.wait())
    try:
        async with asyncio.timeout(MOST_SECONDS):
            await asyncio.wait({ended, reading}, return_when=asyncio.FIRST_COMPLETED)
            if reading.done() and reading.result():
                return 1
            await ended
    except TimeoutError:
        return None
    finally:
        ended.cancel()
        os.close(holder)
    # What is still in the pipe; it ends, now that nobody has it open.
    await reading
    return process.returncode


def judge(run, code, output):
    """What is no outcome of a row: a suite that hung, crashed or ran nothing."""
    if run.test is not None:
        return
    last = output.read_text(errors="replace").strip()[-600:]
    if code is None:
        run.crash = f"no end within {MOST_SECONDS} s"
    elif code != 0:
        run.crash = f"exit code {code} without a failed test: {last}"
    elif run.tests == 0:
        run.crash = f"no test ran: {last}"
