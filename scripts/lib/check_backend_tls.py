"""Puts deploy/haproxy/haproxy.cfg before deploy/haproxy/sidecar.cfg before a server, with TLS between the two, and tries who
gets through: the balancer with the right certificates, nobody else."""

import http.client
import os
import shutil
import ssl
import sys
import tempfile
from pathlib import Path

from certificates import make_ca, make_certificate
from processes import end, start, wait_for
from scratch_postgres import free_port

ROOT = Path(__file__).resolve().parent.parent.parent
# As load-balancing.md has it, but for the folder.
BACKEND_TLS = ("ssl verify required ca-file {folder}/{ca}.crt {certificate} sni str(poi) check-sni poi verifyhost poi")
HEALTH, DATA = "/livez", "/locations?lat=37&long=-121&limit=1"


def fail(text):
    sys.exit(f"check-deploy: TLS to a server: {text}")


def make_certificates(folder):
    """A CA for servers, one for balancers and one of somebody else; certificates for a server and a balancer."""
    for ca in ["servers", "balancers", "others"]:
        make_ca(folder, ca)
    for name, ca in [("server", "servers"), ("balancer", "balancers")]:
        make_certificate(folder, name, ca, "poi")
        (folder / f"{name}.pem").write_text((folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())


class Site:
    """A server, its sidecar, and balancers."""

    def __init__(self, folder):
        self.folder, self.processes = folder, []
        self.server, self.sidecar = free_port(), free_port()
        # With one server, its address stands in place of the DNS' name.
        text = (ROOT / "deploy/haproxy/haproxy.cfg").read_text()
        template = next(line for line in text.splitlines() if line.strip().startswith("server-template "))
        shutil.copytree(ROOT / "deploy/haproxy", folder / "haproxy")
        (folder / "haproxy/haproxy.cfg").write_text(text.replace(template, f"    server api 127.0.0.1:{self.sidecar}"))

    def start(self, command, **environment):
        self.processes.append(start(command, self.folder / f"log{len(self.processes)}", environment))

    def start_balancer(self, ca="servers", certificate=True):
        """The port of a balancer that takes requests."""
        port = free_port()
        options = BACKEND_TLS.format(folder=self.folder, ca=ca, certificate=f"crt {self.folder}/balancer.pem" if certificate else "")
        self.start(["haproxy", "-f", "haproxy.cfg"], POI_LISTEN=f"127.0.0.1:{port}", POI_BACKEND_TLS=options)
        wait_for(lambda: status(port) is not None, 60, "a balancer doesn't respond")
        return port

    def end(self):
        for process in self.processes:
            end(process)


def status(port, context=None, target=HEALTH, client="127.0.0.1"):
    """Of a request from that address; None where there is no response."""
    kind = http.client.HTTPSConnection if context else http.client.HTTPConnection
    options = {"context": context} if context else {}
    connection = kind("127.0.0.1", port, timeout=10, source_address=(client, 0), **options)
    try:
        connection.request("GET", target)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def check(site):
    # One request for each client, so that its number shows whom the server takes for one.
    site.start([os.environ["POI_BINARY"], "dev", "--port", str(site.server)], POI_TRUSTED_PROXIES="127.0.0.1",
               POI_RATE_LIMIT="1/h", POI_STATE_DIR=f"{site.folder}/state")
    wait_for(lambda: status(site.server), 60, "the server doesn't respond")
    site.start(["haproxy", "-f", ROOT / "deploy/haproxy/sidecar.cfg"], POI_LISTEN_TLS=f"127.0.0.1:{site.sidecar}",
               POI_CERTIFICATES=f"{site.folder}/server.pem", POI_BALANCER_CA=f"{site.folder}/balancers.crt",
               POI_SIDECAR_SERVER=f"127.0.0.1:{site.server}")
    os.chdir(site.folder / "haproxy")
    stranger = ssl.create_default_context(cafile=site.folder / "servers.crt")
    stranger.check_hostname = False

    port = site.start_balancer()
    wait_for(lambda: status(port) == 200, 60, "no request gets through")
    found = [status(port, target=DATA, client=client) for client in ["127.0.0.8", "127.0.0.8", "127.0.0.9"]]
    if found != [200, 429, 200]:
        fail(f"the server doesn't know its clients' addresses: {found}")
    for what, found, expected in [
        ("a balancer that trusts another CA", status(site.start_balancer(ca="others")), 503),
        ("a balancer without a certificate", status(site.start_balancer(certificate=False)), 503),
        ("plain HTTP", status(site.sidecar), None),
        ("a client without a certificate", status(site.sidecar, stranger), None),
    ]:
        if found != expected:
            fail(f"{what} gets {found}")


def main():
    with tempfile.TemporaryDirectory() as name:
        # PostgreSQL, started by root, runs as a user of its own and has to get there.
        Path(name).chmod(0o755)
        site = Site(Path(name))
        make_certificates(site.folder)
        try:
            check(site)
        finally:
            site.end()
    print("check-deploy: TLS to a server: the balancer gets through, with its client's address, and nobody else")


try:
    main()
except TimeoutError as error:
    fail(error)
