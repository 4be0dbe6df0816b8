"""What is shipped beside the program, by the tools that would read it, and what those don't know of: no secret, everything
hardened and limited, what one file names is in the other. The balancers' files have test_balancers.py."""

import ipaddress
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import promql_parser
import pytest
import yaml

import dockerfile_steps
from servers import ROOT

TOOLS = Path(sys.executable).parent


def run(*command, cwd=ROOT, **variables):
    """Runs a tool, which has to succeed; returns all that it says."""
    done = subprocess.run([*map(str, command)], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={**os.environ, **variables})
    assert done.returncode == 0, done.stdout
    return done.stdout


def files(*patterns):
    """Tracked and new files, by git's patterns."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns)
    return [ROOT / line for line in listed.splitlines() if (ROOT / line).exists()]


# Dockerfile

def test_hadolint_finds_nothing_in_the_dockerfile():
    run(TOOLS / "hadolint", "Dockerfile")


def test_the_dockerfile_copies_all_that_the_package_names(tmp_path):
    """Its first stage has every folder of Package.swift, and check-image can follow its steps."""
    stages = dockerfile_steps.stages(ROOT / "Dockerfile")
    assert len(stages) == 2, "a stage that builds, and the image's"
    ignored, environment = set((ROOT / ".dockerignore").read_text().splitlines()), {}
    for step in stages[0].steps:
        if step.name == "ENV":
            environment |= step.assignments()
        if step.name == "COPY":
            *sources, _ = step.words()
            assert not ignored & set(sources), ".dockerignore leaves them out"
            for source in sources:
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, tmp_path / source)
    run("swift", "package", "--package-path", tmp_path, "describe", **environment)


# Compose

COMPOSE_FILE = ROOT / "docker-compose.yml"
COMPOSE = yaml.safe_load(COMPOSE_FILE.read_text())


def test_the_compose_file_has_the_schema_of_one():
    run(TOOLS / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", COMPOSE_FILE)


def test_the_compose_file_has_no_secret():
    """A password is a variable that must be set: no value, and no default."""
    lines = [re.sub(r"\$\{\w+:\?[^}]*\}", "", line) for line in COMPOSE_FILE.read_text().splitlines()
             if re.search(r"password", line, re.I) and not line.lstrip().startswith("#")]
    assert not [line for line in lines if re.search(r"(:[^/@]+@|PASSWORD: *\S)", line)]


@pytest.mark.parametrize("service", COMPOSE["services"].values(), ids=COMPOSE["services"])
def test_a_compose_service_is_hardened_and_limited(service):
    assert service.get("deploy", {}).get("resources", {}).get("limits", {}).keys() >= {"cpus", "memory", "pids"}
    assert service.get("read_only") is True
    assert service.get("cap_drop") == ["ALL"] and "cap_add" not in service
    assert "no-new-privileges:true" in service.get("security_opt", [])
    assert "container_name" not in service, "a fixed name can't be scaled"
    assert "logging" in service, "its log grows without end"
    assert re.search(r":\S", service.get("image", "")) and not service["image"].endswith(":latest")


def test_the_compose_balancer_alone_is_published_and_trusted():
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["balancer"]
    assert COMPOSE["networks"]["data"].get("internal") is True

    def default(text):
        """What a variable with a default is where nothing sets it."""
        return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)

    # Whoever is trusted can claim any client's address: the balancer, by an address that Docker gives to nobody else.
    address = COMPOSE["services"]["balancer"]["networks"]["edge"]["ipv4_address"]
    assert COMPOSE["services"]["api"]["environment"]["POI_TRUSTED_PROXIES"] == address
    pool = COMPOSE["networks"]["edge"]["ipam"]["config"][0]
    subnet, given = (ipaddress.ip_network(default(pool[key])) for key in ["subnet", "ip_range"])
    own = ipaddress.ip_address(default(address))
    assert own in subnet and own not in given and given.subnet_of(subnet) and own != subnet[1]


# systemd

UNITS = sorted((ROOT / "deploy/systemd").glob("*.service"))


def test_systemd_finds_nothing_in_the_units(tmp_path):
    for unit in [*UNITS, *(ROOT / "deploy/systemd").glob("*.timer")]:
        # The program isn't installed where the units look for it, so something else that can be executed stands for it.
        (tmp_path / unit.name).write_text(unit.read_text().replace("/usr/local/bin/poi ", "/usr/bin/true "))
    assert not run("systemd-analyze", "verify", "--man=no", *tmp_path.iterdir())


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_service_of_systemd_is_hardly_exposed(unit):
    # In tenths; up to 2 is what systemd calls "OK" for a service with a network.
    run("systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager", unit)


# Kubernetes

KUBERNETES = ROOT / "deploy/kubernetes"
MANIFESTS = [(path, item) for path in sorted(KUBERNETES.rglob("*.yaml")) for item in yaml.safe_load_all(path.read_text())]
# The Prometheus operator's and kustomize's own kinds have no schema of Kubernetes.
OPERATORS = {"PodMonitor": lambda item: item["spec"]["selector"]["matchLabels"] and item["spec"]["podMetricsEndpoints"]}
FOREIGN = {**OPERATORS, "Component": lambda item: item["resources"], "Kustomization": lambda item: item["resources"]}
# The oldest with everything that is used here (unhealthyPodEvictionPolicy is stable since 1.31), and the newest.
VERSIONS = ["1.31", kubernetes_validate.latest_version()]


def found(kind):
    return [item for _, item in MANIFESTS if item["kind"] == kind]


def named(name, kind):
    return next(item for item in found(kind) if item["metadata"]["name"] == name)


def pods():
    """Each pod's specification, with the kind of what makes it."""
    templates = []
    for _, item in MANIFESTS:
        spec = item["spec"]["jobTemplate"]["spec"] if item["kind"] == "CronJob" else item.get("spec", {})
        if "template" in spec:
            templates.append(pytest.param(item["kind"], spec["template"]["spec"], id=item["kind"]))
    return templates


