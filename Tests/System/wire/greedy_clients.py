"""Clients that take what they can get: greedy_clients.py PORT target=TARGET [slow=N] [silent=N] [idle=N] [endless=N] [heads=N] [resets=N]

    slow     sends a byte a second: half of them a request's head, the others the body of POST /events
    silent   sends requests as long as the server takes them, and reads no response
    idle     sends one request, and nothing more
    endless  sends one request behind the other without end, and reads the responses
    heads    sends the head of POST /events for a body of 1 MiB, and nothing of the body
    resets   sends a costly search, and resets the connection at once

Each that loses its connection opens another one. They come from as many addresses as the limit of connections of one
address makes necessary. Prints a line when all have connected; at SIGTERM, what happened to each kind, as JSON.
"""

import json
import selectors
import signal
import socket
import struct
import sys
import time

PORT = int(sys.argv[1])
COUNTS = {kind: int(count) for kind, count in (argument.split("=") for argument in sys.argv[3:])}
CLIENTS_OF_AN_ADDRESS = 250
# Those that are due in a hundredth of a second send together: with more of them, a normal request would wait for a crowd
# that sends at one moment, which clients of their own don't; with less, the wake-ups would disturb what is measured.
TICKS_A_SECOND, CONNECTIONS_A_TICK = 100, 10
REQUEST = b"GET /locations?lat=37.33&long=-121.89 HTTP/1.1\r\nHost: localhost\r\n\r\n"
EVENTS = b"POST /events HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
ANNOUNCED = EVENTS.replace(b"1000", b"1048576")
MANY_REQUESTS = REQUEST * 1000
SEARCH = REQUEST.replace(b"/locations?lat=37.33&long=-121.89", sys.argv[2].partition("=")[2].encode())
OUTCOMES = {b"HTTP/1.1 408": "timed out", b"HTTP/1.1 429": "refused", b"HTTP/1.1 503": "refused", b"": "closed"}
# What becomes readable or writable is looked at; what a slow client sends is due at its tick.
EVENTS_OF = {"slow": selectors.EVENT_READ, "idle": selectors.EVENT_READ, "silent": selectors.EVENT_WRITE,
             "endless": selectors.EVENT_READ | selectors.EVENT_WRITE, "heads": selectors.EVENT_READ,
             "resets": selectors.EVENT_READ}


class Client:
    """One client, which has a connection or waits for one."""

    def __init__(self, kind, number):
        self.kind, self.number, self.socket, self.sent = kind, number, None, 0

    def connect(self):
        self.socket = socket.socket()
        # connect() chooses the port: one that another address uses will do, too (ip(7)).
        self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_BIND_ADDRESS_NO_PORT, 1)
        if self.kind == "silent":
            # Little room for responses, so that the server soon can't send any more.
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.bind((f"127.0.1.{1 + self.number // CLIENTS_OF_AN_ADDRESS}", 0))
        self.socket.connect(("127.0.0.1", PORT))
        self.socket.setblocking(False)
        first = {"idle": REQUEST, "heads": ANNOUNCED, "resets": SEARCH}.get(self.kind)
        self.sent = self.socket.send(first) if first else 0
        if self.kind == "resets":
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def send_slowly(self):
        # The head before a slow body goes at once.
        text, first = (REQUEST, 1) if self.number % 2 == 0 else (EVENTS + b" " * 1000, len(EVENTS))
        count = first if self.sent == 0 else 1
        self.sent += self.socket.send(text[self.sent:self.sent + count])

    def send_on(self):
        """Goes on where the system took no more, inside a request or not."""
        self.sent = (self.sent + self.socket.send(MANY_REQUESTS[self.sent:])) % len(MANY_REQUESTS)


class Crowd:
    """All clients, and what happened to them."""

    def __init__(self):
        kinds = [kind for kind, count in COUNTS.items() for _ in range(count)]
        self.clients = [Client(kind, number) for number, kind in enumerate(kinds)]
        self.waiting, self.hasConnected, self.isOver = list(self.clients), False, False
        self.selector = selectors.DefaultSelector()
        self.counts = {kind: {"connections": 0, "responses": 0, "timed out": 0, "refused": 0, "closed": 0, "reset": 0}
                       for kind in COUNTS}

    def connect(self):
        for client in self.waiting[:CONNECTIONS_A_TICK]:
            client.connect()
            self.counts[client.kind]["connections"] += 1
            self.selector.register(client.socket, EVENTS_OF[client.kind], client)
        connected = self.waiting[:CONNECTIONS_A_TICK]
        del self.waiting[:CONNECTIONS_A_TICK]
        for client in connected:
            if client.kind == "resets":
                self.lose(client, "reset")
        if not self.hasConnected and all(client.sent or client.socket for client in self.clients):
            self.hasConnected = True
            print("connected", flush=True)

    def lose(self, client, outcome):
        self.counts[client.kind][outcome] += 1
        self.selector.unregister(client.socket)
        client.socket.close()
        client.socket = None
        self.waiting.append(client)

    def receive(self, client):
        data = client.socket.recv(1 << 18)
        outcome = OUTCOMES.get(data[:12])
        if outcome:
            return self.lose(client, outcome)
        self.counts[client.kind]["responses"] += data.count(b"HTTP/1.1 200")

    def attempt(self, client, action):
        try:
            if client.socket:
                action(client)
        except BlockingIOError:
            pass
        except OSError:
            self.lose(client, "reset")

    def run(self):
        tick, due = 0, time.monotonic()
        while not self.isOver:
            if time.monotonic() >= due:
                self.connect()
                for client in self.clients[tick % TICKS_A_SECOND::TICKS_A_SECOND]:
                    if client.kind == "slow":
                        self.attempt(client, Client.send_slowly)
                tick, due = tick + 1, due + 1 / TICKS_A_SECOND
            for key, events in self.selector.select(max(0, due - time.monotonic())):
                if events & selectors.EVENT_READ:
                    self.attempt(key.data, self.receive)
                if events & selectors.EVENT_WRITE:
                    self.attempt(key.data, Client.send_on)

    def end(self, *_):
        self.isOver = True


def main():
    crowd = Crowd()
    signal.signal(signal.SIGTERM, crowd.end)
    crowd.run()
    print(json.dumps(crowd.counts))


main()
