"""Kubernetes manifests against the schemas of an old and of the newest version, and what those can't say."""

import sys
from pathlib import Path

import kubernetes_validate
import yaml

# The oldest with everything that is used here (unhealthyPodEvictionPolicy is stable since 1.31), and the newest.
VERSIONS = ["1.31", kubernetes_validate.latest_version()]
# The Prometheus operator's and kustomize's own kinds have no schema there.
FOREIGN = {
    "PodMonitor": lambda item: item["spec"]["selector"]["matchLabels"] and item["spec"]["podMetricsEndpoints"],
    "Kustomization": lambda item: item["resources"],
}

folder = Path(sys.argv[1])
faults = []
found = {}
for path in sorted(folder.glob("*.yaml")):
    for item in yaml.safe_load_all(path.read_text()):
        kind = item["kind"]
        found.setdefault(kind, []).append(item)
        if kind in FOREIGN:
            assert FOREIGN[kind](item), path
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

for kind, template in pods():
    pod = template["spec"]
    if not pod["securityContext"]["runAsNonRoot"] or pod["automountServiceAccountToken"]:
        faults.append(f"{kind}: runs as root, or has a token")
    for container in pod["containers"]:
        context = container["securityContext"]
        if context["capabilities"] != {"drop": ["ALL"]} or not context["readOnlyRootFilesystem"]:
            faults.append(f"{kind}: has capabilities, or a root that can be written to")
        if "memory" not in container["resources"]["limits"]:
            faults.append(f"{kind}: no limit of memory")
        names = {port["name"] for port in container.get("ports", [])}
        for probe in ["startupProbe", "livenessProbe", "readinessProbe"]:
            if kind == "Deployment" and container[probe]["httpGet"]["port"] not in names:
                faults.append(f"{probe}: asks a port that isn't there")

listed = set(found["Kustomization"][0]["resources"])
files = {path.name for path in folder.glob("*.yaml")} - {
    "kustomization.yaml", "migrate-job.yaml", "secrets.example.yaml"}
if listed != files:
    faults.append(f"kustomization.yaml: {sorted(listed ^ files)} listed and missing, or the other way round")

for fault in faults:
    print(fault, file=sys.stderr)
sys.exit(1 if faults else 0)
