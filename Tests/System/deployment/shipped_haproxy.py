"""The shipped configuration of HAProxy, for servers on this machine."""

import shutil

from servers import ROOT


def copy_haproxy(folder, ports):
    """The command that starts an HAProxy with a file beside its copy in `folder`: the servers' ports stand in place of the DNS'
    name."""
    text = (ROOT / "deploy/haproxy/haproxy.cfg").read_text()
    template = next(line for line in text.splitlines() if line.strip().startswith("server-template "))
    shutil.copytree(ROOT / "deploy/haproxy", folder / "haproxy")
    servers = [f"    server api{number} 127.0.0.1:{port}" for number, port in enumerate(ports)]
    (folder / "haproxy/haproxy.cfg").write_text(text.replace(template, "\n".join(servers)))
    return ["env", "--chdir", folder / "haproxy", "haproxy", "-f"]
