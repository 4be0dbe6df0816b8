"""The balancers' files as they are shipped, with and without TLS, by the balancers themselves; and TLS between balancer and
server, and between server and database: who has the right certificates gets through, nobody else. What they send again where a
response is lost."""

import json
import os
import re
import shutil
import ssl
import subprocess
from contextlib import ExitStack, contextmanager
from http.client import HTTPSConnection
from types import SimpleNamespace

import pytest

from certificates import make_ca, make_certificate
from contract_mutations.proxy import Proxy
from processes import running, wait_for
from scratch_postgres import free_port
from servers import ROOT, Client, Server
from service_database import PASSWORDS
from shipped_haproxy import copy_haproxy

pytestmark = pytest.mark.alone

# Where Debian has the balancers.
os.environ["PATH"] += ":/usr/sbin"


@pytest.fixture
def shipped(tmp_path):
    """A copy of the balancers' files with certificates, which belong to whoever runs the service."""
    for balancer in ["haproxy", "nginx"]:
        shutil.copytree(ROOT / "deploy" / balancer, tmp_path / balancer)
        (tmp_path / balancer / "certificates").mkdir()
    make_ca(tmp_path, "poi")
    (tmp_path / "poi.crt").rename(tmp_path / "nginx/certificates/poi.pem")
    (tmp_path / "poi.key").rename(tmp_path / "nginx/certificates/poi.key")
    (tmp_path / "haproxy/certificates/poi.pem").write_text(
        "".join((tmp_path / "nginx/certificates" / name).read_text() for name in ["poi.pem", "poi.key"]))
    return tmp_path


def check(folder, *command, **variables):
    """Runs a balancer's own check, which has to succeed without a warning."""
    done = subprocess.run(command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **variables})
    assert done.returncode == 0 and "warn" not in done.stdout.lower(), done.stdout


@pytest.mark.parametrize("files", [["haproxy.cfg"], ["haproxy.cfg", "tls.cfg"], ["sidecar.cfg"]], ids=lambda files: files[-1])
def test_haproxy_accepts_its_files(shipped, files):
    check(shipped, "haproxy", "-c", *[part for file in files for part in ["-f", f"haproxy/{file}"]],
          POI_CERTIFICATES=str(shipped / "haproxy/certificates/poi.pem"),
          POI_BALANCER_CA=str(shipped / "nginx/certificates/poi.pem"))


@pytest.mark.parametrize("has_tls", [False, True])
def test_nginx_accepts_its_files(shipped, has_tls):
    configuration = shipped / "nginx/nginx.conf"
    if has_tls:
        text = configuration.read_text()
        configuration.write_text(text.replace("# include tls.conf;", "include tls.conf;"))
        assert configuration.read_text() != text
    check(shipped, "nginx", "-t", "-p", "nginx", "-c", "nginx.conf", "-e", "stderr", "-g", f"pid {shipped}/nginx.pid;")


# Between a balancer and a server

# As fleet.md has it, but for the folder.
BACKEND_TLS = "ssl verify required ca-file {folder}/{ca}.crt {certificate} sni str(poi) check-sni poi verifyhost poi"
# One request for each client, so that its number shows whom the server takes for one.
SETTINGS = {"POI_TRUSTED_PROXIES": "127.0.0.1", "POI_RATE_LIMIT": "1/h"}
HEALTH, DATA = "/livez", "/locations?lat=37&long=-121&limit=1"


