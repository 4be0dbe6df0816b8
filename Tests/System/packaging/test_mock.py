"""`poi-mock` needs no database: libpq is neither linked nor in the graph of its targets."""

import json
import subprocess

from servers import ROOT


def targets_of(product):
    """Every target of the package that a program is made of, its own among them."""
    package = subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    targets = {target["name"]: target for target in json.loads(package)["targets"]}
    found, waiting = set(), [product]
    while waiting:
        name = waiting.pop()
        if name not in found and name in targets:
            found.add(name)
            waiting += [part[0] for dependency in targets[name]["dependencies"] for part in dependency.values()
                        if isinstance(part, list)]
    return found


def test_the_mock_is_made_of_no_target_with_a_database():
    found = targets_of("poi-mock")
    assert "POIService" in found
    assert not found & {"CLibPQ", "Postgres", "Migrator", "POIDatabase", "PrivateCluster", "PointsOfInterestClient"}


def test_the_mock_links_no_library_for_a_database(mock):
    libraries = subprocess.run(["ldd", mock], check=True, stdout=subprocess.PIPE, text=True).stdout
    assert "libuv" in libraries
    assert "libpq" not in libraries and "FoundationNetworking" not in libraries
