"""Builds Tests/Fuzzing with libFuzzer and AddressSanitizer, and runs its targets.

A target fails where libFuzzer finds an input that crashes it, hangs it or breaks one of its properties, and where the
coverage of the modules that it is for doesn't grow: then they were built without counters, or it doesn't reach them.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SECONDS = int(os.environ.get("POI_FUZZ_SECONDS", 20))
# A planted fault ends its target's run when it is found.
PLANTED_SECONDS = int(os.environ.get("POI_FUZZ_SECONDS", 600))
SEED = os.environ.get("POI_FUZZ_SEED", "0")
ROOT = Path.cwd()
FOLDER = ROOT / "Tests/Fuzzing"
OUTPUT = ROOT / ".build/fuzz"
# The modules of which each target has to reach more than an empty input does.
MODULES = {
    "connection": ["HTTPServer"],
    "copy": ["POIDatabase", "SpatialIndex"],
    "cursor": ["PointsOfInterestServerAPI"],
    "events": ["PointsOfInterestServerAPI"],
    "gzip": ["HTTPServer", "PlaceImport"],
    "migrations": ["Migrator"],
    "places": ["PlaceImport"],
    "queries": ["PointsOfInterestServerAPI"],
    "rows": ["POIDatabase", "Postgres"],
}
# How many seeds `--keep` leaves a target.
SEEDS = 11
ESCAPES = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"\\": b"\\"}
OPTIONS = ["-timeout=10", "-rss_limit_mb=2048", "-detect_leaks=0", "-print_funcs=0",
           "-max_len=4096"]


def fail(message):
    sys.exit(f"fuzz: {message}")


def build(package, scratch):
    """Builds the program in release mode, in which traps stay and inputs run many times as fast."""
    command = ["swift", "build", "--quiet", "-c", "release", "--product", "Fuzzing", "--scratch-path", str(scratch),
               "--sanitize", "fuzzer", "--sanitize", "address",
               # Counters in the modules, not only in the program; no `main` but libFuzzer's.
               "-Xswiftc", "-sanitize=fuzzer,address", "-Xswiftc", "-parse-as-library", "-Xswiftc", "-enable-testing"]
    done = subprocess.run(command, cwd=package, env=os.environ | {"POI_TARGETS": "Fuzzing"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    program = scratch / "release/Fuzzing"
    if done.returncode != 0 or not program.exists():
        fail(f"the targets don't build\n{done.stdout}")
    return program


def run(program, target, arguments, seconds):
    """Runs libFuzzer; returns its exit code and what it prints."""
    command = ["timeout", "-k", "5", str(seconds + 120), str(program), *OPTIONS, *arguments]
    done = subprocess.run(command, env=os.environ | {"POI_FUZZ_TARGET": target}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.returncode, done.stdout.decode(errors="replace")


def edges(program, target, corpus):
    """How many edges of the modules in Sources the inputs of a folder reach, by module."""
    # After a quarter of an hour there are thousands of inputs.
    code, text = run(program, target, ["-runs=0", "-print_coverage=1", str(corpus)], 600)
    if code != 0:
        raise RuntimeError(f"{target}: not all of {corpus} is read\n{text[-3000:]}")
    counts = collections.Counter()
    for reached, module in re.findall(r"^COVERED_FUNC: hits: \d+ edges: (\d+)/\d+ .*/Sources/(\w+)/[^/].*$", text, re.M):
        counts[module] += int(reached)
    return counts


def fresh(path):
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def seed_texts(target):
    """A target's seeds as they are written, by name: each stands behind a line `== name`, in lines of any length whose
    ends don't count. Escapes are a bytes literal's: `\\n`, `\\r`, `\\t`, `\\\\` and `\\x00`."""
    parts = re.split(rb"^== (.+)\n", (FOLDER / "Corpus" / f"{target}.txt").read_bytes(), flags=re.M)
    return {name.decode(): text for name, text in zip(parts[1::2], parts[2::2])}


def unescaped(text):
    """The bytes of a seed from its text."""
    return re.sub(rb"\\(x..|.)", lambda escape: bytes.fromhex(escape[1][1:].decode()) if escape[1][:1] == b"x"
                  else ESCAPES[escape[1]], text.replace(b"\n", b""))


def escaped(seed):
    """A seed's text, a line for each 30 bytes."""
    lines = (seed[start:start + 30] for start in range(0, len(seed), 30))
    return b"".join(b"".join(b"\\x%02x" % byte if byte in b"=\\" or not 0x20 < byte < 0x7F else bytes([byte])
                             for byte in line) + b"\n" for line in lines)