class Site:
    """A server's sidecar, and balancers, which end with `stack`."""

    def __init__(self, folder, stack):
        self.folder, self.stack, self.sidecar = folder, stack, free_port()
        for ca in ["servers", "balancers", "others"]:
            make_ca(folder, ca)
        for name in ["server", "balancer"]:
            make_certificate(folder, name, f"{name}s", "poi")
            (folder / f"{name}.pem").write_text((folder / f"{name}.crt").read_text() + (folder / f"{name}.key").read_text())
        self.haproxy = copy_haproxy(folder, [self.sidecar])

    def start(self, file, **environment):
        self.stack.enter_context(running([*self.haproxy, file], self.folder / "log", environment))

    def start_balancer(self, ca="servers", certificate=True):
        """The port of a balancer that takes requests."""
        port = free_port()
        options = BACKEND_TLS.format(folder=self.folder, ca=ca, certificate=f"crt {self.folder}/balancer.pem" if certificate else "")
        self.start("haproxy.cfg", POI_LISTEN=f"127.0.0.1:{port}", POI_BACKEND_TLS=options)
        wait_for(lambda: status(port), 60, "a balancer responds")
        return port


@pytest.fixture
def site(server, tmp_path):
    with ExitStack() as stack:
        site = Site(tmp_path, stack)
        site.start(ROOT / "deploy/haproxy/sidecar.cfg", POI_LISTEN_TLS=f"127.0.0.1:{site.sidecar}",
                   POI_CERTIFICATES=f"{tmp_path}/server.pem", POI_BALANCER_CA=f"{tmp_path}/balancers.crt",
                   POI_SIDECAR_SERVER=f"127.0.0.1:{server.port}")
        yield site


def status(port, context=None, target=HEALTH, client="127.0.0.1"):
    """Of a request from that address; 0 where there is no response."""
    tls = {"connection": HTTPSConnection, "context": context} if context else {}
    return Client(port, source_address=(client, 0), **tls).request("GET", target)[0]


def test_only_the_balancer_gets_through_to_a_server_with_tls(site):
    port = site.start_balancer()
    wait_for(lambda: status(port) == 200, 60, "a request gets through")
    clients = ["127.0.0.8", "127.0.0.8", "127.0.0.9"]
    assert [status(port, target=DATA, client=client) for client in clients] == [200, 429, 200], "whom the server takes for one"
    assert status(site.start_balancer(ca="others")) == 503
    assert status(site.start_balancer(certificate=False)) == 503
    stranger = ssl.create_default_context(cafile=site.folder / "servers.crt")
    stranger.check_hostname = False
    assert status(site.sidecar) == 0, "plain HTTP"
    assert status(site.sidecar, stranger) == 0, "a client without a certificate"


# What is sent again

REPORT = {"id": "5c1f2e2a-7c55-4b1e-9c5e-0b6b2b2c9d11", "place": 3, "reason": "closed"}


@contextmanager
def balanced(kind, folder, ports):
    """The port of a balancer before servers on these ports."""
    port = free_port()
    if kind == "haproxy":
        command = [*copy_haproxy(folder, ports), "haproxy.cfg"]
    else:
        shutil.copytree(ROOT / "deploy/nginx", folder / "nginx")
        file = folder / "nginx/nginx.conf"
        text = file.read_text().replace("listen 8080;", f"listen 127.0.0.1:{port};").replace("listen [::]:8080;", "")
        text = re.sub(r"(?: +server 127\.0\.0\.1:\d+ (.*)\n)+",
                      lambda found: "".join(f"server 127.0.0.1:{server} {found[1]}\n" for server in ports), text)
        file.write_text(text)
        command = ["nginx", "-p", folder / "nginx", "-c", "nginx.conf", "-e", "stderr", "-g", f"daemon off; pid {folder}/nginx.pid;"]
    with running(command, folder / "balancer.log", {"POI_LISTEN": f"127.0.0.1:{port}"}):
        wait_for(lambda: status(port) == 200, 60, "a balancer that has a server")
        yield port


