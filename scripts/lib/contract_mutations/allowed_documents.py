"""Changes of documents that the contract allows: a suite that notices one of these would fail a good service."""

import re
from json.encoder import encode_basestring, encode_basestring_ascii

from . import kept_json
from .kept_json import Number, copy
from .rows import DATA, Theme, is_data, operation, places_in

ROWS = [Theme("allowed", allowed=True, hurts="nobody")]
allowed = ROWS[0]
EXACT = {"latitude", "longitude", "distance", "coordinates", "bbox"}


def new_members(name, told, of, choose, statuses=(200,)):
    @allowed.document(f"new-member-{name}", f"{told} have a new member", of=of, statuses=statuses)
    def add(_, document):
        for item in choose(document):
            item["newMember"] = {"of": ["a", Number(1), None]}


def entries(document):
    return document if isinstance(document, list) else [document]


new_members("of-places", "places", DATA, lambda document: [place.facts for place in places_in(document)])
new_members("of-sources", "places' sources", DATA,
            lambda document: [place.facts["source"] for place in places_in(document) if "source" in place.facts])
new_members("of-features", "features and their collections", ("/locations", "/locations/{id}"),
            lambda document: [document, *document.get("features", [])]
            if isinstance(document, dict) and document.get("type", "").startswith("Feature") else [])
new_members("of-clusters", "clusters and their list", ("/locations/clusters",),
            lambda document: [document, *document["clusters"]])
new_members("of-counts", "categories and attributions", ("/categories", "/attributions"), entries)
new_members("of-health", "health", ("/livez", "/readyz"), entries)
new_members("of-events", "responses to events", ("/events",), entries)
new_members("of-problem-pages", "pages of problems", ("/problems", "/problems/{code}"), entries)
new_members("of-problems", "problems and their faults", None,
            lambda document: [document, *document.get("errors", [])], range(400, 600))


def rewritten(name, change, spell, needs=()):
    """A row that writes each document in another way."""
    @allowed.response(name, change, needs=needs)
    def write(_, response):
        document = response.document
        if document is not None:
            response.body = spell(document).encode()


def reordered(value):
    if isinstance(value, dict):
        return {name: reordered(value[name]) for name in reversed(value)}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def respelled(value, spell, name=None):
    """A value with another spelling of those numbers that needn't be whole."""
    if isinstance(value, dict):
        return {key: respelled(member, spell, key) for key, member in value.items()}
    if isinstance(value, list):
        return [respelled(item, spell, name) for item in value]
    return Number(spell(value)) if isinstance(value, Number) and name in EXACT else value


def with_zeros(number):
    return number.text + ("00" if "." in number.text else ".0") if "e" not in number.text.lower() else number.text


def with_exponent(number):
    return f"{number.value:E}".replace("E", "e")


rewritten("member-order", "members come in another order", lambda document: kept_json.write(reordered(document)))
rewritten("zeros", "numbers have zeros at their end", lambda document: kept_json.write(respelled(document, with_zeros)))
rewritten("exponents", "numbers have exponents", lambda document: kept_json.write(respelled(document, with_exponent)))
rewritten("pretty", "JSON is indented", lambda document: kept_json.write(document, indent="  "))
rewritten("escapes", "letters beyond ASCII are \\u escapes", lambda document: kept_json.write(document, encode_basestring_ascii))
rewritten("slashes", "slashes are escaped",
          lambda document: kept_json.write(document, lambda text: encode_basestring(text).replace("/", "\\/")))
rewritten("line-end", "JSON ends in a line end", lambda document: kept_json.write(document) + "\n")


NEW_CATEGORY = "zzz_new"


