"""Writes a CycloneDX 1.5 list of what a program is linked with: `release_sbom.py VERSION ROOT PROGRAM BUILD_ROOT`.

ROOT is the image's tree: its shared libraries are named by its own Debian packages, and so is Leaflet, which the program
serves from there. BUILD_ROOT is where the program was compiled: the packages whose sources are compiled into it.
"""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

version, root, program, build_root = sys.argv[1], *map(Path, sys.argv[2:])
# Where there is no such file, llhttp is a shared library (Package.swift).
LLHTTP_SOURCES = "/usr/share/llhttp/llhttp.c"
LEAFLET = "/usr/share/javascript/leaflet/leaflet.js"


def output(*words):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True).stdout


def shared_libraries():
    """The paths that the loader of the image's tree finds."""
    inside = [] if root == Path("/") else ["chroot", root]
    path = program if not inside else "/usr/local/bin/poi"
    return re.findall(r"(/\S+) \(0x", output(*inside, "ldd", path))


def package(tree, path):
    """The Debian package with a file. /lib is /usr/lib, and dpkg has recorded either."""
    for name in [path, f"/usr{path}", path.removeprefix("/usr")]:
        found = subprocess.run(["dpkg-query", f"--admindir={tree / 'var/lib/dpkg'}", "--search", name],
                               capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.split(": ")[0].split(",")[0]
    sys.exit(f"release_sbom: no package has {path}")


def debian(tree, name, use):
    text = output("dpkg-query", f"--admindir={tree / 'var/lib/dpkg'}", "--show",
                  "--showformat=${Package}\t${Version}\t${Architecture}\t${Homepage}", name)
    package_name, package_version, architecture, homepage = text.split("\t")
    component = {"type": "library", "name": package_name, "version": package_version,
                 "purl": f"pkg:deb/debian/{package_name}@{quote(package_version)}?arch={architecture}",
                 "properties": [{"name": "use", "value": use}]}
    if homepage:
        component["externalReferences"] = [{"type": "website", "url": homepage}]
    return component


def swift_runtime():
    text = output("swift", "--version")
    return {"type": "library", "name": "swift-runtime", "version": re.search(r"Swift version ([\d.]+)", text)[1],
            "description": "The standard library, Foundation and their C libraries, without shared libraries of their own",
            "licenses": [{"license": {"id": "Apache-2.0"}}], "properties": [{"name": "use", "value": "linked statically"}]}


def main():
    libraries = {package(root, path) for path in shared_libraries()}
    components = [swift_runtime()]
    components += [debian(root, name, "shared library") for name in sorted(libraries)]
    if (build_root / LLHTTP_SOURCES.lstrip("/")).exists():
        components.append(debian(build_root, package(build_root, LLHTTP_SOURCES), "sources compiled into the program"))
    elif not any("llhttp" in name for name in libraries):
        sys.exit("release_sbom: llhttp is neither a shared library nor in BUILD_ROOT")
    components.append(debian(root, package(root, LEAFLET), "served by the program"))
    digest = hashlib.sha256(program.read_bytes()).hexdigest()
    print(json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {"type": "application", "name": "poi", "version": version,
                                   "licenses": [{"license": {"id": "Apache-2.0"}}],
                                   "hashes": [{"alg": "SHA-256", "content": digest}]}},
        "components": components}, indent=2))


main()
