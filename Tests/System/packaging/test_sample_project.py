"""Examples/Places/App/Places.xcodeproj, where there is no Xcode: the objects of the project, the files and the package
products that it names, its settings, and Info.plist."""

import json
import plistlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from servers import ROOT

FOLDER = ROOT / "Examples/Places"
APP = FOLDER / "App"
APPLE = {"CoreLocation", "Foundation", "MapKit", "SwiftUI", "UIKit"}


@pytest.fixture(scope="module")
def project():
    """Read with the toolchain's plutil, or macOS's."""
    plutil = shutil.which("plutil") or Path(shutil.which("swift")).resolve().parent / "plutil"
    file = APP / "Places.xcodeproj/project.pbxproj"
    return json.loads(subprocess.check_output([plutil, "-convert", "json", "-o", "-", file]))


def of_kind(project, kind):
    return [one for one in project["objects"].values() if one["isa"] == kind]


def package(folder):
    return json.loads(subprocess.check_output(["swift", "package", "--package-path", folder, "dump-package"]))


def folders(project):
    return [APP / folder["path"] for folder in of_kind(project, "PBXFileSystemSynchronizedRootGroup")]


def test_each_object_that_is_named_is_there_and_each_that_is_there_is_named(project):
    named = {id for one in project["objects"].values() for id in re.findall(r'"([0-9A-F]{24})"', json.dumps(one))}
    assert {project["rootObject"]} | named == project["objects"].keys()


def test_each_file_is_there(project):
    assert folders(project) and all(folder.is_dir() for folder in folders(project))
    files = [file for file in of_kind(project, "PBXFileReference") if file["sourceTree"] == "<group>"]
    assert not [file["path"] for file in files if not (APP / file["path"]).is_file()]


def test_the_linked_products_are_what_the_packages_have_and_the_views_import(project):
    linked = set()
    for dependency in of_kind(project, "XCSwiftPackageProductDependency"):
        folder = APP / project["objects"][dependency["package"]]["relativePath"]
        assert dependency["productName"] in {product["name"] for product in package(folder)["products"]}
        linked.add(dependency["productName"])
    assert len(of_kind(project, "PBXFrameworksBuildPhase")[0]["files"]) == len(linked), "not linked, or linked twice"
    sources = [source.read_text() for folder in folders(project) for source in folder.rglob("*.swift")]
    assert {name for source in sources for name in re.findall(r"^\s*import (\w+)", source, re.M)} - APPLE == linked


def test_deployment_target_language_mode_and_information_are_as_they_should_be(project):
    settings = {}
    for configuration in of_kind(project, "XCBuildConfiguration"):
        for name, value in configuration["buildSettings"].items():
            settings.setdefault(name, set()).add(str(value))
    # "16.0" of "16".
    oldest, = [one["version"] for one in package(FOLDER)["platforms"] if one["platformName"] == "ios"]
    assert settings["IPHONEOS_DEPLOYMENT_TARGET"] == {oldest}
    assert settings["SWIFT_VERSION"] == {"6.0"}
    assert settings["INFOPLIST_FILE"] == {"Info.plist"}
    information = plistlib.loads((APP / "Info.plist").read_bytes())
    assert information.get("NSLocationWhenInUseUsageDescription"), "nothing says why the app wants the location"
    # No unencrypted connections but to computers nearby.
    assert information.get("NSAppTransportSecurity") == {"NSAllowsLocalNetworking": True}
    # An iPad may have several windows. Xcode would write this key, too, and what it makes of both isn't documented.
    assert information.get("UIApplicationSceneManifest") == {"UIApplicationSupportsMultipleScenes": True}
    assert "INFOPLIST_KEY_UIApplicationSceneManifest_Generation" not in settings
