"""What a server was asked before doesn't show in what it sends: Documentation/security.md's "What clients share"."""

import random
import urllib.error
import urllib.parse

TEXTS = ["museum", "coffee", "san", "кафе", "japanese garden", "0123456789", "zzz"]
SETTINGS = {"POI_LOOPS": "1", "POI_ACCESS_LOG": "off"}
# Of the moment, not of the data.
VARYING = {"date", "server-timing"}


def targets(source):
    """A request of each kind that has a body."""
    latitude, longitude = f"{source.uniform(-60, 70):.5f}", f"{source.uniform(-180, 180):.5f}"
    text = urllib.parse.quote_plus(source.choice(TEXTS))
    return [
        f"/locations?lat={latitude}&long={longitude}&limit=100",
        f"/locations?lat={latitude}&long={longitude}&q={text}",
        f"/locations?q={text}&sort=relevance",
        f"/locations/clusters?bbox=-180,-90,180,90&zoom={source.randrange(5)}",
        f"/locations/{source.randrange(1, 300)}",
        f"/locations?lat={text}",
        "/categories", "/problems", "/openapi.json",
    ]


def response(server, target):
    """The status, fields and body of a response, as they are on the wire."""
    try:
        answer = server.get(target, {"Accept-Encoding": "gzip", "X-Request-Id": "same"})
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        fields = sorted((name.lower(), value) for name, value in answer.headers.items() if name.lower() not in VARYING)
        return answer.status, fields, answer.read()


def test_two_servers_with_the_same_places_send_the_same_after_any_two_histories(server, fleet, tmp_path):
    # `poi dev` has an editor, whose routes its description has.
    editors = tmp_path / "editors"
    editors.write_text(f"anna {64 * '0'}\n")
    fresh, = fleet(server.database, **SETTINGS, POI_EDITORS_FILE=str(editors))
    source, same = random.Random(52), random.Random(25)
    for _ in range(60):
        for target in targets(source):
            response(server, target)
    for target in [target for _ in range(8) for target in targets(same)]:
        assert response(server, target) == response(fresh, target), target