@pytest.mark.parametrize(("path", "item"), MANIFESTS, ids=lambda one: one.stem if isinstance(one, Path) else one["kind"])
def test_a_manifest_has_the_schema_of_its_kind(path, item):
    if item["kind"] in FOREIGN:
        assert FOREIGN[item["kind"]](item)
        assert item["kind"] not in OPERATORS or path.parent != KUBERNETES, "it fails where the operator isn't"
    else:
        for version in VERSIONS:
            kubernetes_validate.validate(item, version, strict=True)


@pytest.mark.parametrize("kind", ["Service", "PodDisruptionBudget", "PodMonitor", "NetworkPolicy"])
def test_a_selector_finds_the_pods_of_the_deployment(kind):
    labels = found("Deployment")[0]["spec"]["template"]["metadata"]["labels"].items()
    spec = named("poi", kind)["spec"]
    selector = spec.get("selector") or spec["podSelector"]
    assert selector.get("matchLabels", selector).items() <= labels


def test_the_autoscaler_alone_says_how_many_replicas():
    for target in (scaler["spec"]["scaleTargetRef"] for scaler in found("HorizontalPodAutoscaler")):
        assert not [item for item in found(target["kind"])
                    if item["metadata"]["name"] == target["name"] and "replicas" in item["spec"]]


def test_pods_reach_the_dns_postgresql_and_pgbouncer_alone():
    def ports(policy):
        return {port["port"] for rule in named(policy, "NetworkPolicy")["spec"]["egress"] for port in rule["ports"]}
    assert ports("poi") == {53, 5432, 6432}
    # And what refreshes datasets, their sources.
    assert ports("poi-refresh") == {80, 443}
    selector = named("poi-refresh", "NetworkPolicy")["spec"]["podSelector"]["matchLabels"]
    labels = named("poi-refresh-cafes", "CronJob")["spec"]["jobTemplate"]["spec"]["template"]["metadata"]["labels"]
    assert selector == labels


@pytest.mark.parametrize(("kind", "pod"), pods())
def test_a_pod_is_hardened_and_limited(kind, pod):
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["capabilities"] == {"drop": ["ALL"]} and context["readOnlyRootFilesystem"]
        assert "memory" in container["resources"]["limits"]
        if kind == "Deployment":
            asked = {container[probe]["httpGet"]["port"] for probe in ["startupProbe", "livenessProbe", "readinessProbe"]}
            assert asked <= {port["name"] for port in container.get("ports", [])}


@pytest.mark.parametrize(("kind", "pod"), pods())
def test_a_pod_has_the_certificates_that_its_connection_strings_name(kind, pod):
    """Something of the example is mounted in each folder that an sslrootcert of its secrets is in."""
    folders = {secret["metadata"]["name"]: set(re.findall(r"sslrootcert=([^&\s]+)/[^&/\s]+", str(secret["stringData"])))
               for secret in found("Secret")}
    maps = {item["metadata"]["name"] for item in found("ConfigMap")}
    volumes = {volume["name"]: volume["configMap"]["name"] for volume in pod.get("volumes", []) if "configMap" in volume}
    for container in pod["containers"]:
        mounted = {mount["mountPath"] for mount in container.get("volumeMounts", []) if volumes.get(mount["name"]) in maps}
        for source in container["envFrom"]:
            assert folders[source["secretRef"]["name"]] <= mounted


