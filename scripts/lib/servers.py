"""A `poi` that a test or a script starts, and what is seen of it from outside: its log, memory and descriptors (proc(5))."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from processes import end

ROOT = Path(__file__).resolve().parent.parent.parent


class Server:
    """As a context manager: a `poi serve` before `database`, or a `poi dev` with a new one, on a free port; it has to end in
    order. `prefix` is a command that runs it, and `settings` are variables of its environment."""

    def __init__(self, program, database=None, arguments=(), settings=None, prefix=()):
        self.database, self.url = database, None
        # What it has printed at its start.
        self.output = ""
        kind = ["serve", "--database-url", database] if database else ["dev"]
        self.command = [*prefix, str(program), *kind, "--port", "0", *arguments]
        self.settings = settings or {}

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="poi-server-"))
        # PostgreSQL, started by root, runs as a user of its own and has to get there.
        self.folder.chmod(0o755)
        self.log = self.folder / "log"
        self.process = subprocess.Popen(
            ["setpriv", "--pdeathsig=TERM", "--", *self.command], cwd=ROOT, stdout=subprocess.PIPE, stderr=self.log.open("wb"),
            text=True, env={**os.environ, "POI_ACCESS_LOG": "off", "POI_DRAIN_DELAY": "0s", "POI_STATE_DIR": str(self.folder),
                            **self.settings})
        try:
            self.read_addresses()
        except BaseException:
            end(self.process)
            shutil.rmtree(self.folder)
            raise
        return self

    def read_addresses(self):
        # The line to try is the last that a start of `poi dev` prints; `poi serve` prints one.
        last = "serving " if self.database else "try: "
        for line in self.process.stdout:
            self.output += line
            if line.startswith("DATABASE_URL="):
                self.database = line.strip().partition("=")[2]
            if line.startswith("serving http"):
                self.url = line.split()[1]
            if line.startswith(last):
                break
        if not self.url:
            raise RuntimeError(f"the server did not start: {self.log.read_text()}")
        self.port = int(self.url.rsplit(":", 1)[1].strip("/"))

    def __exit__(self, kind, *_):
        code, log = end(self.process), self.log.read_text()
        self.process.stdout.close()
        shutil.rmtree(self.folder)
        if code != 0 and kind is None:
            raise RuntimeError(f"the server ended with {code}: {log[-2000:]}")

    def get(self, target, headers=None):
        """The response to a request; an error's status raises HTTPError."""
        return urllib.request.urlopen(urllib.request.Request(self.url.rstrip("/") + target, headers=headers or {}), timeout=60)

    def is_ready(self):
        try:
            self.get("/readyz").close()
            return True
        except OSError:
            return False

    def json(self, target, headers=None):
        with self.get(target, headers) as response:
            return json.load(response)

    def resident(self):
        """Bytes of resident memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def maximum_resident(self):
        """Most bytes of resident memory that there were at any time."""
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())[1]) << 10

    def descriptors(self):
        """Number of open file descriptors."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
