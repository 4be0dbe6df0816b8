"""The rows that follow from a service's description, and what of it has none, with the reasons."""

from dataclasses import dataclass, field

from . import kept_json
from .openapi import FAULTS, Description
from .rows import DATA, Row, operation

DOCUMENTS = ("/openapi.json", "/problems", "/problems/{code}", "/")
# The statuses of an operation that the suite can bring about with a healthy server, besides those of any operation.
OWN = {**{path: (200, 304, 400, 401, 406) for path in DATA}, **{path: (200, 304, 406) for path in DOCUMENTS},
       "/events": (200, 400, 401, 406, 415, 422), "/livez": (200,), "/readyz": (200,)}
OWN["/locations/{id}"] += (404,)
OWN["/problems/{code}"] += (404,)
# What the service says before it looks at what an operation is: one row for all operations.
OF_ANY = (405, 412, 429)
NEEDS = {401: "keys", 429: "limited"}
UNREACHABLE = {403: "no longer sent", 408: "takes a client that is too slow", 500: "takes a fault of the server",
               413: "a proxy before the service may have limits of its own", 414: "a proxy may refuse it first",
               417: "a proxy may refuse it first", 431: "a proxy may refuse it first",
               501: "takes a request that isn't HTTP as clients send it", 502: "takes a balancer without a server",
               503: "takes a server that is overloaded or without its database", 504: "takes a slow database",
               505: "takes a version of HTTP that clients don't send"}
# Neighbours, and what a status is taken for; 199 isn't a final status, and 404 for 405 is a row of methods.
CONFUSED = {200: (201,), 304: (303, 305), 400: (401, 422), 401: (400, 402, 403), 404: (403, 405, 410), 405: (406,),
            406: (405, 407, 415), 412: (411, 413, 428), 415: (414, 416, 400), 422: (421, 423, 400), 429: (428, 430)}
NAMES = {"/": "start-page", "/locations/{id}": "location", "/problems/{code}": "problem-page", "/openapi.json": "openapi"}
# Members that only some services have.
CONDITIONAL = {("/attributions", "credit"): "credits", ("/attributions", "url"): "credits"}
# Members that no response has: they are the schema's because it is also another's.
ABSENT = {("/readyz", "eventsDatabase"): "only where events have a database of their own",
          ("/locations/clusters", "clusters.place.distance"): "places of clusters have none",
          ("/locations/clusters", "clusters.place.matchedName"): "only where a text was searched for by relevance",
          **{("/locations/{id}", prefix + "matchedName"): "only where a text was searched for by relevance"
             for prefix in ("", "properties.")}}
# Headers that no response has in a run.
RARE_HEADERS = {"Server-Timing": "only where the database took part",
                "Poi-Stale-Seconds": "only while the database is away or behind"}
FORM_NAMES = {"application/json": "", "application/geo+json": ".geojson"}
PROBLEM_MEMBERS_HURT = "a client can't tell what went wrong"


def name_of(path):
    return NAMES.get(path, path.strip("/").replace("/", "-").replace(".", "-"))


@dataclass(frozen=True)
class Where:
    """Which responses a row is about; what is empty holds for all."""

    paths: tuple = ()
    methods: tuple = ()
    statuses: tuple = ()
    media_type: str = ""

    def holds(self, exchange, response):
        return ((not self.paths or operation(exchange.request) in self.paths)
                and (not self.methods or exchange.request.method in self.methods)
                and (not self.statuses or response.status in self.statuses)
                and self.media_type in ("", response.media_type))


def responding(where, change):
    """A handler that changes the responses that are meant."""
    async def handler(exchange):
        response = await exchange.ask()
        if where.holds(exchange, response):
            change(response)
        return response
    return handler


def member_change(member, apply):
    """Changes a member wherever it stands in a response's document."""
    def change(response):
        document = response.document
        if document is None:
            return
        before = kept_json.write(document)
        for container, key in member.places(document):
            apply(container, key, member.following)
        if kept_json.write(document) != before:
            response.document = document
    return change


def status_change(status):
    def change(response):
        response.body = response.body.replace(b'"status":%d' % response.status, b'"status":%d' % status)
        response.status, response.reason = status, "Changed"
    return change


def removing(path, parameter):
    """A handler that removes a parameter before the server sees it."""
    async def handler(exchange):
        request = exchange.request.copy()
        if operation(request) == path:
            if parameter["in"] == "header":
                request.headers.drop(parameter["name"])
            elif request.parameter(parameter["name"]) is not None:
                request.drop(parameter["name"])
        return await exchange.ask(request)
    return handler


