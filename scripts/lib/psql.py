"""psql as the checks run it: without the user's own settings, to the first error, with bare rows as its output."""

import subprocess

PSQL = ["psql", "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]


def psql(url, sql, check=True, timeout=None):
    """Runs SQL at a connection string; returns psql's result, which has to be good unless `check` is false."""
    done = subprocess.run([*PSQL, url], input=sql, capture_output=True, text=True, timeout=timeout)
    if check and done.returncode != 0:
        raise SystemExit(f"psql: {done.stderr}")
    return done
