"""Connects by the connection strings of deploy/kubernetes/secrets.example.yaml to a PostgreSQL with TLS, as they stand
there: with the host's name, the role, the database and all parameters. What is replaced is the password and where the
CA's file is; hostaddr and port lead to a server that is started for this on 127.0.0.1. Runs as root.

They have to get through with the CA that signed the server's certificate, and neither with another CA nor without
sslrootcert. Beside that, nothing that is shipped may have sslmode=verify-full without sslrootcert.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from certificates import make_ca, make_certificate
from scratch_postgres import ScratchPostgres

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLE = ROOT / "deploy/kubernetes/secrets.example.yaml"
PASSWORDS = {"poi_migrate": "migratepassword", "poi_serve": "servepassword", "poi_events": "eventspassword"}


def use_tls(server, host):
    """Gives a server a certificate for a host's name, and has it use it; returns the CA's file."""
    ca = make_ca(server.folder, "ca")
    make_certificate(server.folder, "server", "ca", host)
    for name in ["server.key", "server.crt"]:
        shutil.copy(server.folder / name, server.data)
        shutil.chown(server.data / name, "postgres", "postgres")
    server.psql("postgres", "--command", "ALTER SYSTEM SET ssl = on")
    server.as_postgres("pg_ctl", "--pgdata", server.data, "--wait", "--silent", "--log", server.folder / "log", "restart")
    return ca


def connect(server, url):
    """Asks whether the connection has TLS; returns what psql prints, or its complaint."""
    result = subprocess.run(
        [str(server.programs / "psql"), "--no-psqlrc", "--no-align", "--tuples-only", "--command",
         "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", url],
        # No certificate of the caller's home is believed instead.
        capture_output=True, text=True, env={**os.environ, "HOME": str(server.folder / "no-home")})
    return (result.stdout or result.stderr).strip()


def check_connections(urls):
    """What is wrong with the connection strings, by trying them."""
    hosts = {re.search(r"@([^/:?]+)", url).group(1) for url in urls}
    if len(hosts) != 1:
        return [f"{EXAMPLE.name}: one host is expected, not {sorted(hosts)}"]
    faults = []
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", PASSWORDS) as server:
        ca, other = use_tls(server, hosts.pop()), make_ca(server.folder, "other")
        for url in urls:
            role = re.search(r"//(\w+):PASSWORD@", url).group(1)
            url = url.replace("PASSWORD", PASSWORDS[role]) + f"&hostaddr=127.0.0.1&port={server.port}"
            tries = [
                (re.sub(r"(?<=sslrootcert=)[^&]*", str(ca), url), "t"),
                (re.sub(r"(?<=sslrootcert=)[^&]*", str(other), url), "certificate verify failed"),
                (re.sub(r"&sslrootcert=[^&]*", "", url), "root certificate file"),
            ]
            for tried, expected in tries:
                told = connect(server, tried)
                if told != expected and (expected == "t" or expected not in told):
                    faults.append(f"{role}: expected {expected!r}, not {told!r}")
    return faults


shipped = [ROOT / "docker-compose.yml", *(ROOT / "deploy").rglob("*")]
faults = [
    f"{path.relative_to(ROOT)}: verify-full without sslrootcert: libpq finds no certificate to check the server by"
    for path in shipped if path.is_file()
    for line in path.read_text().splitlines() if "sslmode=verify-full" in line and "sslrootcert=/" not in line]
urls = re.findall(r"^ +\w*DATABASE_URL: (\S+)$", EXAMPLE.read_text(), re.M)
if len(urls) != 3:
    faults.append(f"{EXAMPLE.name}: {len(urls)} connection strings, not 3")
faults += check_connections(urls)
for fault in faults:
    print(f"check-deploy: {fault}", file=sys.stderr)
print(f"check-deploy: {len(urls)} connection strings tried against a PostgreSQL with TLS, {len(faults)} faults")
sys.exit(1 if faults else 0)