@allowed.exchange("new-category", "there is a new category without a place")
async def new_category(exchange):
    request = exchange.request.copy()
    names = (request.parameter("category") or "").split(",")
    if NEW_CATEGORY in names:
        names.remove(NEW_CATEGORY)
        request.drop("category")
        # Nothing has this name: with the new category alone nothing is found.
        added = ("category", ",".join(names)) if names else ("q", "qqqzzzxxxqqq")
        request.pairs = [*[pair for pair in request.pairs if names or pair[0] != "q"], added]
    response = await exchange.ask(request)
    document = response.document
    if operation(request) == "/categories" and response.status == 200 and document is not None:
        document.append({"name": NEW_CATEGORY, "count": Number(0)})
        document.sort(key=lambda entry: (-entry["count"].value, entry["name"]))
        response.document = document
    if operation(request) == "/openapi.json" and response.status == 200 and document is not None:
        for parameter in document["paths"]["/locations"]["get"]["parameters"]:
            if parameter["name"] == "category":
                parameter["schema"]["items"]["enum"].append(NEW_CATEGORY)
        response.document = document
    return response


def described(name, change):
    return allowed.document(name, change, of=("/openapi.json",))


def new_resource(name, change, path, like, add):
    """A row with a path that the description has, too: what it responds is what another one does."""
    @allowed.exchange(name, change)
    async def handler(exchange):
        request = exchange.request.copy()
        request.target = like if request.path == path else request.target
        response = await exchange.ask(request)
        document = response.document if response.status == 200 else None
        if document is not None and add(exchange.request, document):
            response.document = document
        return response


def add_path(request, document):
    if request.path == "/openapi.json":
        document["paths"]["/new"] = copy(document["paths"]["/livez"])
    return request.path == "/openapi.json"


def add_code(request, document):
    if request.path == "/problems/new-code":
        document |= {"code": "new-code", "type": "/problems/new-code"}
    elif request.path == "/problems":
        document.append({**copy(document[-1]), "code": "new-code", "type": "/problems/new-code"})
    elif request.path == "/openapi.json":
        document["components"]["schemas"]["ProblemCode"]["enum"].append("new-code")
    return request.path in ("/problems/new-code", "/problems", "/openapi.json")


new_resource("described-path", "there is a new path", "/new", "/livez", add_path)
new_resource("described-code", "there is a new problem code", "/problems/new-code", "/problems/not-found", add_code)


@described("described-parameter", "an operation has a new parameter")
def add_parameter(_, document):
    document["paths"]["/locations"]["get"]["parameters"].append(
        {"name": "sort", "in": "query", "required": False, "schema": {"type": "string"}})


@described("described-member", "a place has a new member in the description")
def add_member(_, document):
    document["components"]["schemas"]["PointOfInterest"]["properties"]["phone"] = {"type": "string"}


@allowed.document("other-texts", "problems have other titles and details", statuses=range(400, 600))
def other_texts(_, document):
    for item in [document, *document.get("errors", [])]:
        for name in {"title", "detail"} & set(item):
            item[name] = f"Other words: {item[name]}"


def own(number):
    """The server's own id for one that is 1,000 more; what is no id stays."""
    if not number.isdigit() or str(int(number)) != number or not 0 < int(number) < 2**63:
        return number
    return str(int(number) - 1000) if int(number) > 1000 else "9" * 18


def own_ids(request):
    """Gives a request for places by their ids the server's own ones."""
    if operation(request) == "/locations/{id}":
        number = request.path.rpartition("/")[2]
        request.target = request.target.replace(number, own(number), 1)
    request.target = re.sub(
        r"(?<=[?&]ids=)[^&]*", lambda ids: re.sub(r"\d+", lambda one: own(one[0]), ids[0].replace("%2C", ",")), request.target)


@allowed.exchange("other-ids", "places have other ids everywhere, and are found by them")
async def other_ids(exchange):
    request = exchange.request.copy()
    own_ids(request)
    response = await exchange.ask(request)
    document = response.document if response.status == 200 and is_data(exchange) else None
    if document is not None:
        for place in places_in(document):
            place.item["id"] = Number(int(place.item["id"].value) + 1000)
        response.document = document
    return response
