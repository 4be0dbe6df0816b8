"""The pictures of Documentation/performance.md: charts with two logarithmic axes, as SVG.

They are drawn for light and dark pages, without fonts or scripts from elsewhere. The names of lines stand beside them. Title and description are for people who hear the page.
"""

import math
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 80, 150, 50, 60
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #444; }
.title { font-size: 15px; font-weight: 600; }
.grid { stroke: #888; stroke-opacity: 0.35; }
.curve { stroke: #0a7f5a; fill: #0a7f5a; }
path { stroke-width: 2; } path.line { fill: none; } .dashed { stroke-dasharray: 6 4; }
@media (prefers-color-scheme: dark) {
  text { fill: #ccc; } .curve { stroke: #3ecf9b; fill: #3ecf9b; }
}"""


@dataclass
class Line:
    """Points of x and y."""

    name: str
    points: list
    dashed: bool = False


class Axis:
    """Logarithmic, with a tick at each power of ten, and where these are few, at 2 and 5 times it."""

    def __init__(self, values, start, end):
        self.low, self.high = math.log10(min(values)), math.log10(max(values))
        pad = max(0.08, (self.high - self.low) * 0.05)
        self.low, self.high, self.start, self.end = self.low - pad, self.high + pad, start, end

    def at(self, value):
        return self.start + (math.log10(value) - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self):
        steps = (1,) if self.high - self.low > 3 else (1, 2, 5)
        powers = range(math.floor(self.low), math.ceil(self.high) + 1)
        ticks = [step * 10.0 ** power for power in powers for step in steps]
        return [tick for tick in ticks if self.low <= math.log10(tick) <= self.high]


def short(value):
    for size, letter in ((1_000_000, " M"), (1_000, " k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def grid(x, y, x_name, y_name):
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    for tick in x.ticks():
        at = f"{x.at(tick):.1f}"
        yield f'<line class="grid" x1="{at}" y1="{TOP}" x2="{at}" y2="{bottom}"/>'
        yield f'<text x="{at}" y="{bottom + 20}" text-anchor="middle">{short(tick)}</text>'
    for tick in y.ticks():
        at = y.at(tick)
        yield f'<line class="grid" x1="{LEFT}" y1="{at:.1f}" x2="{right}" y2="{at:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{short(tick)}</text>'
    yield f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{escape(x_name)}</text>'
    middle = (TOP + bottom) / 2
    yield f'<text transform="translate(20 {middle}) rotate(-90)" text-anchor="middle">{escape(y_name)}</text>'


def curves(lines, x, y):
    """Each line with its name behind its last point; names keep a distance from each other."""
    taken = []
    for line in sorted(lines, key=lambda line: y.at(line.points[-1][1])):
        spots = [(x.at(a), y.at(b)) for a, b in line.points]
        path = " L".join(f"{a:.1f} {b:.1f}" for a, b in spots)
        yield f'<path class="line curve{" dashed" if line.dashed else ""}" d="M{path}"/>'
        yield from (f'<circle class="curve" cx="{a:.1f}" cy="{b:.1f}" r="4"/>' for a, b in spots)
        last, height = spots[-1]
        height = max([height + 4] + [other + 16 for at, other in taken if abs(at - last) < RIGHT])
        taken.append((last, height))
        yield f'<text x="{last + 10:.1f}" y="{height:.1f}">{escape(line.name)}</text>'


def chart(title, description, x_name, y_name, lines):
    points = [point for line in lines for point in line.points]
    x = Axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title>', f'<desc id="description">{escape(description)}</desc>',
        f"<style>{STYLE}\n</style>", f'<text class="title" x="{LEFT}" y="28">{escape(title)}</text>',
        *grid(x, y, x_name, y_name), *curves(lines, x, y), "</svg>\n"])


def in_words(lines, x_unit, y_unit):
    return " ".join(
        f"{line.name}: " + ", ".join(f"{short(a)} {x_unit} {b:.3g} {y_unit}" for a, b in line.points) + "." for line in lines)


def cost_by_places(results):
    """The picture and what it shows, or nothing without results. The table above it has the figures for who can't see it."""
    points = sorted((entry["places"], entry["index"]["cpu"]) for entry in results.get("sizes", []))
    if not points:
        return None
    lines = [Line("this server", points)]
    words = in_words(lines, "places", "µs")
    title = "Processor time of a request for 20 places"
    picture = chart(title, words, "places", "µs, user and system, all serving processes", lines)
    return picture, f"{title}, by the number of places: the figures of the table above."


def latency_by_rate(results):
    rates = [one for one in results.get("latency", {}).get("rates", []) if one["side"] == "index"]
    if not rates:
        return None
    lines = [Line(name, [(one["asked_rate"], one[figure] / 1000) for one in rates], figure == "p99")
             for name, figure in (("p99", "p99"), ("median", "p50"))]
    words = in_words(lines, "requests/s", "ms")
    title = "Time of a response by the rate of requests"
    picture = chart(title, words, "requests a second, at random moments", "ms", lines)
    return picture, f"{title}: the figures of the table above."


PICTURES = {"cost-by-places": cost_by_places, "latency-by-rate": latency_by_rate}
