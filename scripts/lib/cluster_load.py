"""The load on a cluster's servers while something fails.

One writer commits states of the same places, one after the other: state k gives all of them its number as a name, and a
position. So a response shows which state it is of, and whether it is of one state at all. Readers ask each server, with
entity tags and without; senders post batches of events until each is acknowledged.
"""

import json
import subprocess
import threading
import time

from cluster_judgement import Batch, Commit, Read
from events import new_events
from servers import Client

PLACES = 20
TARGET = f"/locations?lat=10&long=20&radius=5000&limit={PLACES}"
INSERT_PLACES = f"""
INSERT INTO locations (name, category, latitude, longitude)
SELECT 'State 0', 'museum', 10, 20 + n * 0.0001 FROM generate_series(1, {PLACES}) AS n;
"""


def latitude(state):
    return round(10 + state % 97 * 0.0001, 4)


def state_of(body):
    """The state that a response is of; a text that says what is wrong with it."""
    places = json.loads(body)
    names = {place["name"] for place in places}
    if len(places) != PLACES or len(names) != 1:
        return f"{len(places)} places of {sorted(names)}"
    state = int(names.pop().removeprefix("State "))
    if {place["latitude"] for place in places} != {latitude(state)}:
        return f"state {state} with the positions of another"
    return state


class Load:
    """Threads that write, read and send until they are stopped; each round of a check has a load of its own."""

    # How long a batch is sent again after the end.
    PATIENCE = 30

    def __init__(self, service, first_state):
        self.service, self.servers = service, service.servers
        self.state = first_state
        self.commits, self.reads, self.batches = [], [], []
        self.acknowledged, self.unfinished = [], 0
        self.is_over, self.ended = threading.Event(), 0
        self.failures = []
        bodies = [(self.write,)]
        for number in range(len(self.servers)):
            bodies += [(self.read, number, False), (self.read, number, True), (self.send, number)]
        self.threads = [threading.Thread(target=self.run, args=body) for body in bodies]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.ended = time.monotonic()
        self.is_over.set()
        for thread in self.threads:
            thread.join()
        if self.failures:
            raise self.failures[0]

    def run(self, body, *arguments):
        try:
            body(*arguments)
        except Exception as error:
            self.failures.append(error)

    def write(self):
        while not self.is_over.wait(0.15):
            self.state += 1
            commit = Commit(self.state, time.monotonic())
            self.commits.append(commit)
            sql = (f"UPDATE locations SET name = 'State {self.state}', latitude = {latitude(self.state)} "
                   "WHERE name LIKE 'State %'")
            try:
                is_done = self.service.psql(sql, timeout=40).returncode == 0
            except subprocess.TimeoutExpired:
                is_done = False
            commit.ended = time.monotonic()
            commit.acknowledged = commit.ended if is_done else None

    def read(self, number, is_conditional):
        client, tags = Client(self.servers[number].port), {}
        tag = None
        while not self.is_over.wait(0.03):
            began = time.monotonic()
            status, headers, body = client.request("GET", TARGET, {"If-None-Match": tag} if is_conditional and tag else {})
            read = Read(number, began, time.monotonic(), None, stale_seconds=int(headers.get("Poi-Stale-Seconds", 0)))
            if status == 200:
                read.tag = tag = headers["ETag"]
                found = state_of(body)
                if isinstance(found, int):
                    tags[tag] = read.state = found
                else:
                    read.fault = found
            elif status == 304:
                read.state = tags[tag]
            self.reads.append(read)

    def send(self, number):
        """Each batch until it is acknowledged, by the servers in turn."""
        clients = [Client(server.port) for server in self.servers]
        while not self.is_over.wait(0.1):
            ids, body = new_events(3, "check-cluster")
            batch = Batch(time.monotonic(), 0, 0)
            while True:
                client = clients[(number + batch.attempts) % len(clients)]
                batch.attempts += 1
                if client.request("POST", "/events", {"Content-Type": "application/json"}, body)[0] == 200:
                    break
                if self.is_over.is_set() and time.monotonic() - self.ended > self.PATIENCE:
                    self.unfinished += 1
                    return
                time.sleep(0.2)
            batch.acknowledged = time.monotonic()
            self.batches.append(batch)
            self.acknowledged += ids
