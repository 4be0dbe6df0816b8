"""What is measured, a function a table of Documentation/performance.md; the first is in comparison.py."""

from changes import measure_changes
from comparison import measure_comparison
from field import Field, typical_page
from load import CONNECTIONS, Side, alternate, by_load, by_wrk, medians
from servers import INDEX_BYTES, Nginx

ALL = ["comparison", "latency", "sizes", "limits", "radii", "loops", "changes"]
LIMITS = [1, 5, 20, 50, 100]
RADII = [100, 1_000, 5_000, 50_000, None]
SHARES = [0.1, 0.25, 0.5, 0.75, 0.9]
LATENCY_CONNECTIONS = 64


def measure_size(bench, name, size, is_compared):
    field = Field(bench, name, size)
    try:
        bench.attempt(f"sizes {size}", lambda: measure_cost(bench, field))
        if is_compared:
            bench.attempt("comparison", lambda: measure_comparison(bench, field))
            bench.attempt("latency", lambda: measure_latency(bench, field))
            bench.attempt("limits", lambda: measure_parameter(bench, field, "limits", "limit", LIMITS))
            bench.attempt("radii", lambda: measure_parameter(bench, field, "radii", "radius", RADII))
            bench.attempt("loops", lambda: measure_loops(bench, field))
            bench.attempt("changes", lambda: measure_changes(bench, field))
    finally:
        field.stop()


def measure_cost(bench, field):
    """The cost of a request, of memory and of loading the index, with a number of places."""
    measured = alternate(field.wrk_sides("sizes"), min(bench.options.rounds, 3), bench.options.seconds)
    entry = {"places": field.size, **{name: medians(rounds) for name, rounds in measured.items()}}
    if field.index:
        if not field.index.serves_by_index():
            raise RuntimeError("the index stopped serving")
        # Both have served the same number of rounds.
        entry["resident_bytes"] = {name: child.resident_bytes() for name, child in field.own_sides().items()}
        entry["index_bytes"] = field.index.metric(INDEX_BYTES)
        entry["load"] = field.index.log_line("index-loaded")
        entry["load_seconds"] = field.index.loading_seconds
    bench.results.setdefault("sizes", []).append(entry)


def measure_latency(bench, field):
    """How long responses take at fixed rates, as shares of the rate that is reached without waiting.

    nginx gets the rates of the faster path: its times are those of the generator and of the kernel.
    """
    requests, rounds = field.requests("page"), min(bench.options.rounds, 3)
    own = field.own_sides()
    nginx = field.keep(Nginx(bench.work, "nginx-latency", typical_page(bench, field.database)))

    def side(name, child, rate=0):
        return Side(name, by_load(bench.load, child.port, requests, rate, LATENCY_CONNECTIONS), {"server": child.pid})
    tops = alternate([side(name, child) for name, child in own.items()], rounds, bench.options.seconds)
    top = {name: medians(each)["rate"] for name, each in tops.items()}
    top["nginx"] = max(top.values())
    bench.results["latency"] = {"top": top, "rates": []}
    for share in SHARES:
        sides = [side(name, child, top[name] * share) for name, child in {**own, "nginx": nginx}.items()]
        measured = alternate(sides, rounds, max(2, bench.options.seconds * 5 // 2), warm_up=False)
        for name, each in measured.items():
            bench.results["latency"]["rates"].append({
                "side": name, "share": share, "asked_rate": top[name] * share, **medians(each),
                "p100": max(one["p100"] for one in each), "unsent": max(one["unsent"] for one in each)})


def measure_parameter(bench, field, section, parameter, values):
    """The cost of a request by its limit or its radius."""
    bench.results[section] = []
    for value in values:
        sides = field.wrk_sides(f"{section}-{value}", **{parameter: value})
        measured = alternate(sides, min(bench.options.rounds, 3), bench.options.seconds)
        bench.results[section].append({parameter: value, **{name: medians(rounds) for name, rounds in measured.items()}})


def measure_loops(bench, field):
    """One loop and two. The generator runs on the same cores."""
    paths = field.paths("page")
    servers = {(name, 1): child for name, child in field.own_sides().items()}
    for name in field.own_sides():
        servers[name, 2] = field.keep(field.server(f"{name}-two-loops", index=name == "index", loops=2))
    sides = [Side(f"{name} {loops}", by_wrk(child.url, paths, 2 * CONNECTIONS), field.processes(child))
             for (name, loops), child in servers.items()]
    measured = alternate(sides, min(bench.options.rounds, 3), bench.options.seconds)
    bench.results["loops"] = [
        {"side": name.split()[0], "loops": int(name.split()[1]), **medians(rounds)} for name, rounds in measured.items()]
