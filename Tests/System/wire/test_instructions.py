"""What a request costs in instructions of `poi` in user space, which no other load on the machine changes, against the budgets
in instructions.budgets. See Documentation/testing.md.

`scripts/test-system wire/test_instructions.py` with `--record` writes what is measured as the new budgets, `--keep FOLDER`
leaves each case's profile for callgrind_annotate, and `-k livez` counts one case. Budgets only fall from one release to the
next, unless users get something for a raise: then that is said behind it, and printed here.

Requests go one after another over one connection to a `poi serve` with one loop, and its defaults but for that: the
access log, in a file, and metrics are on. Each case of request_cases.py is warmed up, and counted until the two lowest
counts agree. What the server does in the same time without requests, such as watching the dataset, is taken off.
"""

import signal
import time
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from callgrind import TIMEOUT_SECONDS, CountedProgram, KeptConnection
from processes import wait_for
from psql import psql
from request_cases import CASES, PLACES_SQL, TARGETS, asked_database, request

pytestmark = pytest.mark.alone

BUDGETS = Path(__file__).with_name("instructions.budgets")
# How much more than its budget a request may cost, and how much two counts may differ.
TOLERANCE = 1.05
AGREEMENT = 1.02
ATTEMPTS = 10
IDLE_SECONDS = 5
COUNTED = {
    "PORT": "0",
    "POI_ADMIN_PORT": "0",
    "POI_LOOPS": "1",
    "POI_DRAIN_DELAY": "0s",
    # Valgrind is slow: a time limit that is reached would be counted as a request.
    "POI_REQUEST_TIMEOUT": "30s",
    "POI_DB_STATEMENT_TIMEOUT": "30s",
    "POI_DB_ACQUIRE_TIMEOUT": "30s",
}


class CountedServer(CountedProgram):
    """`poi serve` under callgrind, connected to and ready."""

    def __init__(self, folder, program, settings):
        super().__init__(folder, program, ["serve"], COUNTED | settings, counts_at_once=False)
        self.has_index = settings["POI_INDEX"] == "on"

    def __enter__(self):
        try:
            self.warm_up()
            self.begin()
        except BaseException:
            super().__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.wait()
        finally:
            super().__exit__()
        assert self.process.returncode == 0

    def warm_up(self):
        """Connects, and waits until it serves from where it is to serve."""
        port = int(self.first_line().rsplit(":", 1)[1].rstrip("/\n"))
        self.connection = KeptConnection(port)
        self.wait_until("is ready", request("/readyz"), lambda status, headers: status == 200)
        # Twice, since the first requests teach the server where places are.
        for target in TARGETS * 2:
            self.connection.response(request(target))
        if self.has_index:
            self.wait_until("answers from the index", request(TARGETS[0]),
                            lambda _, headers: not asked_database(headers))

    def wait_until(self, what, message, is_reached):
        """Asks until the response shows that a state is reached."""
        wait_for(lambda: is_reached(*self.connection.response(message)[:2]), TIMEOUT_SECONDS, f"the server {what}")

    def send(self, case):
        """Sends a case's requests, and checks their responses; returns how many seconds that took."""
        requests = case.make(case.count, self.connection.response)
        self.instructions()
        start = time.monotonic()
        for message in requests:
            assert case.fault(*self.connection.response(message)) is None
        return time.monotonic() - start

    def begin(self):
        """Counts from now on, first what the server does in some seconds without requests.

        Places in memory are verified by their follower's thread, once a second and by far the most of that: too much and too
        seldom to be taken off. So that thread doesn't count.
        """
        super().begin()
        self.instructions()
        start = time.monotonic()
        time.sleep(IDLE_SECONDS)
        counts = self.instructions_of_threads()
        duration = time.monotonic() - start
        if self.has_index:
            self.ignored_threads.add(max(counts, key=counts.get))
        self.idle_rate = sum(count for thread, count in counts.items() if thread not in self.ignored_threads) / duration

    def measure(self, case, keep):
        """The instructions of a request: the lowest count, since whatever else the server does meanwhile only adds."""
        self.send(case)
        counts = []
        while len(counts) < 2 or counts[1] > counts[0] * AGREEMENT:
            assert len(counts) < ATTEMPTS, f"no two counts agree within 2 %: {counts}"
            seconds = self.send(case)
            total = self.instructions(keep and f"{keep}/{case.name}.callgrind")
            counts.append(round((total - self.idle_rate * seconds) / case.count))
            counts.sort()
        return counts[0]


@pytest.fixture(scope="module")
def database(server):
    """A server's database with more places."""
    psql(server.database, PLACES_SQL)
    return server.database


@pytest.fixture(scope="module")
def counted_servers(poi, database, tmp_path_factory):
    """The one that serves from the index, by "on", and the one that asks the database, by "off"; each is started when it is
    first wanted."""
    with ExitStack() as stack:
        yield cache(lambda index: stack.enter_context(CountedServer(
            tmp_path_factory.mktemp("callgrind"), poi, {"DATABASE_URL": database, "POI_INDEX": index})))


@dataclass
class Budget:
    """The instructions that a case may cost, what it cost in the last release, None if nobody counted, and what users get for
    a raise since then, as the words of a sentence."""

    instructions: int
    released: int | None = None
    reason: str = ""

    @property
    def is_raised(self):
        return self.released is not None and self.instructions > self.released


def read_budgets():
    budgets = {}
    for line in BUDGETS.read_text().splitlines():
        if line and line[0] != "#":
            name, instructions, released, *reason = line.split(maxsplit=3)
            budgets[name] = Budget(int(instructions), None if released == "-" else int(released), "".join(reason))
    return budgets


def write_budget(name, count):
    """Writes a case's new budget; the rest of the file stays as it is."""
    budgets = read_budgets()
    budgets.setdefault(name, Budget(count)).instructions = count
    title = [line for line in BUDGETS.read_text().splitlines() if line[:1] == "#"]
    lines = [
        f"{case.name:24} {budget.instructions:8} {budget.released or '-':>8}  {budget.reason}".rstrip()
        for case in CASES if (budget := budgets.get(case.name))
    ]
    BUDGETS.write_text("\n".join([*title, *lines]) + "\n")


def test_a_raised_budget_says_what_users_get_for_it():
    raised = {name: budget for name, budget in read_budgets().items() if budget.is_raised}
    for name, budget in raised.items():
        warnings.warn(f"{name}: {budget.instructions}, {budget.released} in the last release: {budget.reason}", stacklevel=1)
    assert [name for name, budget in raised.items() if not budget.reason] == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_request_costs_no_more_than_its_budget(counted_servers, case, pytestconfig):
    keep = pytestconfig.getoption("--keep")
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    count = counted_servers("off" if case.store == "database" else "on").measure(case, keep)
    if pytestconfig.getoption("--record"):
        write_budget(case.name, count)
    budget = read_budgets()[case.name].instructions
    print(f"{count} instructions, {count / budget:.3f} of the budget")
    assert count <= budget * TOLERANCE
