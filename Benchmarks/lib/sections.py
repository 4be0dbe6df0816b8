"""What is measured, a function a table of Documentation/performance.md; the first is in comparison.py."""

from changes import measure_changes
from comparison import measure_comparison
from field import Field, typical_page
from load import CONNECTIONS, Side, alternate, by_load, by_wrk, medians
from processes import separate
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
    index = field.index
    bench.results.setdefault("sizes", []).append({
        "places": field.size, "index": field.measure("sizes"), "resident_bytes": index.resident_bytes(),
        "index_bytes": index.metric(INDEX_BYTES), "load": index.log_line("index-loaded"),
        "load_seconds": index.loading_seconds})


def measure_latency(bench, field):
    """How long responses take at fixed rates: each side at shares of the rate that it reaches itself without waiting, and
    nginx also at the index's rates. What serves has one processor, PostgreSQL included, and the generator the others."""
    children = {"index": field.index, "nginx": field.keep(Nginx(
        bench.work, "nginx-latency", typical_page(bench, field.index)))}
    rounds = min(bench.options.rounds, 3)
    latency = bench.results["latency"] = {"rates": []}
    with separate([bench.database.postmaster, *(child.pid for child in children.values())]):
        tops = alternate([fixed_rate(bench, field, name, child, 0) for name, child in children.items()], rounds,
                         bench.options.seconds)
        latency["top"] = top = {name: medians(each)["rate"] for name, each in tops.items()}
        for share in SHARES:
            asked = {name: (name, top[name] * share) for name in children}
            asked["nginx, the index's rate"] = "nginx", top["index"] * share
            sides = [fixed_rate(bench, field, name, children[child], rate) for name, (child, rate) in asked.items()]
            measured = alternate(sides, rounds, max(2, bench.options.seconds * 5 // 2), warm_up=False)
            latency["rates"] += [{
                "side": name, "share": asked[name][1] / top[asked[name][0]], "asked_rate": asked[name][1], **medians(each),
                "p100": max(one["p100"] for one in each), "unsent": max(one["unsent"] for one in each)}
                for name, each in measured.items()]


def fixed_rate(bench, field, name, child, rate):
    """Pages at a rate; tells which part of the time the server and the generator waited for a processor, too."""
    send = by_load(bench.load, child.port, field.requests("page"), rate, LATENCY_CONNECTIONS)

    def watched(seconds):
        before = child.waited_seconds()
        sent = send(seconds)
        server = child.waited_seconds() - before
        return {**sent, "server_waited": server / sent["seconds"], "generator_waited": sent["waited"] / sent["seconds"]}
    return Side(name, watched, {"server": child.pid})


def measure_parameter(bench, field, section, parameter, values):
    """The cost of a request by its limit or its radius."""
    bench.results[section] = [
        {parameter: value, "index": field.measure(f"{section}-{value}", **{parameter: value})} for value in values]


def measure_loops(bench, field):
    """One loop and two. The generator runs on the same cores."""
    paths = field.paths("page")
    servers = {1: field.index, 2: field.keep(field.server("two-loops", loops=2))}
    sides = [Side(loops, by_wrk(child.url, paths, 2 * CONNECTIONS), field.processes(child)) for loops, child in servers.items()]
    measured = alternate(sides, min(bench.options.rounds, 3), bench.options.seconds)
    bench.results["loops"] = [{"loops": loops, "index": medians(rounds)} for loops, rounds in measured.items()]
