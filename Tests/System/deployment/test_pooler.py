"""The contract holds for a server that reaches its database through PgBouncer in transaction mode: two backends serve all of
its connections."""

import re

import pytest

from processes import running, wait_for
from psql import psql
from scratch_postgres import AS_POSTGRES

pytestmark = [pytest.mark.soak, pytest.mark.alone]

PORT = 6432


@pytest.fixture
def pooler(server):
    """PgBouncer before a server's database, on a socket of its own: its log, and the database's address."""
    folder = server.folder / "pooler"
    folder.mkdir()
    # It refuses to run as root, and PostgreSQL's socket is open to PostgreSQL's user.
    folder.chmod(0o777)
    name = psql(server.database, "SELECT current_database()").stdout.strip()
    (folder / "pgbouncer.ini").write_text(f"""
[databases]
{name} = host={server.database.partition("host=")[2]} dbname={name} user=postgres
[pgbouncer]
unix_socket_dir = {folder}
unix_socket_mode = 0777
listen_port = {PORT}
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
""")
    with running([*AS_POSTGRES, "/usr/sbin/pgbouncer", folder / "pgbouncer.ini"], folder / "log") as process:
        wait_for(lambda: (folder / f".s.PGSQL.{PORT}").is_socket() or process.poll(), 60, "PgBouncer's socket")
        assert process.poll() is None, (folder / "log").read_text()
        yield folder / "log", f"postgresql://postgres@/{name}?host={folder}&port={PORT}"


def test_the_contract_holds_through_pgbouncer(pooler, fleet, contract):
    log, url = pooler
    served, = fleet(url)
    contract(served.url)
    # What a server would get that relied on one backend or on what a pooler refuses.
    assert not re.search("prepared statement|closing because: unexpected", log.read_text())
