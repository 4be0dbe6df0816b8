"""Certificates for one run of a check, by openssl. They are good for a week."""

import subprocess


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_key_and(folder, name, subject, *arguments):
    """NAME.key, and what `openssl req` makes of it."""
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={subject}",
            "-keyout", folder / f"{name}.key", *arguments)
    (folder / f"{name}.key").chmod(0o600)


def make_ca(folder, name):
    """A CA: NAME.crt, whose path is returned, and NAME.key."""
    make_key_and(folder, name, name, "-x509", "-days", 7, "-out", folder / f"{name}.crt")
    return folder / f"{name}.crt"


def make_certificate(folder, name, ca, host):
    """NAME.crt and NAME.key for a host's name or IP address, by a CA of the same folder."""
    kind = "IP" if host[0].isdigit() else "DNS"
    make_key_and(folder, name, host, "-addext", f"subjectAltName={kind}:{host}", "-out", folder / f"{name}.request")
    openssl("x509", "-req", "-in", folder / f"{name}.request", "-CA", folder / f"{ca}.crt", "-CAkey", folder / f"{ca}.key",
            "-CAcreateserial", "-days", 7, "-copy_extensions", "copy", "-out", folder / f"{name}.crt")
