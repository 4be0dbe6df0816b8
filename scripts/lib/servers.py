"""The programs that a test or a script starts, a client, and a `poi`, with what is seen of it from outside: its log,
memory and descriptors (proc(5))."""

import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import urllib.request
from pathlib import Path

from processes import end, wait_for
from scratch_postgres import free_port

ROOT = Path(__file__).resolve().parent.parent.parent


# Ends a program with the one that has started it, however that ends.
BOUND = ["setpriv", "--pdeathsig=TERM", "--"] if shutil.which("setpriv") else []


def built(product, variable, *options, mode="release"):
    """A program, built unless a variable names one."""
    if variable in os.environ:
        return Path(os.environ[variable]).resolve()
    command = ["swift", "build", "--quiet", "-c", mode, *options]
    subprocess.run([*command, "--product", product], cwd=ROOT, check=True)
    return Path(subprocess.check_output([*command, "--show-bin-path"], cwd=ROOT, text=True).strip(), product)


class Client:
    """One connection, which is made again after a failure."""

    def __init__(self, port, connection=http.client.HTTPConnection, **options):
        self.connection = connection("127.0.0.1", port, **{"timeout": 20, **options})

    def request(self, method, target, headers=None, body=None):
        """Status, headers and body; status 0 where there is no response."""
        try:
            self.connection.request(method, target, body, headers or {})
            response = self.connection.getresponse()
            return response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return 0, {}, b""


class Server:
    """As a context manager: a `poi serve` before `database`, or a `poi dev` with a new one, on a free port; it has to end in
    order. It is ready, unless `is_awaited` is false. `prefix` is a command that runs it, and `settings` are variables of its
    environment, None for one that isn't set."""

    def __init__(self, program, database=None, arguments=(), settings=None, prefix=(), port=0, is_awaited=True):
        self.admin_port = free_port()
        self.database, self.url, self.last_log, self.is_awaited = database, None, "", is_awaited
        # What it has printed at its start.
        self.output = ""
        kind = ["serve", "--database-url", database] if database else ["dev"]
        self.command = [*prefix, str(program), *kind, "--port", str(port), *arguments]
        self.settings = {"POI_ADMIN_PORT": str(self.admin_port), **(settings or {})}

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="poi-server-"))
        # PostgreSQL, started by root, runs as a user of its own and has to get there.
        self.folder.chmod(0o755)
        self.log = self.folder / "log"
        environment = {"POI_ACCESS_LOG": "off", "POI_DRAIN_DELAY": "0s", **os.environ,
                       "POI_STATE_DIR": str(self.folder), **self.settings}
        self.process = subprocess.Popen(
            [*BOUND, *self.command], cwd=ROOT, stdout=subprocess.PIPE, stderr=self.log.open("wb"), text=True,
            env={name: value for name, value in environment.items() if value is not None})
        try:
            self.read_addresses()
            if self.is_awaited:
                wait_for(lambda: self.is_ready() or self.process.poll() is not None, 120, "a server that is ready")
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
        code, self.last_log = end(self.process), self.log.read_text()
        self.process.stdout.close()
        shutil.rmtree(self.folder)
        if code != 0 and kind is None:
            raise RuntimeError(f"the server ended with {code}: {self.last_log[-2000:]}")

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

    def metrics(self):
        """What the admin listener says; nothing where it doesn't respond."""
        return Client(self.admin_port, timeout=5).request("GET", "/metrics")[2].decode()

    def resident(self):
        """Bytes of resident memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def maximum_resident(self):
        """Most bytes of resident memory that there were at any time."""
        return int(re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())[1]) << 10

    def descriptors(self):
        """Number of open file descriptors."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
