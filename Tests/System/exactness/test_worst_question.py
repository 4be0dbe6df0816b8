"""A search for the search that costs most, lists, pages by relevance and maps: random ones first, then those are changed that cost
most so far, by what they take of the processors. Towns of GeoNames with all their other names, over and over in other places.

The soak looks for ten minutes, and asks the worst among a million places, too; POI_TEST_WORST_SECONDS makes it shorter. `-s` shows
what was found.
"""

import heapq
import json
import os
import random
import time
from pathlib import Path
from urllib.parse import urlencode

import pytest

from seed import SEED
from servers import Client, Server
from towns import largest_towns, other_names, write_places

pytestmark = [pytest.mark.alone, pytest.mark.timeout(3 * 3600)]
SETTINGS = {"POI_SEEDS": "false", "POI_LOOPS": "1", "POI_REQUEST_TIMEOUT": "30s"}
PLACES, MORE_PLACES = 300_000, 1_000_000
KEPT = 40
# How many plain requests for the nearest places a search may cost (12 ms where a plain one takes 17 us), and how many times as
# much with more places.
BOUND, GROWTH = 720, 3.5
LETTERS = "aeiousmnrtlkbdcpghvfyjwzxq"
WORLD = {"bbox": "-180,-90,180,90", "zoom": 0}


class Questions:
    """Searches, random ones and changes of others: a question's parameters, and its path."""

    def __init__(self, names, generator):
        self.names, self.generator = names, generator

    def word(self):
        """Mostly a letter or two: a word of which each place has one that it begins."""
        length = self.generator.choice((1, 1, 1, 2, 2, 3, 50))
        if self.generator.random() < 0.5:
            return self.generator.choice(self.generator.choice(self.names).split() or ["a"])[:length]
        return "".join(self.generator.choices(LETTERS[:self.generator.choice((8, 16, 26))], k=min(length, 3)))

    def text(self):
        return " ".join(self.word() for _ in range(self.generator.randint(1, 12)))[:100].strip() or "a"

    def random(self):
        question = {"q": self.text()}
        if self.generator.random() < 0.3:
            question["category"] = self.generator.choice(("town", "village", "town,village"))
        if self.generator.random() < 0.2:
            question["featured"] = self.generator.choice(("true", "false"))
        match self.generator.randrange(3):
            case 0:
                return "/locations/clusters", question | WORLD
            case 1:
                question["sort"] = "relevance"
        return "/locations", self.with_position(question | {"limit": self.generator.choice((5, 20, 100))})

    def with_position(self, question):
        if "sort" not in question or self.generator.random() < 0.7:
            question |= {"lat": round(self.generator.uniform(-90, 90), 3), "long": round(self.generator.uniform(-180, 180), 3)}
        return question

    def changed(self, question):
        path, question = question[0], dict(question[1])
        characters = list(question["q"])
        index = self.generator.randrange(len(characters))
        match self.generator.randrange(6):
            case 0 if len(characters) > 1:
                del characters[index]
            case 1:
                characters.insert(index, self.generator.choice(LETTERS + " "))
            case 2:
                characters[index] = self.generator.choice(LETTERS + " ")
            case 3:
                characters += " " + self.word()
            case 4:
                characters = list(" ".join(self.generator.sample(words := question["q"].split() or ["a"], len(words))))
            case _ if "zoom" not in question:
                question = self.with_position({name: question[name] for name in question if name not in ("lat", "long")})
        return path, question | {"q": "".join(characters)[:100].strip() or "a"}


class Meter:
    """What requests cost a server's threads, in nanoseconds of a processor."""

    def __init__(self, server):
        self.client, self.tasks = Client(server.port, timeout=60), Path(f"/proc/{server.process.pid}/task")

    def spent(self):
        return sum(int((task / "schedstat").read_text().split()[0]) for task in self.tasks.iterdir())

    def cost(self, target, repeats=3):
        """The least of several: other work on the machine only adds to it."""
        costs = []
        for _ in range(repeats):
            before = self.spent()
            status, _, body = self.client.request("GET", target)
            assert status == 200, f"{target}: {status} {body[:300]}"
            costs.append(self.spent() - before)
        return min(costs)


def target_of(question):
    return f"{question[0]}?{urlencode(question[1])}"


def served(poi, folder, towns, count):
    """A server with so many places, and what a plain request costs it."""
    path = folder / f"{count}.csv"
    write_places(path, towns, count)
    return Server(poi, settings=SETTINGS, arguments=["--import", str(path)])


def metered(server):
    meter, plain = Meter(server), "/locations?lat=52.52&long=13.405"
    meter.cost(plain, 2_000)
    return meter, meter.cost(plain, 200)


def worst_questions(meter, questions, seconds):
    """The questions that cost most of those that were found, the worst first, by what they cost; and how many were asked."""
    worst, asked, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        climbs = worst and questions.generator.random() < 0.7
        question = questions.changed(questions.generator.choice(worst)[2]) if climbs else questions.random()
        cost = meter.cost(target_of(question))
        asked += 1
        if target_of(question) not in {entry[1] for entry in worst}:
            (heapq.heappush if len(worst) < KEPT else heapq.heappushpop)(worst, (cost, target_of(question), question))
    # Once more, since a cost may have had other work in it.
    return sorted(((meter.cost(target, 5), target) for _, target, _ in worst), reverse=True), asked


@pytest.mark.parametrize(("seconds", "grows"), [
    pytest.param(20, False, id="quick"),
    pytest.param(int(os.environ.get("POI_TEST_WORST_SECONDS", 600)), True, marks=pytest.mark.soak, id="thorough"),
])
def test_no_search_costs_more_than_a_bound(poi, tmp_path, seconds, grows):
    tmp_path.chmod(0o755)
    towns = largest_towns(PLACES)
    questions = Questions([name for town in towns for name in (town["name"], *other_names(town))], random.Random(SEED))
    with served(poi, tmp_path, towns, PLACES) as server:
        meter, plain = metered(server)
        found, asked = worst_questions(meter, questions, seconds)
    print(f"\n{asked} searches; plain requests cost {plain / 1e3:.0f} us; the worst cost (ms, times a plain one):")
    for cost, target in found[:10]:
        print(f"{cost / 1e6:8.2f} {cost / plain:6.0f} {json.dumps(target)}")
    assert found[0][0] <= BOUND * plain, f"{found[0][1]} costs {found[0][0] / plain:.0f} plain requests"
    if grows:
        with served(poi, tmp_path, towns, MORE_PLACES) as server:
            meter, plain = metered(server)
            cost, target = max((meter.cost(target, 5), target) for _, target in found)
        print(f"with {MORE_PLACES} places: {cost / 1e6:.2f} ms, {cost / plain:.0f} {json.dumps(target)}")
        assert cost <= GROWTH * BOUND * plain, f"{target} costs {cost / plain:.0f} plain requests"
