"""The server does what its own /openapi.json says, and refuses what that doesn't allow: by Schemathesis, with all its checks
and phases. What OpenAPI can't express is in openapi_hooks.py; no check is switched off."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seed import SEED

PROGRAMS = Path(sys.executable).parent
HERE = Path(__file__).parent

# What a client without an editor's key sends isn't to end in a limit.
SETTINGS = {"POI_EDITOR_RATE_LIMIT": "100000/s"}


def test_the_description_is_of_openapi_3_1(server, tmp_path):
    with server.get("/openapi.json") as response:
        (tmp_path / "openapi.json").write_bytes(response.read())
    subprocess.run([PROGRAMS / "openapi-spec-validator", "--schema", "3.1", tmp_path / "openapi.json"], check=True)


@pytest.mark.parametrize("examples", [
    pytest.param(30, marks=pytest.mark.ci),
    # Many more than CI has time for.
    pytest.param(2000, marks=[pytest.mark.soak, pytest.mark.timeout(6 * 3600)])])
def test_the_server_does_what_it_describes(server, tmp_path, examples):
    # Its traces go into the current folder.
    subprocess.run([
        PROGRAMS / "schemathesis", "--config-file", HERE / "schemathesis.toml", "run", f"{server.url}/openapi.json",
        "--checks", "all", "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", str(examples),
        "--seed", str(SEED), "--request-timeout", "10", "--continue-on-failure", "--warnings", "off",
    ], cwd=tmp_path, check=True, env={**os.environ, "PYTHONPATH": str(HERE), "SCHEMATHESIS_HOOKS": "openapi_hooks"})
    counts = json.loads((tmp_path / "counts.json").read_text())
    print(counts)
    assert all(counts.values()), "the hooks have not worked"
