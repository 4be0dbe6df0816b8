"""What a check sees of the server at POI_BASE_URL from outside: its process, memory and descriptors (proc(5))."""

import os
import re
from pathlib import Path

PORT = int(os.environ["POI_BASE_URL"].rsplit(":", 1)[1])


def server_process():
    """The process that listens on the port, by its socket."""
    inodes = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]
              if line.split()[1].endswith(f":{PORT:04X}") and line.split()[3] == "0A"}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and any(os.readlink(file)[8:-1] in inodes for file in (entry / "fd").iterdir()):
                return int(entry.name)
        except OSError:
            pass
    raise SystemExit("no process listens at POI_BASE_URL")


def resident(process):
    """Bytes of resident memory."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def maximum_resident(process):
    """Most bytes of resident memory that there were at any time."""
    return int(re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{process}/status").read_text())[1]) << 10


def descriptors(process):
    """Number of open file descriptors."""
    return len(os.listdir(f"/proc/{process}/fd"))
