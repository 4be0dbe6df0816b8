"""The server with one number of places, and the requests that are sent to them."""

import statistics

from load import Side, alternate, by_wrk, http_request, medians, write_lines, write_requests
from processes import fetch
from servers import Poi


def path(centre, limit=20, radius=None):
    latitude, longitude = centre
    end = "" if radius is None else f"&radius={radius}"
    return f"/locations?lat={latitude}&long={longitude}&limit={limit}{end}"


class Field:
    """The servers with one number of places, and the files of requests."""

    def __init__(self, bench, name, size):
        self.bench, self.name, self.size = bench, name, size
        self.url = bench.database.url(name)
        self.children = []
        self.index = self.keep(self.server(f"index-{size}"))

    def server(self, name, **settings):
        return Poi(self.bench.poi, self.bench.work, name, self.url, **settings)

    def keep(self, child):
        self.children.append(child)
        return child

    def stop(self):
        for child in self.children:
            child.stop()

    def paths(self, name, **parameters):
        return write_lines(self.bench.file(f"{name}.paths"), [path(centre, **parameters) for centre in self.bench.centres])

    def requests(self, name, **parameters):
        return write_requests(self.bench.file(f"{name}.requests"), [
            http_request(path(centre, **parameters)) for centre in self.bench.centres])

    def processes(self, child, uses_database=True):
        """Whose processor time counts. The server's rows count PostgreSQL too, which has nearly nothing to do."""
        return {"server": child.pid} | ({"PostgreSQL": self.bench.database.postmaster} if uses_database else {})

    def measure(self, name, **parameters):
        """The medians of the server, asked by wrk in one way."""
        side = Side("index", by_wrk(self.index.url, self.paths(name, **parameters)), self.processes(self.index))
        options = self.bench.options
        return medians(alternate([side], min(options.rounds, 3), options.seconds)["index"])


def typical_page(bench, server):
    """The body whose length is nearest to the mean of many."""
    bodies = [fetch(server.url + path(centre)) for centre in bench.centres[:500]]
    mean = statistics.mean(map(len, bodies))
    return min(bodies, key=lambda body: abs(len(body) - mean))
