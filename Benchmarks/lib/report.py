"""Tables from the results of Benchmarks/run: for the terminal, and for Documentation/performance.md.

What has no result is "not measured"; no figure comes from elsewhere.
"""

import re
import statistics

NONE = "not measured"
# Our side, the other side, and what they are.
PAIRS = [
    ("livez", "nginx-livez", "`GET /livez`", "nginx, `return 200` with the same body"),
    ("livez-load", "nginx-livez-load", "the same by `load`", "nginx, likewise"),
    ("index", "nginx-page", "20 places", "nginx, `return 200` with a body as long"),
    ("index-load", "nginx-page-load", "the same by `load`", "nginx, likewise"),
    ("index-log", "nginx-page-log", "the same by wrk with access logs", "nginx, likewise"),
    ("index", "pgbench", "20 places", "PostGIS: `pgbench -M prepared`"),
    ("index-5km", "redis", "20 places within 5 km", "Redis `GEOSEARCH`, the same circle"),
    ("index", "go", "20 places", "Go with pgx"),
    ("index", "fastapi", "20 places", "FastAPI with asyncpg"),
]


def number(value, digits=0):
    return f"{value:,.{digits}f}"


def microseconds(value):
    return f"{value:.1f} µs" if value < 100 else f"{value:,.0f} µs"


def milliseconds(value):
    """Of microseconds."""
    return f"{value / 1000:.2f} ms" if value < 10_000 else f"{value / 1000:,.0f} ms"