@pytest.mark.parametrize("kind", ["haproxy", "nginx"])
def test_only_what_may_come_twice_is_sent_again_where_a_response_is_lost(poi, tmp_path, kind):
    asked = []

    def lose_first(exchange):
        """The server does what is asked; the connection ends without its response."""
        response, what = exchange.ask(), (exchange.request.method, exchange.request.target)
        if what[0] != "GET":
            asked.append(what)
            if asked.count(what) == 1:
                raise ConnectionError
        return response

    # More servers than lost responses: nginx leaves out one that has failed for a while.
    with Server(poi, settings={"POI_REPORTS": "on"}) as server, \
            Proxy(SimpleNamespace(handler=lose_first), {}, [server.port] * 5) as proxy, \
            balanced(kind, tmp_path, [listener.server_address[1] for listener in proxy.listeners]) as port:
        key = re.search("editor's key: (.*)", server.output)[1]
        editor = {"Authorization": f"Bearer {key}"}

        def send(method, target, body=None, **headers):
            """The status, and how often a server was asked."""
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            # On a connection of its own, since HAProxy ends one that was used without a response. The body comes after the head.
            status, _, _ = Client(port).request(method, target, {**editor, **headers}, body and json.dumps(body).encode())
            return status, asked.count((method, target))

        def versions(place):
            return len(server.json(f"/locations/{place}/versions", editor))

        assert send("POST", "/reports", REPORT, Content_Type="application/json") == (201, 2)
        assert [report["id"] for report in server.json("/reports", editor)] == [REPORT["id"]]
        patch = {"Content_Type": "application/merge-patch+json", "If_Match": "*"}
        assert send("PATCH", "/locations/1", {"name": "A"}, **patch) == (502, 1)
        assert send("DELETE", "/locations/2", If_Match="*") == (502, 1)
        with_key = send("PATCH", "/locations/3", {"name": "B"}, Idempotency_Key="k", **patch)
        assert with_key == ((200, 2) if kind == "haproxy" else (502, 1))
        assert [versions(place) for place in (1, 2, 3)] == [1, 1, 1]


# Between a server and its database

EXAMPLE = ROOT / "deploy/kubernetes/secrets.example.yaml"


def test_nothing_shipped_verifies_a_certificate_by_no_ca():
    """libpq would find no certificate to check the server by."""
    files = [ROOT / "docker-compose.yml", *(path for path in (ROOT / "deploy").rglob("*") if path.is_file())]
    assert not [(path, line) for path in files for line in path.read_text().splitlines()
                if "sslmode=verify-full" in line and "sslrootcert=/" not in line]


def test_the_examples_connection_strings_get_through_with_the_right_ca_only(database):
    """As they stand there: with the host's name, the role, the database and all parameters. What is replaced is the password
    and where the CA's file is; hostaddr and port lead to a server here."""
    urls = re.findall(r"^ +\w*DATABASE_URL: (\S+)$", EXAMPLE.read_text(), re.M)
    assert len(urls) == 3
    host, = {re.search(r"@([^/:?]+)", url).group(1) for url in urls}
    ca, other = make_ca(database.folder, "ca"), make_ca(database.folder, "other")
    make_certificate(database.folder, "server", "ca", host)
    for name in ["server.key", "server.crt"]:
        shutil.copy(database.folder / name, database.data)
        shutil.chown(database.data / name, "postgres", "postgres")
    database.psql("postgres", "--command", "ALTER SYSTEM SET ssl = on")
    database.stop()
    database.start()
    for url in urls:
        role = re.search(r"//(\w+):PASSWORD@", url).group(1)
        url = url.replace("PASSWORD", PASSWORDS[role]) + f"&hostaddr=127.0.0.1&port={database.port}"
        assert connect(database, re.sub(r"(?<=sslrootcert=)[^&]*", str(ca), url)) == "t"
        assert "certificate verify failed" in connect(database, re.sub(r"(?<=sslrootcert=)[^&]*", str(other), url))
        assert "root certificate file" in connect(database, re.sub(r"&sslrootcert=[^&]*", "", url))


def connect(database, url):
    """Asks whether the connection has TLS; returns what psql prints, or its complaint."""
    result = subprocess.run(
        [database.programs / "psql", "--no-psqlrc", "--no-align", "--tuples-only", "--command",
         "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()", url],
        # No certificate of the caller's home is believed instead.
        capture_output=True, text=True, env={**os.environ, "HOME": str(database.folder / "no-home")})
    return (result.stdout or result.stderr).strip()
