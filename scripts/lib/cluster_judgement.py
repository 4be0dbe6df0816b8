"""Judges what a cluster's servers have responded while something failed: see cluster_load.py."""

from collections import deque
from dataclasses import dataclass


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
    # How old the response says that it may be beyond what it may be anyway, in seconds (Poi-Stale-Seconds).
    stale_seconds: int = 0


@dataclass
class Batch:
    began: float
    acknowledged: float
    attempts: int


def wrong_reads(commits, reads, staleness):
    """What is wrong with the reads, a line each.

    - A response is of one state, and a tag stands for one state.
    - A state was committed, or may have been, when it is read.
    - It isn't older than what was acknowledged `staleness` seconds before the request, or before that by as much as it says.
      So a state that a failover took back is gone that long after the next commit.
    - One server doesn't go back to before an acknowledged state that it has served.
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


def older_reads(reads, known, relation, moment=lambda read: read.began):
    """Reads that come after a newer state was known; `known` has times and states, `moment` tells the time of a read."""
    known, newest, wrong = deque(sorted(known)), 0, []
    for read in sorted((read for read in reads if read.state is not None), key=moment):
        while known and known[0][0] < moment(read):
            newest = max(newest, known.popleft()[1])
        if read.state < newest:
            wrong.append(f"server {read.server + 1} has state {read.state} {relation} {newest}")
    return wrong


def stale_reads(acknowledged, reads, staleness):
    known = [(time + staleness, state) for state, time in acknowledged.items()]
    return older_reads(reads, known, f"{staleness} s and more after the acknowledgement of",
                       lambda read: read.began - read.stale_seconds)


def reads_that_go_back(acknowledged, reads):
    """Reads of one server."""
    known = [(read.ended, read.state) for read in reads if read.state in acknowledged]
    return older_reads(reads, known, "after it had")


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
    def read(state, began, server=0, tag=None, stale_seconds=0):
        return Read(server, began, began + 0.1, state, tag, stale_seconds=stale_seconds)
    right = [read(1, 1), read(2, 3), read(1, 3.5), read(1, 4, server=1), read(3, 6), read(3, 99, server=1),
             read(1, 20, server=3, stale_seconds=5)]
    assert wrong_reads(commits, right, 10) == [], wrong_reads(commits, right, 10)
    for reads in [
        [read(1, 16)], [read(2, 16)], [read(4, 50)], [read(3, 6), read(1, 7)], [read(3, 5, tag="a"), read(1, 5, 1, tag="a")],
        [Read(0, 1, 2, None, fault="2 places")], [read(1, 21, stale_seconds=5)],
    ]:
        assert len(wrong_reads(commits, reads, 10)) == 1, reads
    assert lost_and_doubled(["a", "b"], {"b": 2, "c": 1}) == (1, 1)
    assert longest_failure([read(1, 1), read(None, 2), read(None, 5), read(1, 6)]) == 5.1 - 2
