"""The right response to any question about real_places.py's places, by brute force.

It is computed without anything of the server's: words by the rule of Documentation/api.md, distances by
pyproj, candidates by a bound of another kind than the server's.
"""

import math
import re
import unicodedata
from bisect import bisect_left

import numpy
from pyproj import Geod

PLAIN_LETTERS = str.maketrans({
    "ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ħ": "h", "ı": "i", "ς": "σ"})
SEPARATORS = re.compile("[\0-/:-@\\[-`{-\u00bf\u02bc\u2000-\u206f\u3000-\u3004\u3008-\u303f\u30a0\u30fb]+")
APOSTROPHES = re.compile("['\u2019\u02bc]")
RUN = ("\u0e00-\u0eff\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
       "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00016fe3\U00016ff0\U00016ff1\U0001aff0-\U0001b16f\U00020000-\U0003ffff")
PIECES = re.compile(f"[{RUN}]+|[^{RUN}]+")
IS_RUN = re.compile(f"[{RUN}]")


def is_mark(character):
    return unicodedata.category(character) == "Mn"


def decomposed(text):
    return unicodedata.normalize("NFKD", text).lower()


def spelled_out(text):
    """A decomposed text with an e or an a behind each letter that may be spelled out."""
    result, letter = [], ""
    for character in text:
        result.append("oe" if character == "ø" else character)
        if not is_mark(character):
            letter = character
        elif character == "\u0308" and letter in ("a", "o", "u") or character == "\u030a" and letter == "a":
            result.append("e" if character == "\u0308" else "a")
            letter = ""
    return "".join(result)


def folded(text):
    return "".join(character for character in text if not is_mark(character)).translate(PLAIN_LETTERS)


def pieces(text):
    """The words of a folded text, of which a run is one."""
    return [piece for chunk in SEPARATORS.split(text) for piece in PIECES.findall(chunk)]


def query_words(text):
    """The words of a search text, each plain and spelled out."""
    text = decomposed(text)
    return set(zip(pieces(folded(text)), pieces(folded(spelled_out(text)))))


def name_words(name):
    name = decomposed(name)
    return {
        piece[start:]
        for text in (folded(name), folded(spelled_out(name)))
        for form in (text, APOSTROPHES.sub("", text))
        for piece in pieces(form)
        for start in (range(len(piece)) if IS_RUN.match(piece) else (0,))
    }


class Words:
    """Which places have a word that begins so."""

    def __init__(self, places):
        self.count = len(places)
        words_of, places_of = {}, {}
        for index, place in enumerate(places):
            if place.name not in words_of:
                words_of[place.name] = name_words(place.name)
            for word in words_of[place.name]:
                places_of.setdefault(word, []).append(index)
        self.vocabulary = sorted(places_of)
        self.frequencies = [len(places_of[word]) for word in self.vocabulary]
        self.offsets = numpy.concatenate([[0], numpy.cumsum(self.frequencies)])
        self.members = numpy.concatenate([numpy.array(places_of[word], numpy.int32) for word in self.vocabulary])

    def matching(self, text):
        """The indices of the places of which each word of a text begins a word, in order."""
        words = query_words(text)
        is_match = numpy.full(self.count, bool(words))
        for forms in words:
            has_word = numpy.zeros(self.count, bool)
            for word in forms:
                first = bisect_left(self.vocabulary, word)
                last = bisect_left(self.vocabulary, word + "\U0010ffff")
                has_word[self.members[self.offsets[first]:self.offsets[last]]] = True
            is_match &= has_word
        return numpy.flatnonzero(is_match)


GEOD = Geod(ellps="WGS84")
# The geodesic over an angle sigma of the auxiliary sphere is at least b * sigma and at most a * sigma long, and a is
# 0.34 % more than b (see test_geographiclib.py). So this is enough, and the rest for what rounding does.
MARGIN = 1.006
MARGIN_METERS = 2
ROUNDING = 1e-15
# Responses show distances in tenths of a metre. Both sides measure to 15 nm: places whose distances differ by less may
# be in either order.
SHOWN_METERS = 0.05 + 1e-6
TIE_METERS = 2e-8


def on_auxiliary_sphere(latitudes, longitudes):
    phi, lam = numpy.radians(latitudes), numpy.radians(longitudes)
    beta = numpy.arctan2(GEOD.b * numpy.sin(phi), GEOD.a * numpy.cos(phi))
    return numpy.stack([numpy.cos(beta) * numpy.cos(lam), numpy.cos(beta) * numpy.sin(lam), numpy.sin(beta)], axis=-1)


def greatest(values, count):
    """The last of the so many greatest values."""
    return numpy.partition(values, len(values) - count)[len(values) - count]


