"""Makes the Prometheus operator's form of the alerts, a PrometheusRule, from deploy/prometheus/alerts.yml.

Without an argument checks that the file in deploy/kubernetes is what would be made; with --write writes it.
"""

import sys
from pathlib import Path

SOURCE = Path("deploy/prometheus/alerts.yml")
TARGET = Path("deploy/kubernetes/components/monitoring/prometheus-rule.yaml")
HEAD = """\
# Made of deploy/prometheus/alerts.yml by scripts/record/prometheus_rule.py --write; change it there. A Prometheus that selects
# rules by labels, as that of kube-prometheus-stack does (release: …), needs its labels added by your own kustomization.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: poi
  labels: {app.kubernetes.io/name: poi}
spec:
"""


def made():
    """The file's text: the groups as they stand there, with their comments, below `spec`."""
    lines = SOURCE.read_text().splitlines()
    groups = lines[lines.index("groups:"):]
    return HEAD + "".join(f"  {line}\n" if line else "\n" for line in groups)


if sys.argv[1:] == ["--write"]:
    TARGET.write_text(made())
elif TARGET.read_text() != made():
    sys.exit(f"{TARGET}: differs from {SOURCE}; make it anew by scripts/record/prometheus_rule.py --write")
