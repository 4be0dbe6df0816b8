"""What scripts/checks/check-image does within its namespaces: see there."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import dockerfile_steps
from chroot_stage import DEFAULT_PATH, ChrootStage
from scratch_postgres import ScratchPostgres

# What the Swift image has besides the toolchain: what the compiler and the linker need of Debian.
TOOLCHAIN_PACKAGES = [
    "binutils", "ca-certificates", "gcc", "git", "libc6-dev", "libcurl4", "libedit2", "libncurses6",
    "libpython3.11", "libsqlite3-0", "libstdc++-12-dev", "libxml2", "tzdata",
]


def say(text):
    print(f"check-image: {text}", flush=True)


def mirror():
    """Where this machine's own packages come from."""
    lines = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    return next(line.split()[0] for line in lines if line.split()[1] == "bookworm")


def bare_system(folder):
    """A debootstrap'ed system, made once: it stands for a slim Debian."""
    made = folder / "bare-debian"
    if not made.exists():
        say(f"making {made}")
        unfinished = folder / "bare-debian.unfinished"
        shutil.rmtree(unfinished, ignore_errors=True)
        subprocess.run(
            ["debootstrap", "--variant=minbase", "bookworm", unfinished, mirror()],
            check=True, stdout=subprocess.DEVNULL)
        # The slim image has none of these.
        for pattern in [
            "var/lib/apt/lists/*_*", "var/cache/apt/archives/*.deb", "usr/share/doc/*", "usr/share/man/*",
            "usr/share/locale/*",
        ]:
            for path in unfinished.glob(pattern):
                subprocess.run(["rm", "-rf", path], check=True)
        # With the security updates, where this machine has them.
        for source in Path("/etc/apt/sources.list.d").glob("debian.*"):
            shutil.copy2(source, unfinished / "etc/apt/sources.list.d")
            (unfinished / "etc/apt/sources.list").unlink(missing_ok=True)
        # And by the way that this machine takes, a proxy for instance.
        acquire = subprocess.run(["apt-config", "dump", "Acquire"], check=True, capture_output=True, text=True).stdout
        (unfinished / "etc/apt/apt.conf.d/99host").write_text(acquire)
        unfinished.rename(made)
    return made


def add_toolchain(chroot):
    """Makes of a bare system what stands for the Swift image."""
    toolchain = os.environ["SWIFT_TOOLCHAIN"]
    chroot.bind(toolchain, toolchain)
    chroot.environment["PATH"] = f"{toolchain}/usr/bin:{DEFAULT_PATH}"
    install = "apt-get update -qq && apt-get install -y -qq --no-install-recommends "
    chroot.run(["/bin/sh", "-c", install + " ".join(TOOLCHAIN_PACKAGES)])


def build_stage(stage, folder, context, ignored, other_roots):
    """Does a stage's steps on a copy of what stands for its base image."""
    root = folder / f"stage-{stage.name}"
    # What was compiled last time saves most of the time of the next.
    compiled, kept = root / "build/.build", folder / "compiled"
    if compiled.exists():
        shutil.rmtree(kept, ignore_errors=True)
        compiled.rename(kept)
    shutil.rmtree(root, ignore_errors=True)
    is_swift = stage.base.startswith("swift:")
    if not is_swift and not stage.base.startswith("debian:bookworm"):
        raise ValueError(f"FROM {stage.base}: nothing here stands for it")
    subprocess.run(["cp", "--archive", "--reflink=auto", bare_system(folder), root], check=True)
    chroot = ChrootStage(root, context, ignored, other_roots)
    if is_swift:
        add_toolchain(chroot)
        if kept.exists():
            compiled.parent.mkdir()
            kept.rename(compiled)
    for step in stage.steps:
        say(f"[{stage.name}] {step.name} {step.text[:100]}")
        chroot.do(step)
    return chroot


def tree_size(root):
    """The bytes of a tree's files, without what is mounted in it."""
    output = subprocess.run(
        ["du", "--summarize", "--one-file-system", "--apparent-size", "--block-size=1", root],
        check=True, capture_output=True, text=True).stdout
    return int(output.split()[0])