def table(head, rows):
    """Markdown, padded so that it is read in a terminal as well."""
    cells = [list(map(str, row)) for row in [head, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def of_comparison(results, name, figure):
    rounds = results.get("comparison", {}).get(name)
    return [one[figure] for one in rounds] if rounds else None


def ratio_row(results, ours, theirs, our_text, their_text):
    rates, cpus = ([of_comparison(results, name, figure) for name in (ours, theirs)] for figure in ("rate", "cpu"))
    if not all(rates):
        return [our_text, their_text] + [NONE] * 6
    middle = [statistics.median(values) for values in rates]
    cost = [statistics.median(values) for values in cpus]
    each = [a / b for a, b in zip(*rates)]
    return [our_text, their_text, f"**{middle[0] / middle[1]:.2f}** ({min(each):.2f} to {max(each):.2f})",
            f"**{cost[0] / cost[1]:.2f}**", *map(number, middle), *map(microseconds, cost)]


def ratios(results):
    head = ["this server", "against", "ratio of rates", "of CPU", "requests/s", "against", "CPU a request", "against"]
    return table(head, [ratio_row(results, *pair) for pair in PAIRS])


def processes(results):
    """Where the processor time of the comparison went, for the terminal alone."""
    sides = dict.fromkeys(side for pair in PAIRS for side in pair[:2])
    rows = []
    for name in sides:
        rounds = results.get("comparison", {}).get(name)
        if not rounds:
            rows.append([name] + [NONE] * 6)
            continue
        kinds = {kind: [statistics.median(one["cpu_by_process"].get(kind, [0, 0])[part] for one in rounds) for part in (0, 1)]
                 for kind in ("server", "PostgreSQL")}
        cells = [microseconds(part) for parts in kinds.values() for part in parts]
        rows.append([name, *cells, f"{statistics.median(one['cores'] for one in rounds):.2f}",
                     microseconds(statistics.median(one["sender_cpu"] for one in rounds))])
    head = ["side", "server, user", "system", "PostgreSQL, user", "system", "cores busy", "what sends it"]
    return table(head, rows)


def latency(results):
    head = ["side", "of its top rate", "requests/s", "p50", "p90", "p99", "p99.9", "maximum", "server waited",
            "generator waited"]
    rates = results.get("latency", {}).get("rates", [])
    rows = [[one["side"], f"{one['share']:.0%}", number(one["asked_rate"]) + (" (not reached)" if one["unsent"] else ""),
             *(milliseconds(one[name]) for name in ("p50", "p90", "p99", "p99.9", "p100")),
             *(f"{one[name]:.1%}" for name in ("server_waited", "generator_waited"))] for one in rates]
    return table(head, rows or [["index"] + [NONE] * 9])


def by_parameter(results, section, heading, shown):
    rows = [[shown(entry), number(entry["index"]["rate"]), microseconds(entry["index"]["cpu"])]
            for entry in results.get(section, [])]
    return table([heading, "requests/s", "CPU a request"], rows or [[NONE] * 3])


def in_order(results):
    return sorted(results.get("sizes", []), key=lambda entry: entry["places"])


def sizes(results):
    return by_parameter({"sizes": in_order(results)}, "sizes", "places", lambda entry: number(entry["places"]))


def limits(results):
    return by_parameter(results, "limits", "limit", lambda entry: entry["limit"])


def radii(results):
    def shown(entry):
        return "none" if entry["radius"] is None else f"{entry['radius']:,} m"
    return by_parameter(results, "radii", "radius", shown)


def loops(results):
    return by_parameter(results, "loops", "loops", lambda entry: entry["loops"])


def changes(results):
    one = results.get("changes")
    row = [one["count"], *(milliseconds(one[name]) for name in ("p50", "p90", "p99", "p100"))] if one else [NONE] * 5
    return table(["changes", "p50", "p90", "p99", "maximum"], [row])


def memory(results):
    rows = []
    for entry in in_order(results):
        places, resident, known = entry["places"], entry.get("resident_bytes"), entry.get("index_bytes")
        if resident:
            loaded = re.search(r"after ([\d.]+) s", entry.get("load") or "")
            rows.append([number(places), f"{number(resident / 2**20)} MiB", f"{number(resident / places)} bytes",
                         f"{number(known / places)} bytes" if known else NONE,
                         f"{loaded.group(1)} s" if loaded else NONE, f"{entry['load_seconds']:.1f} s"])
    head = ["places", "the process's memory", "a place", "a place, by the metric", "loading, by the log",
            "from start until ready"]
    json = ""
    if rows and "body_bytes" in results:
        json = f"\n\nA place's JSON has about {number(results['body_bytes']['page'] / 20)} bytes in a response."
    return table(head, rows or [[NONE] * 6]) + json


def redis_memory(results):
    redis = results.get("redis")
    if not redis:
        return f"Redis with the same places: {NONE}."
    return (f"Redis keeps positions and numbers of {number(redis['places'])} places, without names or anything else of "
            f"them, in {number(redis['bytes'] / redis['places'])} bytes a place (`used_memory`).")


def growth(results):
    """How the cost of a request grows from the fewest to the most places."""
    entries = in_order(results)
    if len(entries) < 2:
        return None
    first, last = entries[0], entries[-1]
    return (f"With {number(last['places'])} places a request costs {last['index']['cpu'] / first['index']['cpu']:.1f} times the "
            f"processor time that it costs with {number(first['places'])}.")


def expectation(results):
    """What a user should expect, in sentences."""
    lines = []
    if rates := of_comparison(results, "index", "rate"):
        lines.append(f"One loop serves {number(statistics.median(rates))} pages of 20 places a second, where users and "
                     f"{number(results['places'])} places are all over the world.")
    for one in results.get("latency", {}).get("rates", []):
        if one["share"] in (0.5, 0.75) and one["side"] == "index":
            lines.append(f"At {one['share']:.0%} of its highest rate, {number(one['asked_rate'])} requests a second, 99 of 100 "
                         f"responses take at most {milliseconds(one['p99'])}, where what serves has a processor of its own.")
    lines += filter(None, [growth(results)])
    return "\n".join(f"- {line}" for line in lines) or NONE


def machine(results):
    one, versions = results["machine"], results["versions"]
    names = ", ".join(f"{name} {value}".replace("Swift Swift version", "Swift") for name, value in versions.items())
    lines = [
        f"Measured on {results['date']}, at commit `{results['commit']}`, by `{results['command']}`: {results['rounds']} rounds "
        f"of {results['seconds']} s for each side of the comparison, {number(results['places'])} places. "
        f"The machine: {one['cores']} cores ({one['processor']}), {number(one['memory_bytes'] / 2**30)} GiB, {one['system']}, "
        f"Linux {one['kernel']}. {names}."]
    if "checks" in results:
        checks, redis = results["checks"], results.get("comparison", {}).get("redis")
        found = sum(one["items"] for one in redis) / sum(one["requests"] for one in redis) if redis else 0
        lines.append(f"{checks['compared']} responses were compared: Go's lack {checks['missing']['go']} and "
                     f"FastAPI's {checks['missing']['fastapi']} of this server's places. "
                     f"Within 5 km of a centre this server finds {checks['places_within_5km']:.1f} places on average (20 at "
                     f"most), Redis {found:.1f}. pgbench was best with {results['pgbench']['clients']} clients. The body of the typical page has {number(results['body_bytes']['page'])} bytes.")
    if others := [one["other_cores"] for rounds in results.get("comparison", {}).values() for one in rounds]:
        lines.append(f"During the rounds of the comparison, other processes took {statistics.median(others):.2f} cores "
                     f"(median), at most {max(others):.2f}.")
        if statistics.median(others) > 0.1:
            lines.append("**Other programs used the machine: the figures say little.**")
    lines += [f"**The part {name} failed: {text}**" for name, text in results.get("failed", {}).items()]
    return "\n\n".join(lines)


BLOCKS = {
    "expectation": expectation, "machine": machine, "ratios": ratios, "latency": latency, "sizes": sizes, "limits": limits,
    "radii": radii, "loops": loops, "changes": changes, "memory": memory, "redis": redis_memory}


def shown(results):
    """Everything, for a terminal."""
    blocks = BLOCKS | {"processes": processes}
    names = ["machine", "ratios", "processes", "latency", "sizes", "memory", "limits", "radii", "loops", "changes"]
    return "\n\n".join(f"{name}\n\n{blocks[name](results)}" for name in names)
