"""What only Apple's compiler sees, where there is none: Documentation/client.md lists each file that has such
code, and what runs on a Mac elsewhere is well-formed."""

import json
import re
import subprocess

import yaml

from servers import ROOT

PAGE = ROOT / "Documentation/client.md"
# What an app and its tests link, with the contract suite, and the sample app.
MODULES = ["EditingAPI", "Locking", "MockServerAPI", "PointsOfInterestAPI", "PointsOfInterestClient",
           "PointsOfInterestContract", "PointsOfInterestEditing", "PointsOfInterestHTTP", "PointsOfInterestTesting"]
FOLDERS = [*(ROOT / "Sources" / module for module in MODULES), ROOT / "Examples/Places/Sources",
           ROOT / "Examples/Places/App"]
CONDITION = re.compile(r"^\s*#(?:if|elseif)\b.*\b(?:canImport|os|targetEnvironment)\((\w+)\)", re.M)
IMPORT_ALONE = re.compile(r"^#if canImport\(FoundationNetworking\)\n    import FoundationNetworking\n#endif\n", re.M)


def islands():
    for folder in FOLDERS:
        files = sorted(folder.rglob("*.swift"))
        assert files, f"{folder} has no sources"
        for file in files:
            for name in CONDITION.findall(IMPORT_ALONE.sub("", file.read_text())):
                yield str(file.relative_to(ROOT)), name


def test_each_file_with_code_for_apples_platforms_is_listed_and_none_besides():
    rows = re.findall(r"^\| `(\S+\.swift)` \| `(\w+)` \| (.+) \| .+ \|$", PAGE.read_text(), re.M)
    assert {(file, name) for file, name, _ in rows} == set(islands())
    assert all("(https://developer.apple.com/" in pages for _, _, pages in rows)


def test_the_workflow_for_a_mac_needs_no_secret_and_runs_a_script_that_is_there():
    text = (ROOT / ".github/workflows/mac.yml").read_text()
    workflow = yaml.safe_load(text)
    assert "secrets" not in text
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    scripts = [step["run"] for step in steps if step.get("run", "").startswith("scripts/")]
    assert scripts and all((ROOT / script).is_file() for script in scripts)
    assert all(re.search(r"@[0-9a-f]{40}$", step["uses"]) for step in steps if "uses" in step), "not pinned"


def test_the_index_documents_the_modules_with_a_catalogue():
    configs = yaml.safe_load((ROOT / ".spi.yml").read_text())["builder"]["configs"]
    documented = {target for config in configs for target in config["documentation_targets"]}
    assert documented == {folder.stem for folder in ROOT.glob("Sources/*/*.docc")}


def test_the_page_names_the_xcode_that_reads_the_package():
    package = json.loads(subprocess.check_output(["swift", "package", "--package-path", ROOT, "dump-package"]))
    # The first Xcode with a tools version (swift.org's releases): a higher tools version needs a line here.
    xcode = {"6.2.0": "26.0"}[package["toolsVersion"]["_version"]]
    for page in [PAGE, ROOT / "Examples/Places/README.md"]:
        assert f"Xcode {xcode} or later" in page.read_text(), page
