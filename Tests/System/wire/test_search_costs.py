"""What searches by relevance cost in instructions of `poi` in user space, beside a plain request for the nearest places: names of
large towns, some of them with an error, and beginnings of one and two letters, among towns of GeoNames with all their other
names. `-s` shows the costs; POI_TEST_SEARCH_TOWNS and POI_TEST_SEARCHES are the numbers of towns, and of searches of each kind.
"""

import json
import os
import random
import statistics
import string
import time
from collections import Counter
from urllib.parse import quote

import pytest

from counted_server import CountedServer
from request_cases import request
from seed import SEED
from servers import Server
from towns import largest_towns, with_error, write_towns

pytestmark = [pytest.mark.soak, pytest.mark.alone, pytest.mark.timeout(3 * 3600)]
TOWNS = int(os.environ.get("POI_TEST_SEARCH_TOWNS", 34_006))
SEARCHES = int(os.environ.get("POI_TEST_SEARCHES", 600))
LARGE = 100_000
BERLIN = "lat=52.52&long=13.405"
PLAIN = f"/locations?{BERLIN}"


def searches(towns):
    """The texts by what they are."""
    generator = random.Random(SEED)
    names = [town["name"] for town in towns if town["population"] >= LARGE]
    errors = filter(None, (with_error(name, generator) for name in generator.sample(names, len(names))))
    beginnings = Counter(word[:2].lower() for town in towns for word in town["name"].split() if word[:2].isalpha())
    return {
        "names": generator.sample(names, min(600, len(names))),
        "names with an error": [text for text, _ in zip(errors, range(200), strict=False)],
        "one character": list(string.ascii_lowercase + string.digits),
        "two letters": [text for text, _ in beginnings.most_common(50)],
    }


def cost(counted, targets, keep=None):
    """The instructions of some requests together."""
    counted.instructions()
    start = time.monotonic()
    for target in targets:
        status, _, body = counted.connection.response(request(target))
        assert status == 200, body[:300]
    seconds = time.monotonic() - start
    return counted.instructions(keep) - round(counted.idle_rate * seconds)


def test_a_search_costs_no_more_than_it_may(poi, tmp_path_factory, pytestconfig):
    folder = tmp_path_factory.mktemp("towns")
    folder.chmod(0o755)
    towns, keep = largest_towns(TOWNS), pytestconfig.getoption("--keep")
    write_towns(folder / "towns.csv", towns)
    with (Server(poi, settings={"POI_SEEDS": "false"}, arguments=["--import", str(folder / "towns.csv")]) as server,
          CountedServer(tmp_path_factory.mktemp("callgrind"), poi, {"DATABASE_URL": server.database}) as counted):
        plain = statistics.median(cost(counted, [PLAIN]) for _ in range(20))
        print(f"\na plain request: {plain / 1e3:.1f} k\n{'':20} searches   median    times    worst    times")
        for kind, texts in searches(towns).items():
            targets = {f"{PLAIN}&sort=relevance&q={quote(text)}": text for text in texts[:SEARCHES]}
            costs = sorted((cost(counted, [target]), text) for target, text in targets.items())
            median, worst = statistics.median(cost for cost, _ in costs), costs[-1][0]
            print(f"{kind:20} {len(costs):8} {median / 1e3:7.1f}k {median / plain:8.1f} {worst / 1e3:7.0f}k {worst / plain:8.1f}  "
                  f"{json.dumps([text for _, text in costs[-3:]])}")
            if keep:
                keep.mkdir(parents=True, exist_ok=True)
                cost(counted, targets, f"{keep}/{kind.replace(' ', '-')}")
