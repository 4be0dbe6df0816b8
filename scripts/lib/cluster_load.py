"""The load on a cluster's servers while something fails, and the judgement of what they responded.

One writer commits states of the same places, one after the other: state k gives all of them its number as a name, and a
position. So a response shows which state it is of, and whether it is of one state at all. Readers ask each server, with
entity tags and without; senders post batches of events until each is acknowledged.
"""

import http.client
import json
import re
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass

PLACES = 20
TARGET = f"/locations?lat=10&long=20&radius=5000&limit={PLACES}"
INSERT_PLACES = f"""
INSERT INTO locations (name, category, latitude, longitude)
SELECT 'State 0', 'museum', 10, 20 + n * 0.0001 FROM generate_series(1, {PLACES}) AS n;
"""


def latitude(state):
    return round(10 + state % 97 * 0.0001, 4)


@dataclass
class Commit:
    state: int
    began: float
    # When it was acknowledged; None where that isn't known.
    acknowledged: float | None = None
    ended: float = 0


@dataclass
class Read:
    server: int
    began: float
    ended: float
    # The state that a 200 has, or that the entity tag of a 304 stands for; None where the read failed.
    state: int | None
    tag: str | None = None
    fault: str | None = None
    is_from_memory: bool = False


@dataclass
class Batch:
    began: float
    acknowledged: float
    attempts: int


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
            read = Read(number, began, time.monotonic(), None)
            if status == 200:
                read.tag = tag = headers["ETag"]
                read.is_from_memory = re.search(r"\bdb\b", headers.get("Server-Timing", "")) is None
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
            ids = [str(uuid.uuid4()) for _ in range(3)]
            body = json.dumps([{
                "id": id, "user_id": "check-cluster", "time": time.time(), "event": {"name": "check-cluster", "value": {}},
            } for id in ids]).encode()
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


class Client:
    """One connection, which is made again after a failure."""

    TIMEOUT = 20

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=self.TIMEOUT)

    def request(self, method, target, headers, body=None):
        """Status, headers and body; status 0 where there is no response."""
        try:
            self.connection.request(method, target, body, headers)
            response = self.connection.getresponse()
            return response.status, response.headers, response.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            return 0, {}, b""


# Judging

def wrong_reads(commits, reads, staleness):
    """What is wrong with the reads, a line each.

    - A response is of one state, and a tag stands for one state.
    - A state was committed, or may have been, when it is read.
    - It isn't older than what was acknowledged `staleness` seconds before the request. So a state that a failover took back
      is gone that long after the next commit.
    - One server doesn't go back to before an acknowledged state that it has served from memory.
    """
    wrong = [f"{read.fault}" for read in reads if read.fault]
    begun = {commit.state: commit.began for commit in commits}
    acknowledged = {commit.state: commit.acknowledged for commit in commits if commit.acknowledged}
    first = min(begun, default=0)
    tags = {}
    for read in (read for read in reads if read.state is not None):
        if read.tag and tags.setdefault(read.tag, read.state) != read.state:
            wrong.append(f"one tag for the states {tags[read.tag]} and {read.state}")
        if read.state >= first and begun.get(read.state, float("inf")) > read.ended:
            wrong.append(f"state {read.state} before it was committed")
    wrong += stale_reads(acknowledged, reads, staleness) + [
        text for server in {read.server for read in reads}
        for text in reads_that_go_back(acknowledged, [read for read in reads if read.server == server])]
    return wrong


def stale_reads(acknowledged, reads, staleness):
    by_time = sorted((time, state) for state, time in acknowledged.items())
    newest, position, wrong = 0, 0, []
    for read in sorted((read for read in reads if read.state is not None), key=lambda read: read.began):
        while position < len(by_time) and by_time[position][0] < read.began - staleness:
            newest = max(newest, by_time[position][1])
            position += 1
        if read.state < newest:
            wrong.append(f"server {read.server + 1} has state {read.state}, {staleness} s after {newest} was acknowledged")
    return wrong


def reads_that_go_back(acknowledged, reads):
    """Reads of one server."""
    ended = sorted((read for read in reads if read.is_from_memory and read.state in acknowledged),
                   key=lambda read: read.ended)
    newest, position, wrong = 0, 0, []
    for read in sorted((read for read in reads if read.state is not None), key=lambda read: read.began):
        while position < len(ended) and ended[position].ended < read.began:
            newest = max(newest, ended[position].state)
            position += 1
        if read.state < newest:
            wrong.append(f"server {read.server + 1} has state {read.state} after it had {newest}")
    return wrong


def lost_and_doubled(acknowledged, stored):
    """How many acknowledged events aren't stored, and how many are stored more than once; `stored` counts each id."""
    return (sum(id not in stored for id in acknowledged), sum(count > 1 for count in stored.values()))


def longest_failure(reads):
    """How long no read of one server succeeded, at most; from the first failed read's begin to the last one's end."""
    longest = 0
    for server in {read.server for read in reads}:
        began = None
        for read in sorted((read for read in reads if read.server == server), key=lambda read: read.ended):
            if read.state is not None or read.fault:
                began = None
                continue
            began = read.began if began is None else min(began, read.began)
            longest = max(longest, read.ended - began)
    return longest


def recovery(load, fault_at):
    """The seconds from the fault to the first acknowledgement after the last write that failed or hung."""
    ends = [batch.acknowledged for batch in load.batches if batch.attempts > 1 or batch.acknowledged - batch.began > 1]
    for failed, following in zip(load.commits, load.commits[1:]):
        if failed.acknowledged is None and following.acknowledged:
            ends.append(following.acknowledged)
    ends += [commit.acknowledged for commit in load.commits
             if commit.acknowledged and commit.acknowledged - commit.began > 1]
    return max((end - fault_at for end in ends if end > fault_at), default=0)


def check_judgement():
    """Shows that each kind of fault is seen, by reads and events that are made up."""
    commits = [Commit(1, 0, 1), Commit(2, 2, None), Commit(3, 4, 5), Commit(4, 100, 101)]
    def read(state, began, server=0, tag=None):
        return Read(server, began, began + 0.1, state, tag, is_from_memory=tag is None)
    right = [read(1, 1), read(2, 3), read(1, 3.5), read(1, 4, server=1), read(3, 6), read(3, 99, server=1),
             read(3, 6, server=2, tag="b"), read(1, 7, server=2)]
    assert wrong_reads(commits, right, 10) == [], wrong_reads(commits, right, 10)
    for reads in [
        [read(1, 16)], [read(2, 16)], [read(4, 50)], [read(3, 6), read(1, 7)], [read(3, 5, tag="a"), read(1, 5, 1, tag="a")],
        [Read(0, 1, 2, None, fault="2 places")],
    ]:
        assert len(wrong_reads(commits, reads, 10)) == 1, reads
    assert lost_and_doubled(["a", "b"], {"b": 2, "c": 1}) == (1, 1)
    assert longest_failure([read(1, 1), read(None, 2), read(None, 5), read(1, 6)]) == 5.1 - 2
