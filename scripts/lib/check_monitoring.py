"""The dashboard and the alerts against the documentation, which in turn is held against the program by a test: every
metric that they use is documented, every alert is tested and has a runbook that exists.

Writes the dashboard's expressions as rules to the file that it is given, so that promtool can judge their syntax.
"""

import json
import re
import sys
from pathlib import Path

import yaml

# What Prometheus itself adds to each scrape.
OWN = {"up"}


def metrics(expression):
    """The names of metrics that an expression reads: what is no function, keyword, label or text."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]', " ", expression)
    bare = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", bare)
    names = re.findall(r"(?<![\w:.])[a-z][a-z0-9_:]*(?![\w:]|\s*\()", bare)
    words = {"and", "or", "unless", "bool", "offset", "by", "without", "on", "job"}
    return {name for name in names if name not in words}


def documented():
    """The metrics of the server and of the database's machines, with the series that a histogram has."""
    text = Path("Documentation/observability.md").read_text() + Path("Documentation/backups.md").read_text()
    names = set(re.findall(r"`((?:http_server|node|patroni|poi|process)_[a-z0-9_]+)", text))
    return names | {f"{name}_{suffix}" for name in names for suffix in ["bucket", "count", "sum"]}


faults = []
rules = [
    rule for group in yaml.safe_load(Path("deploy/prometheus/alerts.yml").read_text())["groups"]
    for rule in group["rules"]]
dashboard = json.loads(Path("deploy/grafana/dashboard.json").read_text())
panels = [
    (panel["title"], target["expr"]) for panel in dashboard["panels"] for target in panel.get("targets", [])]
if len(panels) < 20 or len({panel["id"] for panel in dashboard["panels"]}) != len(dashboard["panels"]):
    faults.append("dashboard.json: too few panels, or two with one number")

known = documented() | OWN | {rule["record"] for rule in rules if "record" in rule}
for origin, expression in panels + [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules]:
    used = metrics(expression)
    if not used:
        faults.append(f"{origin}: reads no metric: {expression}")
    if '"5.."' in expression and expression.count('http_route!~"/livez|/readyz"') < expression.count('"5.."'):
        faults.append(f"{origin}: counts health checks as users' requests")
    for name in sorted(used - known):
        faults.append(f"{origin}: {name} is neither in Documentation/observability.md nor in backups.md")

firing = set()
quiet = set()
for group in yaml.safe_load(Path("deploy/prometheus/alerts_test.yml").read_text())["tests"]:
    for test in group["alert_rule_test"]:
        (firing if test["exp_alerts"] else quiet).add(test["alertname"])
headings = {
    re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
    for heading in re.findall(r"^#+ (.*)$", Path("Documentation/operations.md").read_text(), re.M)}
for rule in rules:
    if name := rule.get("alert"):
        if name not in firing or name not in quiet:
            faults.append(f"{name}: no test in which it comes, or none in which it doesn't")
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        if page != "Documentation/operations.md" or anchor != name.lower() or anchor not in headings:
            faults.append(f"{name}: no heading of its own in Documentation/operations.md")

variables = {"$job": "poi", "$__rate_interval": "5m"}
records = []
for number, (_, expression) in enumerate(panels):
    for variable, value in variables.items():
        expression = expression.replace(variable, value)
    records.append({"record": f"panel:{number}", "expr": expression})
Path(sys.argv[1]).write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}))

for fault in faults:
    print(f"check-shipping: {fault}", file=sys.stderr)
print(f"check-shipping: {len(panels)} queries of the dashboard, {len(rules)} rules, {len(faults)} faults")
sys.exit(1 if faults else 0)
