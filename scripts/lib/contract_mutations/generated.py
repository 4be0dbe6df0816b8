"""The rows that follow from a service's description: each member, header, parameter and status of it."""

from fnmatch import fnmatchcase

from .changes import Row, asking, documents, operation, responding

ALL = "*"
# Of an object whose members have names that no description knows.
EACH = "each"
FORMS = {"application/json": "", "application/geo+json": ".geojson"}

# What can't be noticed, by the ids of rows, and why.
LEFT_OUT = {
    "*/Server-Timing/*": "only where the database took part",
    "*/Poi-Visible/*": "only where a server doesn't serve an edit within 2 s",
    "*/Poi-Stale-Seconds/*": "only while the database is away or behind",
    "readyz/200/*eventsDatabase*": "only where events have a database of their own",
    "attributions/200/*credit*": "no dataset of the seed has one",
    "attributions/200/*url*": "no dataset of the seed has one",
    "locations/200/*version*": "only details have it",
    "locations/200/*updatedAt*": "only details have it",
    "locations/clusters/200/*version*": "only details have it",
    "locations/clusters/200/*updatedAt*": "only details have it",
    "locations/clusters/200/*operatingStatus*": "no place of the seed is closed for a time",
    "*/*properties/swapped/operatingStatus": "the closed place has none",
    "locations/clusters/200/*place.*distance*": "places of clusters have none",
    "locations/clusters/200/*place.*matchedName*": "only where a text was searched for by relevance",
    "locations/{id}*/200/*matchedName*": "only where a text was searched for by relevance",
    "locations/clusters/200/*place.*leftOut*": "only where a text was searched for by relevance",
    "locations/{id}*/200/*leftOut*": "only where a text was searched for by relevance",
    "locations*/200/*matchedName/swapped/leftOut": "no list has both",
    "locations*/200/*leftOut/swapped/categoryLabel": "no list has both",
    "locations/{id}*/200/*mergedFrom*": "only with `ids`",
    "locations/clusters/200/*mergedFrom*": "only with `ids`",
    "locations/digest/200/*distance*": "places of a digest have none",
    "locations/digest/200/*language*": "a digest is in no language: all names come",
    "locations/digest/200/*categoryLabel*": "a digest is in no language",
    "locations/digest/200/*matchedName*": "a digest searches no text",
    "locations/digest/200/*leftOut*": "a digest searches no text",
    "locations/digest/200/*mergedFrom*": "only with `ids`",
    "locations/digest/200/buckets/swapped/groups": "no response has both",
    "locations/digest/200/groups/swapped/count": "no response has both",
    "locations.geojson/200/*mergedFrom*": "the suite merges places in JSON alone",
    "locations/200/*categoryLabel/swapped/mergedFrom": "the suite asks for merged places without languages",
    "problem/errors/swapped/mergedInto": "no problem has both",
    "locations/200/*mergedFrom/swapped/properties": "the suite asks for merged places without properties",
    "*/import/null": "no import wrote the suite's places",
    "problem/408/*": "takes a client that is too slow",
    "problem/41[347]/*": "a proxy before the service may refuse it first",
    "problem/431/*": "a proxy before the service may refuse it first",
    "problem/50?/*": "takes a fault or a state of the service that the suite can't bring about",
}


def drop(container, key, _):
    del container[key]


def nullify(container, key, _):
    container[key] = None


def retype(container, key, _):
    """Gives a value another type, in which it says the same as far as possible."""
    value = container[key]
    if isinstance(value, int | float):
        container[key] = str(value).lower()
    else:
        container[key] = 0 if isinstance(value, str) else "none"


def swap(container, key, following):
    if has(container, following):
        container[key], container[following] = container[following], container[key]


FAULTS = {"dropped": ("is left out", drop), "null": ("is null", nullify), "type": ("is of another type", retype)}


def has(container, key):
    if isinstance(container, dict):
        return key in container
    return isinstance(container, list) and isinstance(key, int) and key < len(container)


def containers(document, steps):
    """What in a document has the member of these steps, each with the member's key."""
    step, *following = steps
    if step == EACH:
        members = list(document.items()) if isinstance(document, dict) else []
        if not following:
            return [(document, key) for key, _ in members]
        return [found for _, item in members for found in containers(item, following)]
    if not following:
        key = 0 if step == ALL else step
        return [(document, key)] if has(document, key) else []
    inner = [document[step]] if has(document, step) else document if step == ALL and has(document, 0) else []
    return [found for item in inner for found in containers(item, following)]


def with_member(steps, following, apply):
    """Changes a member wherever it is in a document."""
    def change(_, document):
        for container, key in containers(document, steps):
            apply(container, key, following)
    return change


