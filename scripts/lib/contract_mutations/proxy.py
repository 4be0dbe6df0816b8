"""The proxy: it stands before servers while a row is run, reads each message whole, and lets the row change it."""

import copy
import dataclasses
import gzip
import http.client
import json
import sys
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote_plus


class Headers(list):
    """Pairs of names and values, with their order and case."""

    def get(self, name):
        """The values of a name, joined; empty where there is none."""
        return ", ".join(value for known, value in self if known.lower() == name.lower())

    def drop(self, name):
        self[:] = [pair for pair in self if pair[0].lower() != name.lower()]

    def set(self, name, value):
        """Replaces a header, or adds it."""
        self.drop(name)
        self.append((name, value))


@dataclass
class Request:
    method: str
    target: str
    headers: Headers
    body: bytes

    def copy(self):
        return dataclasses.replace(self, headers=Headers(self.headers))

    @property
    def path(self):
        return self.target.partition("?")[0]

    @property
    def pairs(self):
        """The query's parameters as they are spelled."""
        query = self.target.partition("?")[2]
        return [tuple(part.partition("=")[::2]) for part in query.split("&")] if query else []

    @pairs.setter
    def pairs(self, pairs):
        query = "&".join(f"{name}={value}" for name, value in pairs)
        self.target = self.path + ("?" + query if query else "")

    def parameter(self, name):
        """A parameter's first value, decoded; None where there is none."""
        return next((unquote_plus(value) for known, value in self.pairs if unquote_plus(known) == name), None)

    def drop(self, name):
        if self.parameter(name) is not None:
            self.pairs = [pair for pair in self.pairs if unquote_plus(pair[0]) != name]


@dataclass
class Response:
    """A response with its body, decompressed; `sent_body`, if any, is sent just so."""

    status: int
    reason: str
    headers: Headers
    body: bytes
    sent_body: bytes | None = None

    @property
    def media_type(self):
        return self.headers.get("Content-Type").partition(";")[0].strip().lower()

    @property
    def document(self):
        """The body as JSON, a new copy each time; None where it isn't JSON."""
        try:
            return json.loads(self.body) if self.media_type.endswith("json") else None
        except ValueError:
            return None

    @document.setter
    def document(self, value):
        self.body = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()

    def data(self, to_head):
        """What is sent, to HEAD without the body."""
        body, headers = self.sent_body, Headers(self.headers)
        if body is None:
            is_compressed = headers.get("Content-Encoding") == "gzip" and self.body
            body = gzip.compress(self.body, mtime=0) if is_compressed else self.body
        headers.drop("Transfer-Encoding")
        if self.status in (204, 304):
            body = b""
        elif not to_head or headers.get("Content-Length"):
            headers.set("Content-Length", str(len(body)))
        lines = [f"HTTP/1.1 {self.status} {self.reason}", *(f"{name}: {value}" for name, value in headers), "", ""]
        return "\r\n".join(lines).encode("latin-1") + (b"" if to_head else body)


class Exchange:
    """A request, what the server is asked for it, and the `memory` of the row's run."""

    def __init__(self, request, proxy, upstream):
        self.request, self.upstream, self.keys, self.memory = request, upstream, proxy.keys, proxy.memory
        # What the client would get without the row.
        self.original = None

    def ask(self, request=None):
        """The server's response to a request, by default to the client's own."""
        request = request or self.request
        response = self.send(request)
        if request.method == "HEAD" and response.headers.get("Content-Length"):
            # With the body that GET has: where a row changes that, the length changes, too.
            again = dataclasses.replace(request.copy(), method="GET")
            again.headers.set("X-Request-Id", response.headers.get("X-Request-Id"))
            response.body = self.send(again).body
        if request == self.request:
            self.original = copy.deepcopy(response)
        return response

    def send(self, request):
        try:
            return self.send_once(request)
        except ConnectionError:
            # The server may have ended a connection that nobody used.
            self.upstream.close()
            return self.send_once(request)

    def send_once(self, request):
        self.upstream.putrequest(request.method, request.target, skip_host=True, skip_accept_encoding=True)
        if request.body:
            request.headers.set("Content-Length", str(len(request.body)))
        for name, value in request.headers:
            self.upstream.putheader(name, value.encode("latin-1"))
        self.upstream.endheaders(request.body or None)
        received = self.upstream.getresponse()
        response = Response(received.status, received.reason, Headers(received.getheaders()), received.read())
        if response.headers.get("Content-Encoding") == "gzip" and response.body:
            response.body = gzip.decompress(response.body)
        return response


class Recorded:
    """An exchange of a run without changes, for a row that would have been there."""

    def __init__(self, exchange, memory):
        self.request, self.original, self.keys, self.memory = exchange.request, exchange.original, exchange.keys, memory
        # Whether the row asks something else, of which only a server knows what comes of it.
        self.has_asked = False

    def ask(self, request=None):
        self.has_asked = self.has_asked or (request or self.request) != self.request
        return dataclasses.replace(self.original, headers=Headers(self.original.headers))

    def is_changed_by(self, row):
        return row.handler(self) != self.original or self.has_asked


class Handler(BaseHTTPRequestHandler):
    """A client's connection, with one of its own to the server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __getattr__(self, name):
        # `do_GET` and so on.
        if name.startswith("do_"):
            return self.pass_on
        raise AttributeError(name)

    def pass_on(self):
        if "upstream" not in vars(self):
            self.upstream = http.client.HTTPConnection("127.0.0.1", self.server.upstream_port, timeout=60)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.requestline.split(" ")[1], Headers(self.headers.items()), body)
        request.headers.drop("Expect")
        proxy, exchange = self.server.proxy, Exchange(request, self.server.proxy, self.upstream)
        proxy.exchanges.append(exchange)
        response = proxy.row.handler(exchange)
        proxy.changes += response != exchange.original
        self.wfile.write(response.data(request.method == "HEAD"))
        if response.headers.get("Connection").lower() == "close":
            self.close_connection = True

    def log_message(self, *_):
        """Says nothing."""


class Listener(ThreadingHTTPServer):
    """A port before a server's."""

    request_queue_size = 128

    def __init__(self, proxy, upstream_port):
        super().__init__(("127.0.0.1", 0), Handler)
        self.proxy, self.upstream_port = proxy, upstream_port
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, *_):
        # A row's own fault is the harness's: it must not look like one that the suite has noticed. That the suite goes
        # away is none.
        if not isinstance(sys.exception(), ConnectionError):
            self.proxy.fault = repr(sys.exception())


class Proxy:
    """One run of a row: as a context manager it listens before servers, at its `urls`."""

    def __init__(self, row, keys, ports):
        self.row, self.keys = row, keys
        self.memory, self.changes, self.exchanges, self.fault = {}, 0, [], None
        self.listeners = [Listener(self, port) for port in ports]
        self.urls = [f"http://127.0.0.1:{listener.server_address[1]}" for listener in self.listeners]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for listener in self.listeners:
            listener.shutdown()
            listener.server_close()
