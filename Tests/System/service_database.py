"""What a database is given before the service uses it: its roles' passwords and its tables."""

import os
import subprocess

from servers import ROOT

PASSWORDS = {"poi_migrate": "migratepassword", "poi_serve": "servepassword", "poi_events": "eventspassword"}


def migrate(poi, database, seeds=False):
    """Makes the service's tables in a database."""
    subprocess.run([poi, "migrate", "up"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DATABASE_URL": database, "POI_SEEDS": str(seeds).lower()})
