"""What the system tests share: their options and marks, the programs that they test, and a server."""

import os
import random
import shutil
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from scratch_postgres import ScratchPostgres
from seed import SEED
from servers import ROOT, Server, built
from service_database import PASSWORDS


def pytest_addoption(parser):
    parser.addoption("--screenshots", type=Path, metavar="FOLDER", help="keep pictures of the start page there")
    parser.addoption("--record", action="store_true", help="write what is measured or made of other files")
    parser.addoption("--keep", type=Path, metavar="FOLDER", help="keep the profiles of the instructions there")


def pytest_configure():
    # As Control-C does: the fixtures end what they have started.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    for item in items:
        if not any(item.get_closest_marker(mark) for mark in ("ci", "soak")):
            item.add_marker("ci")


def pytest_report_header():
    return f"POI_TEST_SEED={SEED}"


@pytest.fixture(scope="session")
def poi():
    return built("poi", "POI_BINARY")


@pytest.fixture(scope="session")
def mock():
    return built("poi-mock", "POI_MOCK_EXECUTABLE")


@pytest.fixture(scope="session")
def read_places():
    return built("read-places", "READ_PLACES")


@pytest.fixture
def fleet(poi):
    """Starts `poi serve` before a database, as many as are wanted, and waits until they are ready; they end with the test."""
    with ExitStack() as servers:
        yield lambda database, count=1, **settings: [
            servers.enter_context(Server(poi, database, settings=settings)) for _ in range(count)]


@pytest.fixture
def database():
    """An empty PostgreSQL with the service's roles."""
    with ScratchPostgres(ROOT / "deploy/postgres/roles.sql", PASSWORDS) as postgres:
        yield postgres


@pytest.fixture
def contract():
    """Runs the contract suite against a server. POI_CONTRACT_TESTS names built tests, a bundle, to run instead of building."""
    tests = [os.environ["POI_CONTRACT_TESTS"], "--testing-library", "swift-testing"] if "POI_CONTRACT_TESTS" in os.environ \
        else ["swift", "test", "--quiet"]

    def run(url):
        subprocess.run([*tests, "--filter", "^PointsOfInterestContract"], cwd=ROOT, check=True,
                       env={**os.environ, "POI_BASE_URL": url, "POI_CONTRACT_SEEDED": "true"})

    return run


@pytest.fixture(scope="session")
def load(tmp_path_factory):
    """The program that sends requests at a rate."""
    program = tmp_path_factory.mktemp("load") / "load"
    subprocess.run(["clang", "-O2", "-o", program, ROOT / "Benchmarks/lib/load.c", "-lm"], check=True)
    return program


@pytest.fixture
def without_bubblewrap(tmp_path):
    """A folder with ogr2ogr alone, to be the whole PATH."""
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs/ogr2ogr").symlink_to(shutil.which("ogr2ogr"))
    return str(tmp_path / "programs")


@pytest.fixture
def random_source():
    """Random numbers that POI_TEST_SEED repeats."""
    return random.Random(SEED)


@pytest.fixture(scope="module")
def server(request, poi):
    """A `poi dev` with a database of its own, and the module's SETTINGS."""
    with Server(poi, settings=getattr(request.module, "SETTINGS", {}), prefix=getattr(request.module, "PREFIX", ())) as server:
        yield server