@dataclass
class Generator:
    """Makes the rows of a description."""

    description: Description
    rows: list = field(default_factory=list)
    left_out: list = field(default_factory=list)

    def add(self, name, change, hurts, handler, *needs):
        self.rows.append(Row(f"generated/{name}", change, hurts, handler, needs=frozenset(need for need in needs if need)))

    def make(self):
        for path, method, found in self.description.operations():
            for status in map(int, found["responses"]):
                self.add_response(path, method, status, self.description.resolved(found["responses"][str(status)]))
            if method != "HEAD":
                self.add_parameters(path, found.get("parameters", []))
        for status in sorted({status for statuses in OWN.values() for status in statuses if status >= 400} | set(OF_ANY)):
            self.add_problem(status)
        self.add_problems()
        self.left_out.append(("HTML", "pages for people have no members"))
        return self

    def add_response(self, path, method, status, response):
        """The rows of an operation's response; those of problems are one for all operations, but for their status."""
        if status not in OWN[path]:
            if status not in OF_ANY:
                told = str(status) if status in UNREACHABLE else f"{path} {status}"
                self.leave_out(told, UNREACHABLE.get(status, "no request brings it about"))
            return
        if method != "HEAD":
            self.add_statuses(name_of(path), (path,), status)
        if status >= 400:
            return
        if method == "HEAD" and status == 304:
            self.leave_out("HEAD 304", "apps don't ask by HEAD; it is made as GET's is")
            return
        prefix = "head-" if method == "HEAD" else ""
        where = Where((path,), (method,), (status,))
        self.add_headers(f"{prefix}{name_of(path)}/{status}", f"{method} {path} {status}", where, response)
        for media_type, content in response.get("content", {}).items():
            if media_type in FORM_NAMES:
                where = Where((path,), ("GET", "HEAD", "POST"), (status,), media_type)
                self.add_members(f"{name_of(path)}{FORM_NAMES[media_type]}/{status}", path, where, content["schema"])

    def add_statuses(self, name, paths, status):
        for other in CONFUSED[status]:
            self.add(f"{name}/{status}/status/{other}", f"{status} of {', '.join(paths) or 'any path'} becomes {other}",
                     "a client does something else", responding(Where(paths, (), (status,)), status_change(other)),
                     NEEDS.get(status))

    def add_headers(self, name, told, where, response, need=None):
        for header in response.get("headers", {}):
            if (why := RARE_HEADERS.get(header)) is not None:
                self.leave_out(header, why)
                continue
            def change(response, header=header):
                response.headers.drop(header)
            self.add(f"{name}/{header}/dropped", f"{told} has no {header}", "a client or cache lacks it",
                     responding(where, change), need)

    def add_members(self, name, path, where, schema):
        for member in self.description.members(schema):
            if (why := ABSENT.get((path, member.name))) is not None:
                self.leave_out(f"{path}: {member.name}", why)
                continue
            neighbour = ".".join([*member.name.split(".")[:-1], str(member.following)])
            for fault, (told, apply) in FAULTS.items():
                if fault != "swapped" or member.following is not None and (path, neighbour) not in ABSENT:
                    self.add(f"{name}/{member.name}/{fault}", f"{member.name} of {path} {told}", "an app can't use the response",
                             responding(where, member_change(member, apply)),
                             CONDITIONAL.get((path, neighbour if fault == "swapped" else member.name)))

    def add_parameters(self, path, parameters):
        for parameter in map(self.description.resolved, parameters):
            if parameter["in"] != "path":
                self.add(f"{name_of(path)}/parameter/{parameter['name']}/removed",
                         f"{parameter['name']} of {path} isn't read", "a client gets what it didn't ask for",
                         removing(path, parameter))

    def add_problem(self, status):
        """The rows of a status's problems, for all operations; what problems have in common has rows of its own."""
        where, need = Where(statuses=(status,)), NEEDS.get(status)
        if status in OF_ANY:
            self.add_statuses("problem", (), status)
        if (header := {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After"}.get(status)) is not None:
            self.add_headers(f"problem/{status}", f"a problem of {status}", where, {"headers": [header]}, need)
        if status in (400, 422):
            variant = "index" if status == 422 else "parameter"
            for member in self.description.members(self.description.schema("Problem"), (), variant):
                if member.steps[0] == "errors":
                    self.add_problem_member(status, where, member)

    def add_problems(self):
        """The rows of what problems of any status have in common."""
        where = Where(media_type="application/problem+json")
        self.add_headers("problem/any", "a problem", where, {"headers": ["Date", "X-Request-Id", "Cache-Control", "Vary"]})
        for member in self.description.members(self.description.schema("Problem")):
            if member.steps[0] != "errors":
                self.add_problem_member("any", where, member)

    def add_problem_member(self, status, where, member):
        for fault, (told, apply) in FAULTS.items():
            if fault != "swapped" or member.following not in (None, "errors"):
                self.add(f"problem/{status}/{member.name}/{fault}", f"{member.name} of problems ({status}) {told}",
                         PROBLEM_MEMBERS_HURT, responding(where, member_change(member, apply)))

    def leave_out(self, what, why):
        if (what, why) not in self.left_out:
            self.left_out.append((what, why))


def generate(document):
    """The rows of a description as the server serves it, and what was left out, with reasons."""
    made = Generator(Description(document)).make()
    return made.rows, made.left_out
