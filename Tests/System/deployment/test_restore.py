"""A dump restores: the contract holds for a server before the new database, which confirms no entity tag of before."""

import subprocess

from psql import psql
from scratch_postgres import programs
from servers import Client

TARGETS = ["/locations?lat=37.3293&long=-121.8893&limit=2", "/locations?lat=37&long=-121&q=san+jose", "/locations/84",
           "/categories"]


def tag(server, target):
    return Client(server.port).request("GET", target)[1]["ETag"]


def status(server, target, tag):
    """Of a request that has this tag."""
    return Client(server.port).request("GET", target, {"If-None-Match": tag})[0]


def test_a_restored_dump_keeps_the_contract_and_confirms_no_old_tag(server, fleet, contract, tmp_path):
    old = {target: tag(server, target) for target in TARGETS}
    assert {status(server, *one) for one in old.items()} == {304}
    dump = tmp_path / "dump"
    # The programs of the newest PostgreSQL, which is the one that the private server runs.
    subprocess.run([programs() / "pg_dump", "--format=custom", f"--file={dump}", server.database], check=True)
    psql(server.database, "CREATE DATABASE restored")
    copy = f"postgresql://postgres@/restored?{server.database.partition('?')[2]}"
    subprocess.run([programs() / "pg_restore", "--exit-on-error", f"--dbname={copy}", dump], check=True)
    restored, = fleet(copy)
    for target in TARGETS:
        assert status(restored, target, old[target]) == 200
        new = tag(restored, target)
        assert new != old[target] and status(restored, target, new) == 304
    contract(restored.url)