@pytest.mark.parametrize("path", sorted(KUBERNETES.rglob("kustomization.yaml")), ids=lambda path: path.parent.name)
def test_a_kustomization_lists_the_files_of_its_folder(path):
    kept = {"kustomization.yaml", "migrate-job.yaml", "secrets.example.yaml"}
    assert set(yaml.safe_load(path.read_text())["resources"]) == {file.name for file in path.parent.glob("*.yaml")} - kept


# Prometheus and Grafana

ALERTS = ROOT / "deploy/prometheus/alerts.yml"
ALERT_TESTS = [ROOT / f"deploy/prometheus/{name}_test.yml" for name in ("alerts", "alerts_of_days")]
RULES = [rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]]
DASHBOARD = json.loads((ROOT / "deploy/grafana/dashboard.json").read_text())
VARIABLES = {"$job": "poi", "$__rate_interval": "5m"}


def queries():
    """The dashboard's titles and expressions, with values for its variables."""
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"]
            for variable, value in VARIABLES.items():
                expression = expression.replace(variable, value)
            yield panel["title"], expression


def metrics(node):
    """The names of metrics that an expression reads."""
    if isinstance(node, promql_parser.VectorSelector):
        return {node.name}
    parts = [getattr(node, name, None) for name in ["lhs", "rhs", "expr", "param", "vector_selector"]]
    return set().union(*(metrics(part) for part in [*parts, *getattr(node, "args", [])] if part is not None))


def documented():
    """The metrics of the server and of the database's machines, with the series that a histogram has; a test of the server
    holds its own against the documentation."""
    text = "".join((ROOT / "Documentation" / page).read_text() for page in ["observability.md", "backups.md"])
    names = set(re.findall(r"`((?:http_server|node|patroni|poi|process)_[a-z0-9_]+)", text))
    # And what Prometheus itself adds to each scrape.
    return names | {f"{name}_{suffix}" for name in names for suffix in ["bucket", "count", "sum"]} | {"up"}


@pytest.mark.soak
def test_prometheus_accepts_its_files_and_the_alerts_come_when_they_should():
    run("promtool", "check", "config", "deploy/prometheus/prometheus.yml")
    run("promtool", "test", "rules", *ALERT_TESTS)


def test_the_documented_command_makes_the_alerts_a_rule_of_the_operator():
    page = (ROOT / "Documentation/operations.md").read_text()
    command = re.search(r"^    (\{ printf [^|]*) \| kubectl apply -f -$", page, re.M)[1]
    rule = yaml.safe_load(run("bash", "-c", command))
    assert (rule["apiVersion"], rule["kind"], rule["metadata"]["name"]) == ("monitoring.coreos.com/v1", "PrometheusRule", "poi")
    assert rule["spec"] == yaml.safe_load(ALERTS.read_text())


def test_prometheus_accepts_the_queries_of_the_dashboard(tmp_path):
    records = [{"record": f"panel:{number}", "expr": expression} for number, (_, expression) in enumerate(queries())]
    (tmp_path / "rules.yml").write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": records}]}))
    run("promtool", "check", "rules", tmp_path / "rules.yml")
    assert len(records) >= 20 and len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@pytest.mark.parametrize(("origin", "expression"), [
    *queries(), *[(rule.get("alert") or rule["record"], rule["expr"]) for rule in RULES]])
def test_a_query_reads_metrics_that_are_documented(origin, expression):
    used = metrics(promql_parser.parse(expression))
    assert used
    assert used <= documented() | {rule["record"] for rule in RULES if "record" in rule}
    if '"5.."' in expression:
        assert expression.count('http_route!~"/livez|/readyz"') >= expression.count('"5.."'), "health checks are no users' requests"


@pytest.mark.parametrize("rule", [rule for rule in RULES if "alert" in rule], ids=lambda rule: rule["alert"])
def test_an_alert_is_tested_and_has_a_runbook(rule):
    tests = [test for path in ALERT_TESTS for group in yaml.safe_load(path.read_text())["tests"]
             for test in group["alert_rule_test"] if test["alertname"] == rule["alert"]]
    assert {bool(test["exp_alerts"]) for test in tests} == {True, False}, "one in which it comes, and one in which it doesn't"
    page, _, anchor = rule["annotations"]["runbook"].partition("#")
    headings = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in re.findall(
        r"^#+ (.*)$", (ROOT / "Documentation/operations.md").read_text(), re.M)}
    assert (page, anchor) == ("Documentation/operations.md", rule["alert"].lower()) and anchor in headings


# Scripts

def test_shellcheck_finds_nothing_in_the_scripts():
    scripts = [path for path in files("scripts", "Benchmarks", ".ci")
               if re.match(rb"#!.*\b(ba)?sh\n", path.open("rb").readline())]
    assert len(scripts) > 10
    run(TOOLS / "shellcheck", "--severity=warning", "--external-sources", *scripts)
