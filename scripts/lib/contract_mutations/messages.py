"""Requests and responses of HTTP/1.1 as they are on the wire: headers keep their order, case and repetition."""

import asyncio
import copy
import gzip
import zlib
from urllib.parse import unquote_plus

from . import kept_json

# Longer than any head of the suite's; one beyond it is passed on unread.
LONGEST_HEAD = 1 << 20


class Malformed(Exception):
    """What was read is no message."""


class Headers(list):
    """Pairs of names and values."""

    def get(self, name):
        """The values of a name, joined; None where there is none."""
        values = [value for known, value in self if known.lower() == name.lower()]
        return ", ".join(values) if values else None

    def has(self, name):
        return self.get(name) is not None

    def drop(self, name):
        self[:] = [pair for pair in self if pair[0].lower() != name.lower()]

    def set(self, name, value):
        """Replaces the value where the header stands, or adds it at the end."""
        for index, (known, _) in enumerate(self):
            if known.lower() == name.lower():
                self[index] = (known, value)
                self[:] = self[:index + 1] + [pair for pair in self[index + 1:] if pair[0].lower() != name.lower()]
                return
        self.append((name, value))


class Request:
    """A request; `raw_body` has its framing, for as long as the body is what it was."""

    def __init__(self, method, target, headers, body=b"", raw_body=b""):
        self.method, self.target, self.headers = method, target, headers
        self.body, self.read_body, self.raw_body = body, body, raw_body

    def __eq__(self, other):
        return (self.method, self.target, self.headers, self.body) == (
            other.method, other.target, other.headers, other.body)

    def copy(self):
        made = copy.copy(self)
        made.headers = Headers(self.headers)
        return made

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
        self.pairs = [pair for pair in self.pairs if unquote_plus(pair[0]) != name]

    def data(self):
        """What is sent."""
        body = self.raw_body
        if self.body != self.read_body:
            self.headers.drop("Transfer-Encoding")
            self.headers.set("Content-Length", str(len(self.body)))
            body = self.body
        return head(f"{self.method} {self.target} HTTP/1.1", self.headers) + body


class Response:
    """A response with its body, decompressed.

    `framing` is `length`, `chunked`, `close` or `none`; `raw_body` replaces the body with what is to be sent just so.
    """

    def __init__(self, status, reason, headers, body=b"", framing="length"):
        self.status, self.reason, self.headers = status, reason, headers
        self.body, self.framing, self.raw_body = body, framing, None
        self.gzip_level, self.interim = 6, []

    def __eq__(self, other):
        return self.state() == other.state()

    def state(self):
        return (self.status, self.reason, self.headers, self.body, self.framing, self.raw_body, self.gzip_level,
                self.interim)

    def copy(self):
        made = copy.copy(self)
        made.headers, made.interim = Headers(self.headers), list(self.interim)
        return made

    @property
    def media_type(self):
        return (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()

    @property
    def document(self):
        """The body as JSON; None where it isn't JSON."""
        if not self.body or not self.media_type.endswith("json"):
            return None
        try:
            return kept_json.read(self.body)
        except ValueError:
            return None

    @document.setter
    def document(self, value):
        self.body = kept_json.write(value).encode()

    def data(self, to_head):
        """What is sent, to HEAD without the body."""
        body = self.raw_body
        if self.framing == "none" and self.status not in (204, 304) and not to_head:
            self.headers.set("Content-Length", "0")
        if body is None:
            compressed = self.headers.get("Content-Encoding") == "gzip"
            body = gzip.compress(self.body, self.gzip_level, mtime=0) if compressed and self.body else self.body
            if self.framing == "length" and self.headers.has("Content-Length"):
                self.headers.set("Content-Length", str(len(body)))
        if self.framing == "chunked":
            middle = len(body) // 2
            pieces = [piece for piece in (body[:middle], body[middle:]) if piece]
            body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
        if to_head or self.framing == "none" or self.status in (204, 304):
            body = b""
        return head(f"HTTP/1.1 {self.status} {self.reason}", self.headers) + body


def head(line, headers):
    return (line + "\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers) + "\r\n").encode("latin-1")


def parsed_head(data):
    """The first line and the headers of a head."""
    line, *lines = data.decode("latin-1")[:-4].split("\r\n")
    headers = Headers()
    for text in lines:
        name, colon, value = text.partition(":")
        if not colon or not name or name != name.strip():
            raise Malformed(text)
        headers.append((name, value.strip(" \t")))
    return line, headers


async def read_chunks(reader):
    """A chunked body, and how it was on the wire."""
    body, raw = b"", b""
    while True:
        line = await reader.readuntil(b"\r\n")
        raw += line
        size = int(line.partition(b";")[0], 16)
        if size == 0:
            break
        data = await reader.readexactly(size + 2)
        body, raw = body + data[:-2], raw + data
    while line != b"\r\n":
        line = await reader.readuntil(b"\r\n")
        raw += line
    return body, raw


async def read_response(reader, method):
    """The next response, with the interim ones before it."""
    interim = []
    while True:
        line, headers = parsed_head(await reader.readuntil(b"\r\n\r\n"))
        _, status, reason = (line + "  ").split(" ", 2)
        if not status.startswith("1"):
            break
        interim.append(head(line, headers))
    response = Response(int(status), reason.strip(), headers)
    response.interim = interim
    if method == "HEAD" or response.status in (204, 304):
        response.framing = "none"
    elif headers.has("Transfer-Encoding"):
        response.framing, response.body = "chunked", (await read_chunks(reader))[0]
    elif (length := headers.get("Content-Length")) is not None:
        response.body = await reader.readexactly(int(length))
    else:
        response.framing, response.body = "close", await reader.read()
    if headers.get("Content-Encoding") == "gzip" and response.body:
        response.body = gzip.decompress(response.body)
    return response


READ_ERRORS = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, Malformed, ValueError, zlib.error)
