"""Checks that the Dockerfile can build: that its first stage copies every folder that Package.swift names there, and that
scripts/checks/check-image can follow its steps."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import dockerfile_steps

ROOT = Path(__file__).resolve().parent.parent.parent

stages = dockerfile_steps.stages(ROOT / "Dockerfile")
assert len(stages) == 2, "a stage that builds, and the image's"
ignored = set((ROOT / ".dockerignore").read_text().splitlines())
environment = dict(os.environ)
with tempfile.TemporaryDirectory() as folder:
    for step in stages[0].steps:
        if step.name == "ENV":
            environment |= step.assignments()
        if step.name == "COPY":
            *sources, _ = step.words()
            for source in sources:
                if source in ignored:
                    sys.exit(f"check-shipping: Dockerfile: .dockerignore leaves out {source}")
                copy = shutil.copytree if (ROOT / source).is_dir() else shutil.copy
                copy(ROOT / source, Path(folder, source))
    described = subprocess.run(["swift", "package", "--package-path", folder, "describe"], env=environment, text=True,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
if described.returncode != 0:
    sys.exit(f"check-shipping: Dockerfile: not all of the package is copied: {described.stderr}")
