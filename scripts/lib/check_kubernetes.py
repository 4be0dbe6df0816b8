"""Kubernetes manifests against the schemas of an old and of the newest version, and what those can't say."""

import re
import sys
from pathlib import Path

import kubernetes_validate
import yaml

# The oldest with everything that is used here (unhealthyPodEvictionPolicy is stable since 1.31), and the newest.
VERSIONS = ["1.31", kubernetes_validate.latest_version()]
# The Prometheus operator's and kustomize's own kinds have no schema there.
FOREIGN = {
    # Compared with the alerts by scripts/record/prometheus_rule.py.
    "PrometheusRule": lambda item: item["spec"]["groups"],
    "Component": lambda item: item["resources"],
    "PodMonitor": lambda item: item["spec"]["selector"]["matchLabels"] and item["spec"]["podMetricsEndpoints"],
    "Kustomization": lambda item: item["resources"],
}

OPERATORS = {"PodMonitor", "PrometheusRule"}

folder = Path(sys.argv[1])
faults = []
found = {}
for path in sorted(folder.rglob("*.yaml")):
    for item in yaml.safe_load_all(path.read_text()):
        kind = item["kind"]
        found.setdefault(kind, []).append(item)
        if kind in FOREIGN:
            assert FOREIGN[kind](item), path
            if kind in OPERATORS and path.parent == folder:
                faults.append(f"{path}: fails where the Prometheus operator isn't; it belongs to the component")
            continue
        for version in VERSIONS:
            try:
                kubernetes_validate.validate(item, version, strict=True)
            except kubernetes_validate.ValidationError as error:
                where = ".".join(map(str, error.path))
                faults.append(f"{path} (Kubernetes {version}): {where}: {error.message}")


def pods():
    """Each pod template, with the name of what makes it."""
    for kind, items in found.items():
        for item in items:
            spec = item["spec"]["jobTemplate"]["spec"] if kind == "CronJob" else item.get("spec", {})
            if "template" in spec:
                yield kind, spec["template"]


deployment = found["Deployment"][0]
labels = deployment["spec"]["template"]["metadata"]["labels"].items()
for kind in ["Service", "PodDisruptionBudget", "PodMonitor", "NetworkPolicy"]:
    spec = found[kind][0]["spec"]
    selector = spec.get("selector") or spec["podSelector"]
    if not selector.get("matchLabels", selector).items() <= labels:
        faults.append(f"{kind}: selects no pod of the Deployment")

for scaler in found["HorizontalPodAutoscaler"]:
    target = scaler["spec"]["scaleTargetRef"]
    for item in found[target["kind"]]:
        if item["metadata"]["name"] == target["name"] and "replicas" in item["spec"]:
            faults.append(f"{target['kind']} {target['name']}: a number of replicas, which is the autoscaler's")

egress = {port["port"] for rule in found["NetworkPolicy"][0]["spec"]["egress"] for port in rule["ports"]}
if egress != {53, 5432, 6432}:
    faults.append(f"NetworkPolicy: lets out to {sorted(egress)}, not to the DNS, PostgreSQL and PgBouncer")

# The files that the connection strings of each Secret name, in whose folders something has to be mounted.
certificates = {
    secret["metadata"]["name"]: set(re.findall(r"sslrootcert=([^&\s]+)/[^&/\s]+", str(secret["stringData"])))
    for secret in found["Secret"]}
maps = {item["metadata"]["name"] for item in found["ConfigMap"]}

for kind, template in pods():
    pod = template["spec"]
    volumes = {volume["name"]: volume["configMap"]["name"] for volume in pod.get("volumes", [])}
    if not pod["securityContext"]["runAsNonRoot"] or pod["automountServiceAccountToken"]:
        faults.append(f"{kind}: runs as root, or has a token")
    for container in pod["containers"]:
        context = container["securityContext"]
        if context["capabilities"] != {"drop": ["ALL"]} or not context["readOnlyRootFilesystem"]:
            faults.append(f"{kind}: has capabilities, or a root that can be written to")
        mounted = {mount["mountPath"]: volumes.get(mount["name"]) for mount in container.get("volumeMounts", [])}
        for source in container["envFrom"]:
            for path in certificates[source["secretRef"]["name"]]:
                if mounted.get(path) not in maps:
                    faults.append(f"{kind}: sslrootcert is in {path}, where no ConfigMap of the example is mounted")
        if "memory" not in container["resources"]["limits"]:
            faults.append(f"{kind}: no limit of memory")
        names = {port["name"] for port in container.get("ports", [])}
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"]:
            if kind == "Deployment" and container[probe]["httpGet"]["port"] not in names:
                faults.append(f"{probe}: asks a port that isn't there")

for path in folder.rglob("kustomization.yaml"):
    listed = set(yaml.safe_load(path.read_text())["resources"])
    files = {file.name for file in path.parent.glob("*.yaml")} - {
        "kustomization.yaml", "migrate-job.yaml", "secrets.example.yaml"}
    if listed != files:
        faults.append(f"{path}: {sorted(listed ^ files)} listed and missing, or the other way round")

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
