#!/usr/bin/env python3
"""Checks Examples/Places/App/Places.xcodeproj where there is no Xcode: the objects of the project, the files and the
package products that it names, its settings, and Info.plist.

    check_sample_project.py FOLDER      FOLDER is Examples/Places
"""

import json
import plistlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

APPLE = {"CoreLocation", "Foundation", "MapKit", "SwiftUI", "UIKit"}
ID = re.compile(r"[0-9A-F]{24}")
faults = []


def expect(condition, fault):
    if not condition:
        faults.append(fault)


def read_project(path):
    """Reads the OpenStep property list with the toolchain's plutil, or macOS's."""
    swift = Path(shutil.which("swift")).resolve().parent
    plutil = shutil.which("plutil") or swift / "plutil"
    return json.loads(subprocess.check_output([plutil, "-convert", "json", "-o", "-", path]))


def ids_in(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ids_in(key)
            yield from ids_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from ids_in(inner)
    elif isinstance(value, str) and ID.fullmatch(value):
        yield value


def check_references(project):
    objects = project["objects"]
    named = {project["rootObject"]} | {i for o in objects.values() for i in ids_in(o)}
    for missing in named - objects.keys():
        expect(False, f"{missing} is named and isn't there")
    for unused in objects.keys() - named:
        expect(False, f"{unused} ({objects[unused]['isa']}) isn't named by any object")


def of_kind(project, kind):
    return [o for o in project["objects"].values() if o["isa"] == kind]


def products_of(package):
    manifest = subprocess.check_output(["swift", "package", "--package-path", package, "dump-package"])
    return json.loads(manifest)


def check_files(project, app):
    folders = of_kind(project, "PBXFileSystemSynchronizedRootGroup")
    for folder in folders:
        expect((app / folder["path"]).is_dir(), f"there is no folder {folder['path']}")
    for file in of_kind(project, "PBXFileReference"):
        if file["sourceTree"] == "<group>":
            expect((app / file["path"]).is_file(), f"there is no file {file['path']}")
    return [source for folder in folders for source in (app / folder["path"]).rglob("*.swift")]


def check_packages(project, app, sources):
    """The linked products are what the packages have and what the views import."""
    objects = project["objects"]
    linked = set()
    for dependency in of_kind(project, "XCSwiftPackageProductDependency"):
        package = app / objects[dependency["package"]]["relativePath"]
        products = {product["name"] for product in products_of(package)["products"]}
        name = dependency["productName"]
        expect(name in products, f"{package} has no product {name}")
        linked.add(name)
    frameworks = of_kind(project, "PBXFrameworksBuildPhase")[0]["files"]
    expect(len(frameworks) == len(linked), "a product isn't linked, or is linked twice")
    imported = {
        name
        for source in sources
        for name in re.findall(r"^\s*import (\w+)", source.read_text(), re.MULTILINE)
    }
    expect(imported - APPLE == linked, f"imported {imported - APPLE}, linked {linked}")


def check_settings(project, folder, app):
    settings = {}
    for configuration in of_kind(project, "XCBuildConfiguration"):
        for name, value in configuration["buildSettings"].items():
            settings.setdefault(name, set()).add(value if isinstance(value, str) else tuple(value))
    # "16.0" of "16".
    [oldest] = [p["version"] for p in products_of(folder)["platforms"] if p["platformName"] == "ios"]
    expect(settings["IPHONEOS_DEPLOYMENT_TARGET"] == {oldest}, f"the package is for iOS {oldest}")
    expect(settings["SWIFT_VERSION"] == {"6.0"}, "the language mode isn't Swift 6")
    expect(settings["INFOPLIST_FILE"] == {"Info.plist"}, "Info.plist isn't used")
    information = plistlib.loads((app / "Info.plist").read_bytes())
    expect(information.get("NSLocationWhenInUseUsageDescription"), "nothing says why the app wants the location")
    expect(
        information.get("NSAppTransportSecurity") == {"NSAllowsLocalNetworking": True},
        "unencrypted connections are allowed for more than computers nearby",
    )


def main():
    folder = Path(sys.argv[1])
    app = folder / "App"
    project = read_project(app / "Places.xcodeproj/project.pbxproj")
    check_references(project)
    check_packages(project, app, check_files(project, app))
    check_settings(project, folder, app)
    for fault in faults:
        print(f"check_sample_project: {fault}", file=sys.stderr)
    sys.exit(1 if faults else 0)


main()
