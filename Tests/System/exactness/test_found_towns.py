"""How often a search by relevance finds the town that was meant in the first five, from Berlin: what is typed isn't in the data
unless a row says so. `-s` shows each row, and what wasn't found.
"""

import json
import random
import unicodedata
from urllib.parse import quote

import pytest

from servers import Client, Server
from towns import largest_towns, other_names, with_error, write_towns

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]
TOWNS, LARGE, ASKED = 34_006, 100_000, 600
OF_SCRIPT, FEWEST_OF_SCRIPT = 300, 20
SHORT = {"Saint": "St", "Santa": "Sta", "Santo": "Sto", "Sankt": "St", "Mount": "Mt", "Fort": "Ft", "Port": "Pt", "Point": "Pt"}


def without_accents(name):
    return "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))


def abbreviated(name):
    return " ".join(SHORT.get(word, word) for word in name.split())


def script(name):
    """The script of a name's first letter, as Unicode's name of that letter begins."""
    letter = next((letter for letter in name if letter.isalpha()), None)
    return unicodedata.name(letter, "").split()[0] if letter else None


def names_in_scripts(towns, generator):
    """For each script but Latin, names of towns, at random one of each town."""
    by_script = {}
    for town in towns:
        names = {}
        for name in other_names(town):
            names.setdefault(script(name), []).append(name[:100])
        for kind, choices in names.items():
            if kind not in (None, "LATIN"):
                by_script.setdefault(kind, []).append((generator.choice(choices), town))
    return {kind: generator.sample(texts, min(OF_SCRIPT, len(texts)))
            for kind, texts in by_script.items() if len(texts) >= FEWEST_OF_SCRIPT}


def target(text):
    return f"/locations?lat=52.52&long=13.405&sort=relevance&limit=5&q={quote(text)}"


def found(client, text, town):
    """Where the town is among the first five, from 0 on; None where it isn't."""
    status, _, body = client.request("GET", target(text))
    assert status == 200, body[:300]
    for index, place in enumerate(json.loads(body)):
        if abs(place["latitude"] - town["latitude"]) < 1e-6 and abs(place["longitude"] - town["longitude"]) < 1e-6:
            return index
    return None


class Rows:
    """The shares of the towns that were found."""

    def __init__(self):
        self.faults = []

    def ask(self, server, name, texts, least, least_first=0):
        client = Client(server.port)
        ranks = [(found(client, text, town), text) for text, town in texts]
        first = sum(rank == 0 for rank, _ in ranks) / len(ranks)
        share = sum(rank is not None for rank, _ in ranks) / len(ranks)
        print(f"{name:40} {len(ranks):6} {first:7.1%} {share:7.1%}  {[text for rank, text in ranks if rank is None][:12]}")
        if share < least or first < least_first:
            self.faults.append(f"{name}: {first:.1%} and {share:.1%}")


def served(poi, folder, towns, number_of_names):
    folder.chmod(0o755)
    path = folder / f"towns-{number_of_names}.csv"
    write_towns(path, towns, number_of_names)
    return Server(poi, settings={"POI_SEEDS": "false"}, arguments=["--import", str(path)])


def test_towns_are_found_as_people_type_them(poi, tmp_path_factory):
    folder, generator, rows = tmp_path_factory.mktemp("towns"), random.Random(1), Rows()
    towns = largest_towns(TOWNS)
    large = generator.sample([town for town in towns if town["population"] >= LARGE], ASKED)
    several = [town for town in large if " " in town["name"]]
    short = [town for town in towns if town["population"] >= LARGE and abbreviated(town["name"]) != town["name"]]
    errors = [(text, town) for town in large if (text := with_error(without_accents(town["name"]), generator))]
    print(f"\n{'':40} {'asked':>6} {'first':>7} {'in five':>7}")
    with served(poi, folder, towns, 0) as server:
        rows.ask(server, "without accents", [(without_accents(town["name"]), town) for town in large], 0.99)
        rows.ask(server, "written together",
                 [(without_accents(town["name"]).replace(" ", ""), town) for town in several], 0.99)
        # Many have "Sta Cruz" in their names, so that Santa Cruz may not be among the first five.
        rows.ask(server, "abbreviated", [(abbreviated(town["name"]), town) for town in short], 0.98)
        rows.ask(server, "with one error", errors, 0.90)
        rows.ask(server, "the 100 largest", [(town["name"], town) for town in towns[:100]], 0.99, least_first=0.98)
    with served(poi, folder, towns, None) as server:
        for kind, texts in sorted(names_in_scripts(towns, generator).items()):
            rows.ask(server, f"with all names: {kind}", texts, 0.99)
    assert rows.faults == []
