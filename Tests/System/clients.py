"""Clients of a server that may be away, and their events."""

import http.client
import json
import time
import uuid


class Client:
    """One connection, which is made again after a failure."""

    def __init__(self, port, timeout=20):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def request(self, target, headers=None, body=None):
        """Status, headers and body of a GET, or a POST of that body; status 0 where there is no response."""
        try:
            self.connection.request("POST" if body else "GET", target, body, headers or {})
            response = self.connection.getresponse()
            return response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return 0, {}, b""

    def send(self, batch):
        """Sends events; whether they are acknowledged."""
        return self.request("/events", {"Content-Type": "application/json"}, batch)[0] == 200


def new_events(count, name):
    """The ids of new events, and a batch of them."""
    ids = [str(uuid.uuid4()) for _ in range(count)]
    return ids, json.dumps([
        {"id": id, "user_id": name, "time": time.time(), "event": {"name": name, "value": {}}} for id in ids]).encode()


def stored_events(query, name):
    """How often each event of a name is in the table, by its id; `query` asks the database."""
    rows = query(f"SELECT id, count(*) FROM events WHERE name = '{name}' GROUP BY id").splitlines()
    return {id: int(count) for id, count in (row.split("|") for row in rows)}