def write_seeds(target, folder):
    """Writes a file for each of a target's seeds, as libFuzzer reads them."""
    for name, text in seed_texts(target).items():
        (folder / name).write_bytes(unescaped(text))


def fuzz(program, target, seconds=SECONDS, output=OUTPUT):
    """Fuzzes a target from its seeds, which aren't changed; returns a line of the table and the finding."""
    corpus, findings = fresh(output / "corpus" / target), output / "findings" / target
    findings.mkdir(parents=True, exist_ok=True)
    write_seeds(target, corpus)
    dictionary = FOLDER / "Dictionaries" / f"{target}.dict"
    arguments = [f"-max_total_time={seconds}", f"-seed={SEED}", f"-artifact_prefix={findings}/", "-print_final_stats=1"]
    if dictionary.exists():
        arguments.append(f"-dict={dictionary}")
    started = time.monotonic()
    code, text = run(program, target, [*arguments, str(corpus)], seconds)
    (output / f"{target}.log").write_text(text)
    line = {"target": target, "seconds": round(time.monotonic() - started),
            "executions": int((re.findall(r"number_of_executed_units: (\d+)", text) or
                               re.findall(r"^#(\d+)", text, re.M) or [0])[-1])}
    if code == 0:
        return line, None
    written = re.findall(r"Test unit written to (.*)", text)
    reason = re.findall(r"(?:Fatal error|ERROR): .*", text)
    told = reason[0][:2000] if reason else text[-2000:]
    return line, f"{target}: {told}\n    the input: {written[-1] if written else 'see the log'}"


def check(program, target):
    """Fuzzes a target and looks at its coverage; returns a line of the table and what is wrong."""
    before = edges(program, target, fresh(OUTPUT / "empty" / target))
    line, finding = fuzz(program, target)
    line["findings"] = 1 if finding else 0
    if finding:
        return line, finding
    corpus = OUTPUT / "corpus" / target
    after = edges(program, target, corpus)
    line |= {"edges": sum(after.values()), "inputs": len(list(corpus.iterdir()))}
    same = [module for module in MODULES[target] if after[module] <= before[module]]
    if same:
        return line, f"{target}: the coverage of {', '.join(same)} doesn't grow: is it built with counters?"
    return line, None


def checked(program, target):
    """The same, also where its coverage can't be told: the other targets have results of their own."""
    try:
        return check(program, target)
    except RuntimeError as error:
        return {"target": target}, str(error)


