"""What a request costs in instructions of `poi` in user space, which no other load on the machine changes, against the budgets
in instructions.budgets. See Documentation/testing.md.

`scripts/test-system wire/test_instructions.py` with `--record` writes what is measured as the new budgets, `--keep FOLDER`
leaves each case's profile for callgrind_annotate, and `-k livez` counts one case. Budgets only fall from one release to the
next, unless users get something for a raise: then that is said behind it, and printed here.

Requests go one after another over one connection to a `poi serve` with one loop, and its defaults but for that: the
access log, in a file, and metrics are on. Each case of request_cases.py is warmed up, and counted until the two lowest
counts agree. What the server does in the same time without requests is taken off.
"""

import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest

from counted_server import CountedServer
from psql import psql
from request_cases import CASES, PLACES_SQL

pytestmark = pytest.mark.alone

BUDGETS = Path(__file__).with_name("instructions.budgets")
# How much more than its budget a request may cost.
TOLERANCE = 1.05


@pytest.fixture(scope="module")
def database(server):
    """A server's database with more places."""
    psql(server.database, PLACES_SQL)
    return server.database


@pytest.fixture(scope="module")
def counted_server(poi, database, tmp_path_factory):
    with CountedServer(tmp_path_factory.mktemp("callgrind"), poi, {"DATABASE_URL": database}) as counted:
        yield counted


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
def test_a_request_costs_no_more_than_its_budget(counted_server, case, pytestconfig):
    keep = pytestconfig.getoption("--keep")
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    count = counted_server.measure(case, keep)
    if pytestconfig.getoption("--record"):
        write_budget(case.name, count)
    budget = read_budgets()[case.name].instructions
    print(f"{count} instructions, {count / budget:.3f} of the budget")
    assert count <= budget * TOLERANCE
