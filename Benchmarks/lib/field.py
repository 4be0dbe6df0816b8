"""The servers with one number of places, and the requests that are sent to them."""

import statistics

from load import Side, by_wrk, http_request, write_lines, write_requests
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
        self.database = self.server(f"database-{size}", index=False)
        self.index = self.start_index()
        self.children = []

    def server(self, name, **settings):
        return Poi(self.bench.poi, self.bench.work, name, self.url, **settings)

    def start_index(self):
        """Nothing if it doesn't get ready: then the database is measured all the same."""
        try:
            return self.server(f"index-{self.size}", index=True)
        except Exception:
            self.bench.note_failure(f"index of {self.size} places")
            return None

    def keep(self, child):
        self.children.append(child)
        return child

    def stop(self):
        for child in [*self.children, self.database, *([self.index] if self.index else [])]:
            child.stop()

    def paths(self, name, **parameters):
        return write_lines(self.bench.file(f"{name}.paths"), [path(centre, **parameters) for centre in self.bench.centres])

    def requests(self, name, **parameters):
        return write_requests(self.bench.file(f"{name}.requests"), [
            http_request(path(centre, **parameters)) for centre in self.bench.centres])

    def processes(self, child, uses_database=True):
        """Whose processor time counts. The index's rows count PostgreSQL too, which should have nothing to do."""
        return {"server": child.pid} | ({"PostgreSQL": self.bench.database.postmaster} if uses_database else {})

    def own_sides(self):
        """The two paths of the server, by name; the index where there is one."""
        return {name: child for name, child in (("index", self.index), ("database", self.database)) if child}

    def wrk_sides(self, name, **parameters):
        """Both paths, asked by wrk in one way."""
        paths = self.paths(name, **parameters)
        return [Side(side, by_wrk(child.url, paths), self.processes(child)) for side, child in self.own_sides().items()]


def typical_page(bench, server):
    """The body whose length is nearest to the mean of many."""
    bodies = [fetch(server.url + path(centre)) for centre in bench.centres[:500]]
    mean = statistics.mean(map(len, bodies))
    return min(bodies, key=lambda body: abs(len(body) - mean))