def report_sizes(final, bare):
    program = final.root / "usr/local/bin/poi"
    sections = subprocess.run(["readelf", "--sections", program], check=True, capture_output=True, text=True).stdout
    assert ".text" in sections and ".symtab" not in sections, "the program isn't stripped"
    base, whole = tree_size(bare), tree_size(final.root)
    say(f"the stripped program: {program.stat().st_size / 1e6:.1f} MB")
    say(f"the image's tree: {whole / 1e6:.1f} MB, of which the bare system's {base / 1e6:.1f} MB")


def check_refusals(final):
    """What the user of the image, and even root in it, may not do."""
    for user, words in [("0:0", ["touch", "/etc/x"]), (None, ["touch", "/usr/local/bin/x"])]:
        result = subprocess.run(final.command(words, user=user), capture_output=True, text=True)
        assert result.returncode != 0 and "Read-only file system" in result.stderr, result
    identity = subprocess.run(
        final.command(["cat", "/proc/self/status"]), check=True, capture_output=True, text=True).stdout
    status = dict(line.split(":\t", 1) for line in identity.splitlines() if ":\t" in line)
    assert "0" not in status["Uid"].split(), status["Uid"]
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status
    assert status["NoNewPrivs"] == "1", status
    say("the root is read-only, the user isn't root and has no capability")


def check_service(stage, final, postgres):
    """Migrates as one role, serves as another, asks, has the health check's opinion, and stops."""
    entry = stage.last("ENTRYPOINT").words()
    final.run([*entry, "migrate", "up", "--seeds"], extra={"DATABASE_URL": postgres.url("poi_migrate")})
    extra = {
        "DATABASE_URL": postgres.url("poi_serve"), "HOST": "127.0.0.1", "PORT": "0", "POI_ADMIN_PORT": "0",
        "POI_DRAIN_DELAY": "0s",
    }
    server = subprocess.Popen(
        final.command([*entry, *stage.last("CMD").words()], extra=extra), stdout=subprocess.PIPE, text=True)
    address = next(line.split()[1] for line in server.stdout if line.startswith("serving "))
    health = stage.last("HEALTHCHECK")
    command = dockerfile_steps.parse_step(health.text).words()
    port = address.rsplit(":", 1)[1]
    final.run(command, extra={**extra, "PORT": port})
    target = address + "/locations?lat=37.3293&long=-121.8893&limit=1"
    while True:
        # Ready within a moment, or the server has ended.
        assert server.poll() is None, "the server has ended"
        try:
            response = urllib.request.urlopen(target, timeout=10).read().decode()
            break
        except urllib.error.HTTPError as error:
            assert error.code == 503, error.read()
    assert '"name"' in response, response
    say(f"a response: {response}")
    page = urllib.request.urlopen(address + "/", timeout=10).read().decode()
    assert "/leaflet.js" in page, "the start page has no map: where is Leaflet?"
    # The commands before `poi` have each become the next one, so this is its own process.
    status = Path(f"/proc/{server.pid}/status").read_text()
    resident = next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:"))
    say(f"resident memory: {int(resident) / 1024:.1f} MiB")
    server.send_signal(getattr(signal, stage.last("STOPSIGNAL").text))
    assert server.wait(timeout=60) == 0, server.returncode
    failed = subprocess.run(final.command(command, extra={**extra, "PORT": port}))
    assert failed.returncode == 1, "the health check is content with a server that isn't there"


def main():
    context, folder = Path(sys.argv[1]), Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    ignored = {
        line.strip() for line in (context / ".dockerignore").read_text().splitlines()
        if line.strip() and not line.startswith("#")}
    stages = dockerfile_steps.stages(context / "Dockerfile")
    roots = {}
    for stage in stages:
        final = build_stage(stage, folder, context, ignored, roots)
        roots[stage.name] = final.root
    final.make_read_only()
    report_sizes(final, folder / "bare-debian")
    check_refusals(final)
    passwords = {role: secrets.token_hex(16) for role in ["poi_migrate", "poi_serve", "poi_events"]}
    with ScratchPostgres(context / "deploy/postgres/roles.sql", passwords) as postgres:
        check_service(stages[-1], final, postgres)
    say("the image's steps work")


main()
