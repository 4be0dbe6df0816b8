"""The proxy: it stands before a server, with a port for each row that is run, and lets the row change what passes."""

import asyncio
import contextlib

from .messages import (LONGEST_HEAD, READ_ERRORS, Malformed, Request, head, parsed_head, read_chunks, read_response)

# A request that isn't there as a whole by then is passed on byte by byte: it is about bytes, not about a row.
PATIENCE = 1.0


class ServerGone(Exception):
    """The server has closed the connection instead of responding."""


class Exchange:
    """A request, what the server is asked for it, and what a run of a row remembers."""

    def __init__(self, request, server, memory, is_limited):
        self.request, self.server, self.memory, self.is_limited = request, server, memory, is_limited
        # Set by a row that changes what later responses are.
        self.original, self.has_effect = None, False

    async def ask(self, request=None):
        """The server's response to a request, by default to the client's own."""
        request = self.request if request is None else request
        response = await self.server.ask(request.copy())
        if response.framing == "none" and request.method == "HEAD" and response.headers.has("Content-Length"):
            response = await self.with_body(request, response)
        if request == self.request:
            self.original = response.copy()
        return response

    async def with_body(self, request, response):
        """The response to HEAD with the body that GET has: where a row changes that, the length changes too."""
        again = request.copy()
        again.method = "GET"
        if (request_id := response.headers.get("X-Request-Id")) is not None:
            again.headers.set("X-Request-Id", request_id)
        response.body, response.framing = (await self.server.ask(again)).body, "length"
        return response

    def is_changed(self, response):
        """Whether the client gets something else than it would without the row."""
        return self.has_effect or self.original is None or self.original != response


class Upstream:
    """The server as one client connection sees it, over a connection of its own that is made anew where it ended."""

    def __init__(self, address):
        self.address = address
        self.reader = self.writer = None

    async def connect(self):
        self.reader, self.writer = await asyncio.open_connection(*self.address, limit=LONGEST_HEAD)

    def close(self):
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None

    async def ask(self, request):
        if self.writer is not None:
            with contextlib.suppress(*READ_ERRORS):
                return await self.ask_once(request)
            self.close()
        try:
            await self.connect()
            return await self.ask_once(request)
        except READ_ERRORS as error:
            raise ServerGone from error

    async def ask_once(self, request):
        self.writer.write(request.data())
        # The response may come before the body is sent: then the server reads no more of it.
        sent = asyncio.ensure_future(self.writer.drain())
        try:
            response = await read_response(self.reader, request.method)
        finally:
            is_sent = sent.done() and not sent.cancelled() and sent.exception() is None
            sent.cancel()
        is_last = (response.headers.get("Connection") or "").lower() == "close"
        if is_last or not is_sent or response.framing == "close":
            self.close()
        return response


class Tunnel(Exception):
    """A request that can't be read; `data` is what was there of it."""

    def __init__(self, data):
        super().__init__()
        self.data = data


async def read_request(reader, writer):
    """The next request; None at the end of the connection."""
    data = b""
    try:
        data = await reader.read(1)
        if not data:
            return None
        async with asyncio.timeout(PATIENCE):
            data += await reader.readuntil(b"\r\n\r\n")
            line, headers = parsed_head(data)
            method, target, version = line.split(" ")
            if version != "HTTP/1.1":
                raise Malformed(version)
            if (headers.get("Expect") or "").lower() == "100-continue":
                headers.drop("Expect")
                writer.write(head("HTTP/1.1 100 Continue", []))
            body, raw_body = await read_body(reader, headers)
            return Request(method, target, headers, body, raw_body)
    except asyncio.LimitOverrunError as error:
        raise Tunnel(data + await reader.read(error.consumed)) from error
    except (TimeoutError, asyncio.IncompleteReadError, Malformed, ValueError) as error:
        partial = getattr(error, "partial", b"") or b""
        raise Tunnel(data + partial) from error


async def read_body(reader, headers):
    """A request's body, and how it is on the wire."""
    if headers.has("Transfer-Encoding"):
        return await read_chunks(reader)
    body = await reader.readexactly(int(headers.get("Content-Length") or 0))
    return body, body


class Proxy:
    """One run of a row: as a context manager it listens, before a server and perhaps before one that limits requests."""

    def __init__(self, row, keys, *addresses):
        self.row, self.addresses = row, addresses
        self.memory, self.changes, self.requests, self.fault = {"keys": keys}, 0, 0, None
        self.listeners, self.clients = [], set()

    async def __aenter__(self):
        for address in self.addresses:
            self.listeners.append(await asyncio.start_server(
                lambda reader, writer, address=address: self.serve(reader, writer, address), "127.0.0.1", 0,
                limit=LONGEST_HEAD))
        return self

    async def __aexit__(self, *_):
        for listener in self.listeners:
            listener.close()
        for client in self.clients:
            client.cancel()
        await asyncio.gather(*self.clients, return_exceptions=True)

    @property
    def urls(self):
        return [f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}" for listener in self.listeners]

    async def serve(self, reader, writer, address):
        """A client's connection, to its end."""
        upstream = Upstream(address)
        task = asyncio.current_task()
        self.clients.add(task)
        try:
            while (request := await read_request(reader, writer)) is not None:
                if not await self.respond(request, writer, upstream):
                    break
        except Tunnel as tunnel:
            with contextlib.suppress(asyncio.CancelledError):
                await pass_on(tunnel.data, reader, writer, address)
        except (*READ_ERRORS, ServerGone, asyncio.CancelledError):
            pass
        finally:
            upstream.close()
            writer.close()
            self.clients.discard(task)

    async def respond(self, request, writer, upstream):
        """Whether the connection goes on."""
        exchange = Exchange(request, upstream, self.memory, upstream.address != self.addresses[0])
        self.requests += 1
        try:
            response = await self.row.handler(exchange)
        except ServerGone:
            raise
        except Exception as error:
            # A row's own fault is the harness's: it must not look like one that the suite has noticed.
            self.fault = f"{type(error).__name__}: {error}"
            raise ServerGone from error
        self.changes += exchange.is_changed(response)
        for interim in response.interim:
            writer.write(interim)
        writer.write(response.data(request.method == "HEAD"))
        await writer.drain()
        closes = [message.headers.get("Connection") for message in (request, response)]
        return response.framing != "close" and not any((value or "").lower() == "close" for value in closes)


async def pass_on(data, reader, writer, address):
    """Passes bytes on in both directions, to the end of either."""
    other_reader, other_writer = await asyncio.open_connection(*address)
    other_writer.write(data)

    async def pump(source, sink):
        # Not a ConnectionError where the other end has gone already.
        with contextlib.suppress(OSError):
            while piece := await source.read(1 << 16):
                sink.write(piece)
                await sink.drain()
            if sink.can_write_eof():
                sink.write_eof()

    upward = asyncio.ensure_future(pump(reader, other_writer))
    await pump(other_reader, writer)
    upward.cancel()
    other_writer.close()
