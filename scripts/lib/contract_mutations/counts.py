"""Rows about what is counted: clusters, categories and attributions."""

from decimal import Decimal

from .kept_json import Number, copy
from .rows import Theme, spelled

clusters = Theme("clusters")
categories = Theme("categories")
attributions = Theme("attributions")
ROWS = [clusters, categories, attributions]


def add(number, step):
    return Number(int(number.value) + step)


def of_clusters(name, change, hurts):
    """A row that changes the list of clusters."""
    def take(function):
        def alter(_, document):
            changed = function(document["clusters"])
            if changed is not None:
                document["clusters"] = changed
        clusters.document(name, change, hurts, of=("/locations/clusters",))(alter)
        return function
    return take


def with_first(name, change, hurts, is_chosen=lambda cluster: cluster["count"].value > 1):
    """A row that changes the first cluster of a kind."""
    def take(function):
        def alter(listed):
            chosen = next(filter(is_chosen, listed), None)
            if chosen is not None:
                function(chosen)
        of_clusters(name, change, hurts)(alter)
        return function
    return take


@with_first("one-too-many", "the first cluster of several places counts one too many", "a map's sums are wrong")
def one_more(cluster):
    cluster["count"] = add(cluster["count"], 1)


@with_first("one-too-few", "the first cluster of more than two places counts one too few", "a map's sums are wrong",
            lambda cluster: cluster["count"].value > 2)
def one_less(cluster):
    cluster["count"] = add(cluster["count"], -1)


@of_clusters("middle-of-box", "a cluster is in the middle of its box instead of at the mean", "a map shows a cluster in the sea")
def use_middle(listed):
    for cluster in listed:
        west, south, east, north = (part.value for part in cluster["bbox"])
        if cluster["count"].value > 2 and west < east:
            cluster["latitude"], cluster["longitude"] = spelled((south + north) / 2, 7), spelled((west + east) / 2, 7)


@of_clusters("reversed", "clusters come from south to north", "pages of a map come in another order")
def reverse(listed):
    listed.reverse()


@of_clusters("one-left-out", "the last cluster is missing", "a map shows an empty cell that isn't")
def leave_out(listed):
    del listed[-1:]


@of_clusters("two-merged", "the first two clusters are one", "a map shows a cluster between two towns")
def merge(listed):
    if len(listed) < 2:
        return
    first, second = listed[0], listed.pop(1)
    count = first["count"].value + second["count"].value
    for name in ("latitude", "longitude"):
        total = first[name].value * first["count"].value + second[name].value * second["count"].value
        first[name] = spelled(total / count, 7)
    first["count"] = Number(int(count))
    choices = (min, min, max, max)
    first["bbox"] = [choose(pair, key=lambda part: part.value)
                     for choose, pair in zip(choices, zip(first["bbox"], second["bbox"], strict=True), strict=True)]
    first.pop("place", None)


@clusters.document("zoom-echoed-wrongly", "the zoom is one greater than asked for", "a map draws cells of another size",
                   of=("/locations/clusters",))
def change_zoom(_, document):
    document["zoom"] = add(document["zoom"], 1) if document["zoom"].value < 22 else Number("21")


@of_clusters("lone-place-missing", "a cluster of one doesn't have its place", "a map can't name it")
def drop_place(listed):
    for cluster in listed:
        cluster.pop("place", None)


@of_clusters("lone-place-with-distance", "a cluster's place has a distance", "an app shows a distance from nowhere")
def add_distance(listed):
    for cluster in listed:
        if "place" in cluster:
            cluster["place"]["distance"] = Number("0")


@of_clusters("place-of-several", "a cluster of several has a place", "a map opens one place instead of going nearer")
def add_place(listed):
    place = next((cluster["place"] for cluster in listed if "place" in cluster), None)
    for cluster in listed:
        if place is not None and "place" not in cluster:
            cluster["place"] = copy(place)


@of_clusters("boxes-of-lone-places-only", "a cluster's box is the point of its mean", "a map doesn't go near enough")
def shrink(listed):
    for cluster in listed:
        cluster["bbox"] = [cluster["longitude"], cluster["latitude"], cluster["longitude"], cluster["latitude"]]


@of_clusters("box-west-and-east-swapped", "boxes have west and east exchanged", "a map shows the other side of the Earth")
def swap_sides(listed):
    for cluster in listed:
        cluster["bbox"][0], cluster["bbox"][2] = cluster["bbox"][2], cluster["bbox"][0]