def farthest_angle(cosines, count):
    """An angle within which there are so many places."""
    if len(cosines) <= count:
        return math.pi
    # Of a sample it is no less than of all places, and leaves few to look through.
    sample = cosines[::len(cosines) // 20_000 or 1]
    if len(sample) > count:
        cosines = cosines[cosines >= greatest(sample, count)]
    return math.acos(max(-1, min(1, greatest(cosines, count) - ROUNDING)))


def middle_of(west, south, east, north):
    longitude = (west + (east + 360 if west > east else east)) / 2
    return (south + north) / 2, longitude - 360 if longitude > 180 else longitude


class Truth:
    """Knows the right response to every question: a dictionary with the names of the API's parameters."""

    def __init__(self, places, ids):
        self.places, self.ids = places, ids
        self.index_of = {int(id): index for index, id in enumerate(ids)}
        self.words = Words(places)
        self.latitudes = numpy.array([place.latitude for place in places])
        self.longitudes = numpy.array([place.longitude for place in places])
        self.featured = numpy.array([place.featured for place in places])
        categories = numpy.array([place.category for place in places])
        self.in_category = {str(name): categories == name for name in numpy.unique(categories)}
        self.is_at_pole, self.is_on_antimeridian = abs(self.latitudes) == 90, abs(self.longitudes) == 180
        self.everything = numpy.arange(len(places))
        self.sphere = on_auxiliary_sphere(self.latitudes, self.longitudes)
        # Places on one point are measured once, so that their distances are equal to the last bit.
        points, self.point_of = numpy.unique(self.latitudes + 1j * self.longitudes, return_inverse=True)
        self.point_latitudes, self.point_longitudes = points.real.copy(), points.imag.copy()

    def in_box(self, west, south, east, north):
        beyond_west, before_east = self.longitudes >= west, self.longitudes <= east
        is_inside = beyond_west | before_east if west > east else beyond_west & before_east
        if 180 in (abs(west), abs(east)):
            is_inside |= self.is_on_antimeridian
        # A place at a pole has every longitude.
        is_inside |= self.is_at_pole
        return is_inside & (self.latitudes >= south) & (self.latitudes <= north)

    def matching(self, question):
        """The indices of all places that match, whatever their distance."""
        masks = []
        if "category" in question:
            masks.append(numpy.logical_or.reduce([self.in_category[name] for name in question["category"]]))
        if "featured" in question:
            masks.append(self.featured == question["featured"])
        if "bbox" in question:
            masks.append(self.in_box(*question["bbox"]))
        if "q" in question:
            indices = self.words.matching(question["q"])
            return indices[numpy.logical_and.reduce([mask[indices] for mask in masks])] if masks else indices
        return numpy.flatnonzero(numpy.logical_and.reduce(masks)) if masks else self.everything

    def center(self, question):
        return (question["lat"], question["long"]) if "lat" in question else middle_of(*question["bbox"])

    def distances(self, center, indices):
        points, of_place = numpy.unique(self.point_of[indices], return_inverse=True)
        return self.lengths(*center, self.point_latitudes[points], self.point_longitudes[points])[of_place]

    def lengths(self, latitude, longitude, latitudes, longitudes):
        ones = numpy.ones(len(latitudes))
        return GEOD.inv(ones * longitude, ones * latitude, longitudes, latitudes)[2]

    def nearest(self, question, count):
        """The first places of the response and their distances, as many as are asked for; and how many match."""
        center, radius = self.center(question), question.get("radius", math.inf)
        indices = self.matching(question)
        matches = len(indices)
        # The cosines of the angles on the auxiliary sphere; a question without a filter spares the copy.
        sphere = self.sphere if indices is self.everything else self.sphere[indices]
        cosines = sphere @ on_auxiliary_sphere(*center)
        angle = min(farthest_angle(cosines, count), radius / GEOD.b) * MARGIN + MARGIN_METERS / GEOD.b
        if angle < math.pi:
            indices = indices[cosines >= math.cos(angle) - ROUNDING]
        lengths = self.distances(center, indices)
        order = numpy.lexsort((self.ids[indices], lengths))
        order = order[lengths[order] <= radius][:count]
        return indices[order], lengths[order], matches


def fault_of_place(shown, index, length, expected, expected_length, truth):
    """What is wrong with a place of a response, or None."""
    place = truth.places[index]
    if index != expected and (
            truth.point_of[index] == truth.point_of[expected] or abs(length - expected_length) > TIE_METERS):
        return f"place {shown['id']} at {length} m instead of {truth.ids[expected]} at {expected_length} m"
    if any(shown[name] != getattr(place, name) for name in ("name", "category", "latitude", "longitude", "featured")):
        return f"place {shown['id']} is not {place}: {shown}"
    if abs(shown.get("distance", length) - length) > SHOWN_METERS:
        return f"place {shown['id']} at {shown['distance']} m instead of {length} m"
    return None


def fault_of(question, shown, wanted, is_followed, truth):
    """What is wrong with the places of one page or two, or None."""
    expected, expected_lengths, _ = truth.nearest(question, wanted + 1)
    if len(shown) != min(wanted, len(expected)):
        return f"{len(shown)} places instead of {min(wanted, len(expected))}"
    if is_followed != (len(expected) > wanted):
        return f"{'a' if is_followed else 'no'} next page after {len(shown)} places"
    if len({place["id"] for place in shown}) != len(shown):
        return "a place comes twice"
    if any(("distance" in place) != ("lat" in question) for place in shown):
        return "distances are there without a centre, or not there with one"
    indices = [truth.index_of.get(place["id"], -1) for place in shown]
    if -1 in indices:
        return "a place that there isn't"
    lengths = truth.distances(truth.center(question), indices) if indices else []
    faults = map(fault_of_place, shown, indices, lengths, expected, expected_lengths, [truth] * len(shown))
    return next(filter(None, faults), None)