def print_table(lines):
    columns = ["target", "seconds", "executions", "edges", "inputs", "findings"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    for line in lines:
        cells = [f"{line[name]:,}" if isinstance(line.get(name), int) else line.get(name, "–") for name in columns]
        print("| " + " | ".join(cells) + " |", flush=True)


def reached(program, target, folders):
    """The edges that each input of some folders reaches, by its path."""
    control = OUTPUT / f"{target}.merge"
    control.unlink(missing_ok=True)
    merged = fresh(OUTPUT / "merged" / target)
    arguments = ["-set_cover_merge=1", f"-merge_control_file={control}", f"-artifact_prefix={control}-", str(merged),
                 *map(str, folders)]
    code, text = run(program, target, arguments, 600)
    if code != 0:
        fail(f"{target}: the inputs can't be compared\n{text[-2000:]}")
    count, _, *lines = control.read_text().splitlines()
    features = [line.split() for line in lines if line.startswith("FT ")]
    # A feature is an edge and one of eight classes of how often it is passed.
    edges = {Path(lines[int(number)]): {int(feature) // 8 for feature in passed} for _, number, *passed in features}
    # libFuzzer goes on behind one that stops the process.
    for file in map(Path, lines[:int(count)]):
        if file not in edges:
            fail(f"{target}: {file} fails")
    return edges


def keep(program, target):
    """Removes the seeds that reach nothing of their own, and fills up with what the last run has found."""
    kept, found = fresh(OUTPUT / "seeds" / target), OUTPUT / "corpus" / target
    write_seeds(target, kept)
    edges = reached(program, target, [folder for folder in (kept, found) if folder.exists()])
    chosen, covered = [], set()
    worth = len(set().union(*edges.values())) // 100

    def choose(inputs, least):
        while inputs and len(chosen) < SEEDS:
            best = max(inputs, key=lambda file: (len(edges[file] - covered), -file.stat().st_size, file.name))
            if len(edges[best] - covered) < least:
                return
            inputs.remove(best)
            chosen.append(best)
            covered.update(edges[best])

    # A person has named and can read the seeds, so they come first.
    choose([file for file in edges if file.parent == kept], 1)
    seeds = set(chosen)
    choose([file for file in edges if file.parent == found], worth)
    texts = {name: text for name, text in seed_texts(target).items() if kept / name in seeds}
    texts |= {f"found-{file.name[:8]}": escaped(file.read_bytes()) for file in chosen if file not in seeds}
    (FOLDER / "Corpus" / f"{target}.txt").write_bytes(
        b"".join(b"== %s\n%s" % (name.encode(), text) for name, text in texts.items()))
    added = len(chosen) - len(seeds)
    print(f"{target}: {len(chosen)} seeds, {added} of them to be named, reach {len(covered)} edges")


def plant(targets):
    """Plants the faults of all targets in a copy of the package, and fails unless each target finds its own.

    All at once, so that the copy is built once: no fault is in what another target reads.
    """
    output = OUTPUT / "planted"
    package = output / "package"
    subprocess.run(["scripts/lib/copy-package", str(package)], check=True)
    patches = {target: FOLDER / "Faults" / f"{target}.patch" for target in targets}
    for target, patch in patches.items():
        command = ["patch", "-p1", "--fuzz=0", "--batch", "--silent", "--no-backup-if-mismatch", "-i", str(patch)]
        if subprocess.run(command, cwd=package).returncode != 0:
            fail(f"{target}: the planted fault no longer applies: make {patch.relative_to(ROOT)} anew")
    program, sound = build(package, output / "build"), build(ROOT, OUTPUT / "build")
    shutil.rmtree(output / "findings", ignore_errors=True)
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda target: fuzz(program, target, PLANTED_SECONDS, output), targets))
    missed = [line["target"] for line, finding in results if not finding]
    for target in targets:
        for file in (output / "findings" / target).iterdir():
            if run(sound, target, [str(file)], 60)[0] != 0:
                fail(f"{target}: {file} fails without the fault, too")
    print("| target | the fault | found after |\n|---|---|---|")
    for line, finding in results:
        fault = patches[line["target"]].read_text().splitlines()[0]
        found = f"{line['executions']:,} executions, {line['seconds']} s" if finding else "not found"
        print(f"| {line['target']} | {fault} | {found} |")
    if missed:
        fail(f"not found: the faults planted for {', '.join(missed)}")
    print(f"fuzz: all {len(targets)} planted faults are found")


def main(arguments):
    mode = arguments.pop(0) if arguments[:1] in (["--build"], ["--keep"], ["--planted"]) else None
    unknown = [name for name in arguments if name not in MODULES]
    if unknown:
        print(f"fuzz: no target {unknown[0]}; there are {', '.join(MODULES)}", file=sys.stderr)
        sys.exit(64)
    targets = arguments or list(MODULES)
    if mode == "--planted":
        return plant(targets)
    program = build(ROOT, OUTPUT / "build")
    if mode == "--build":
        return
    if mode == "--keep":
        for target in targets:
            keep(program, target)
        return
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda target: checked(program, target), targets))
    faults = [fault for _, fault in results if fault]
    for fault in faults:
        print(f"fuzz: {fault}", file=sys.stderr)
    print_table([line for line, _ in results])
    if faults:
        fail(f"{len(faults)} of {len(targets)} targets failed; the logs are in {OUTPUT.relative_to(ROOT)}")
    print("fuzz: nothing found")


main(sys.argv[1:])
