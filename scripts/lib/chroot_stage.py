"""A stage of a Dockerfile, done in a plain chroot."""

import os
import shutil
import subprocess
from pathlib import Path

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class ChrootStage:
    """A root file system on which the steps of a stage are done one after the other.

    Mounts are made in the mount namespace of this process, which must be one of its own.
    """

    def __init__(self, root, context, ignored, other_roots):
        self.root = Path(root)
        self.context = Path(context)
        self.ignored = ignored
        self.other_roots = other_roots
        self.environment = {"PATH": DEFAULT_PATH}
        self.directory = "/"
        self.user = "0:0"
        self.mount()

    def mount(self):
        """What a container engine mounts: the kernel's file systems and the resolver's configuration."""
        self.mount_kernel()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.root / "tmp"], check=True)
        resolver = self.root / "etc/resolv.conf"
        resolver.touch()
        subprocess.run(["mount", "--bind", "/etc/resolv.conf", resolver], check=True)

    def mount_kernel(self):
        subprocess.run(["mount", "-t", "proc", "proc", self.root / "proc"], check=True)
        subprocess.run(["mount", "--rbind", "/dev", self.root / "dev"], check=True)

    def unmount(self):
        """Takes back what `mount` has mounted."""
        for where in ["etc/resolv.conf", "tmp", "dev", "proc"]:
            subprocess.run(["umount", "--recursive", self.root / where], check=True)

    def bind(self, source, target, read_only=True):
        """Makes a folder of the host visible."""
        (self.root / target.lstrip("/")).mkdir(parents=True, exist_ok=True)
        subprocess.run(["mount", "--bind", source, self.root / target.lstrip("/")], check=True)
        if read_only:
            subprocess.run(["mount", "-o", "remount,bind,ro", self.root / target.lstrip("/")], check=True)

    def command(self, words, extra=None, user=None):
        """A command line that runs `words` inside, with the stage's environment, folder and user: without any
        capability and without a way to one, where the user isn't root."""
        user, group = (user or self.user).split(":")
        drop = [] if user == "0" else ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
        environment = {**self.environment, **(extra or {})}
        return [
            "chroot", str(self.root), "/usr/bin/setpriv", f"--reuid={user}", f"--regid={group}",
            "--clear-groups", *drop, "/usr/bin/env", "-i", f"--chdir={self.directory}",
            *(f"{name}={value}" for name, value in environment.items()), *words,
        ]

    def run(self, words, **options):
        """Runs a command inside to its end, which has to be a success."""
        return subprocess.run(self.command(words, **options), check=True)

    def do(self, step):
        """Does a step; one that only says something about the image changes nothing here."""
        method = getattr(self, "do_" + step.name.lower(), None)
        if method:
            method(step)

    def do_run(self, step):
        self.run(step.words() if step.text.startswith("[") else ["/bin/sh", "-c", step.text])

    def do_env(self, step):
        self.environment.update(step.assignments())

    def do_user(self, step):
        if ":" not in step.text or not step.text.replace(":", "").isdigit():
            raise ValueError(f"USER {step.text}: expected numbers, UID:GID")
        self.user = step.text

    def do_workdir(self, step):
        self.directory = step.text
        (self.root / step.text.lstrip("/")).mkdir(parents=True, exist_ok=True)

    def do_copy(self, step):
        """COPY, from the context without what .dockerignore names, or from an earlier stage."""
        *sources, target = step.words()
        origin = self.other_roots[step.options["from"]] if "from" in step.options else self.context
        into = self.root / os.path.join(self.directory, target).lstrip("/")
        for name in sources:
            source = origin / name.lstrip("/")
            if source.is_dir():
                shutil.copytree(
                    source, into, symlinks=True, dirs_exist_ok=True,
                    ignore=self.ignoring(origin) if origin == self.context else None)
            else:
                is_folder = target.endswith("/") or into.is_dir()
                destination = into / source.name if is_folder else into
                destination.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, destination)

    def ignoring(self, origin):
        def ignore(folder, names):
            return [name for name in names if str(Path(folder, name).relative_to(origin)) in self.ignored]

        return ignore

    def make_read_only(self):
        """As `read_only: true` of a compose file and `readOnlyRootFilesystem` of Kubernetes."""
        self.unmount()
        subprocess.run(["mount", "--bind", self.root, self.root], check=True)
        self.mount_kernel()
        subprocess.run(["mount", "-o", "remount,bind,ro", self.root], check=True)