def ignoring(parameter):
    @clusters.request(f"{parameter}-ignored-with-others", f"beside another filter, {parameter} is ignored",
                      "a filtered map shows too much")
    def alter(request):
        names = [name for name, _ in request.pairs]
        if request.path == "/locations/clusters" and len({"category", "dataset", "q", "featured"} & set(names)) > 1:
            request.drop(parameter)


ignoring("category")


@of_clusters("means-of-two-decimals", "means are rounded to two decimals", "a map shows clusters 500 m beside their places")
def round_means(listed):
    for cluster in listed:
        for name in ("latitude", "longitude"):
            cluster[name] = spelled(cluster[name].value, 2)


@of_clusters("means-of-six-decimals", "means are rounded to six decimals instead of seven", "two programs disagree")
def round_means_less(listed):
    for cluster in listed:
        for name in ("latitude", "longitude"):
            cluster[name] = spelled(cluster[name].value, 6)


def of_list(theme, path):
    """A way to make rows that change the document of an endpoint that is one list."""
    def row(name, change, hurts, needs=()):
        def take(function):
            def alter(_, document):
                return function(document)
            theme.document(name, change, hurts, needs, of=(path,))(alter)
            return function
        return take
    return row


category = of_list(categories, "/categories")
attribution = of_list(attributions, "/attributions")


@category("by-name", "categories come by name", "an app offers rare ones first")
def by_name(document):
    document.sort(key=lambda entry: entry["name"])


@category("ties-by-descending-name", "categories of one size come from z to a", "a list changes its order")
def reverse_ties(document):
    document.sort(key=lambda entry: entry["name"], reverse=True)
    document.sort(key=lambda entry: -entry["count"].value)


def counted(row, member, name, change, step, chosen, needs=()):
    @row(name, change, "sums are wrong", needs)
    def alter(document):
        for entry in document[chosen]:
            entry[member] = add(entry[member], step)


EVERY, LAST, FIRST = slice(None), slice(-1, None), slice(0, 1)
counted(category, "count", "one-too-many", "every category counts one too many", 1, EVERY)
counted(category, "count", "one-too-few-of-first", "the most frequent category counts one too few", -1, FIRST)
counted(category, "count", "one-too-many-of-last", "the rarest category counts one too many", 1, LAST)
counted(attribution, "places", "one-too-many", "every dataset counts one place too many", 1, EVERY)
counted(attribution, "places", "one-too-few-of-first", "the first dataset counts one place too few", -1, FIRST)


@category("empty-left-out", "categories without a place are left out", "an app can't name a category that it has kept",
          needs=("empty-categories",))
def without_empty(document):
    return [entry for entry in document if entry["count"].value > 0]


@category("one-doubled", "the first category comes twice", "an app shows it twice")
def double(document):
    document.insert(0, copy(document[0]))


@category("last-left-out", "the last category is missing", "an app can't offer it")
def leave_out_category(document):
    del document[-1:]


@category("first-left-out", "the most frequent category is missing", "an app can't offer it")
def leave_out_first(document):
    del document[0]


def dropped(member):
    @attribution(f"{member}-dropped", f"no dataset has its {member}", "a map doesn't show what a licence asks for",
                 needs=("credits",))
    def alter(document):
        for entry in document:
            entry.pop(member, None)


dropped("credit")
dropped("url")


@attribution("license-replaced", "datasets have another license than their places", "an app breaks the terms of a dataset")
def replace_license(document):
    for entry in document:
        entry["license"] = "MIT"


@attribution("credit-replaced", "a dataset has another's credit", "a map credits somebody else", needs=("credits",))
def replace_credit(document):
    for entry in document:
        if "credit" in entry:
            entry["credit"] = "Somebody else"


@attribution("one-left-out", "the last dataset is missing", "a map doesn't credit it")
def leave_out_dataset(document):
    del document[-1:]


@attribution("reversed", "datasets come from z to a", "a list changes its order", needs=("several-datasets",))
def reverse_datasets(document):
    document.reverse()


@attribution("invented", "there is a dataset that no place is from", "a map credits what it doesn't show")
def invent(document):
    document.append({"dataset": "zzz", "license": "CC0-1.0", "places": Number("1")})


@category("halved-counts", "counts are half of what they are", "sums are wrong")
def halve(document):
    for entry in document:
        entry["count"] = Number(int(entry["count"].value / Decimal(2)))