def without_header(name):
    return lambda _, response: response.headers.drop(name)


def with_status(status):
    def change(_, response):
        response.body = response.body.replace(b'"status":%d' % response.status, b'"status":%d' % status)
        response.status, response.reason = status, "Changed"
    return change


def without_parameter(path, method, parameter):
    def change(request):
        if operation(request) == path and request.method in (method, "HEAD" if method == "GET" else method):
            (request.headers if parameter["in"] == "header" else request).drop(parameter["name"])
    return change


class Generator:
    """Makes the rows of a document of OpenAPI 3.1."""

    def __init__(self, document):
        self.document, self.rows = document, []

    def resolved(self, value):
        """What a reference leads to; the value itself where it is none."""
        while "$ref" in value:
            target = self.document
            for step in value["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            value = target
        return value

    def flat(self, schema):
        """A schema without references; the variants of `anyOf` have their members together, as the parts of `allOf`."""
        schema = self.resolved(schema)
        for part in map(self.flat, schema.get("allOf", []) + schema.get("anyOf", [])):
            schema = {**part, **schema, "properties": {**part.get("properties", {}), **schema.get("properties", {})}}
        return schema

    def members(self, schema, steps=()):
        """All members of documents of a schema, each by its steps from the root (`*` for the items of an array), with
        the last step of its neighbour, if it has one."""
        schema = self.flat(schema)
        parts = schema.get("properties", {})
        if "prefixItems" in schema:
            parts = dict(enumerate(schema["prefixItems"]))
        elif schema.get("type") == "array":
            parts = {ALL: schema["items"]}
        elif isinstance(schema.get("additionalProperties"), dict) and not parts:
            parts = {EACH: schema["additionalProperties"]}
        for key, following in zip(parts, [*parts, None][1:], strict=True):
            yield (*steps, key), following
            yield from self.members(parts[key], (*steps, key))

    def add(self, name, change, handler):
        if not any(fnmatchcase(name, pattern) for pattern in LEFT_OUT):
            self.rows.append(Row(f"generated/{name}", change, handler))

    def add_operation(self, path, method, found):
        name = (path.strip("/") or "start") + ("" if method == "GET" else f".{method.lower()}")
        for status in (200, 201, 204, 304, 308):
            if str(status) in found["responses"]:
                response = self.resolved(found["responses"][str(status)])
                self.add_statuses(f"{name}/{status}", status, path)
                self.add_headers(f"{name}/{status}", path, response, path=path, method=method, status=status)
                for media_type, content in response.get("content", {}).items():
                    if media_type in FORMS:
                        self.add_members(f"{name}{FORMS[media_type]}/{status}", path, content["schema"], path=path,
                                         method=method, status=status, media_type=media_type)
        for parameter in map(self.resolved, found.get("parameters", [])):
            if parameter["in"] != "path":
                self.add(f"{name}/parameter/{parameter['name']}/removed", f"{path} doesn't read {parameter['name']}",
                         asking(without_parameter(path, method, parameter)))

    def add_statuses(self, name, status, path=None):
        """The neighbours in the same hundred."""
        for other in {status - 1, status + 1}:
            if other // 100 == status // 100:
                self.add(f"{name}/status/{other}", f"{path or 'any path'}: {status} becomes {other}",
                         responding(with_status(other), path=path, status=status))

    def add_headers(self, name, told, response, **where):
        for header in response.get("headers", {}):
            self.add(f"{name}/{header}/dropped", f"{told}: there is no {header}",
                     responding(without_header(header), **where))

    def add_members(self, name, told, schema, **where):
        for steps, following in self.members(schema):
            member = ".".join("items" if step == ALL else str(step) for step in steps)
            faults = FAULTS | {f"swapped/{following}": (f"and {following} exchange their values", swap)}
            for fault, (change, apply) in faults.items():
                if fault != "swapped/None":
                    self.add(f"{name}/{member}/{fault}", f"{told}: {member} {change}",
                             documents(with_member(steps, following, apply), **where))

    def make(self):
        for path, operations in self.document["paths"].items():
            for method in sorted(operations.keys() & {"get", "post", "patch", "delete"}):
                self.add_operation(path, method.upper(), operations[method])
        # The rows of problems are for all operations together.
        problems = {int(name[-3:]): each for name, each in self.document["components"]["responses"].items()}
        where = {"media_type": "application/problem+json"}
        for status in problems:
            self.add_statuses(f"problem/{status}", status)
            self.add_headers(f"problem/{status}", status, problems[status], status=status, **where)
        self.add_members("problem", "problems", self.document["components"]["schemas"]["Problem"], **where)
        return self.rows
