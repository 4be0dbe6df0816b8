"""What the compose schema can't say of docker-compose.yml: no secret in it, every service hardened and limited."""

import ipaddress
import re
import sys

import yaml

with open(sys.argv[1]) as file:
    text = file.read()
compose = yaml.safe_load(text)
faults = []

for line in text.splitlines():
    # A password is a variable that must be set: no value, and no default.
    if re.search(r"password", line, re.I) and not line.lstrip().startswith("#"):
        values = re.sub(r"\$\{\w+:\?[^}]*\}", "", line)
        if re.search(r"(:[^/@]+@|PASSWORD: *\S)", values):
            faults.append(f"a secret, or a default for one: {line.strip()}")

for name, service in compose["services"].items():
    limits = service.get("deploy", {}).get("resources", {}).get("limits", {})
    for what in ["cpus", "memory", "pids"]:
        if what not in limits:
            faults.append(f"{name}: no limit of {what}")
    if service.get("read_only") is not True:
        faults.append(f"{name}: its root can be written to")
    if service.get("cap_drop") != ["ALL"] or "cap_add" in service:
        faults.append(f"{name}: has capabilities")
    if "no-new-privileges:true" not in service.get("security_opt", []):
        faults.append(f"{name}: may gain privileges")
    if "container_name" in service:
        faults.append(f"{name}: a fixed name can't be scaled")
    if "logging" not in service:
        faults.append(f"{name}: its log grows without end")
    if not re.search(r":\S", service.get("image", "")) or service["image"].endswith(":latest"):
        faults.append(f"{name}: an image without a version")

published = [name for name, service in compose["services"].items() if "ports" in service]
if published != ["balancer"]:
    faults.append(f"published: {published}; only the balancer should be")
if compose["networks"]["data"].get("internal") is not True:
    faults.append("the database's network leads outside")



def default(text):
    """What a variable with a default is where nothing sets it."""
    return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", text)


# Whoever is trusted can claim any client's address: the balancer alone, by an address that Docker gives to nobody else.
balancer = compose["services"]["balancer"]["networks"]
address = isinstance(balancer, dict) and balancer["edge"].get("ipv4_address")
if compose["services"]["api"]["environment"]["POI_TRUSTED_PROXIES"] != address:
    faults.append("POI_TRUSTED_PROXIES: isn't the balancer's fixed address")
else:
    pool = compose["networks"]["edge"]["ipam"]["config"][0]
    subnet, given = (ipaddress.ip_network(default(pool[key])) for key in ["subnet", "ip_range"])
    own = ipaddress.ip_address(default(address))
    if own not in subnet or own in given or not given.subnet_of(subnet) or own == subnet[1]:
        faults.append(f"the balancer's {own} has to be in {subnet}, not in {given}, and not the network's gateway")

for fault in faults:
    print(f"docker-compose.yml: {fault}", file=sys.stderr)
sys.exit(1 if faults else 0)
