"""Events that a test sends, and finds again."""

import json
import time
import uuid


def new_events(count, name):
    """The ids of new events, and a batch of them."""
    ids = [str(uuid.uuid4()) for _ in range(count)]
    return ids, json.dumps([
        {"id": id, "user_id": name, "time": time.time(), "event": {"name": name, "value": {}}} for id in ids]).encode()


def stored_events(query, name):
    """How often each event of a name is in the table, by its id; `query` asks the database."""
    rows = query(f"SELECT id, count(*) FROM events WHERE name = '{name}' GROUP BY id").splitlines()
    return {id: int(count) for id, count in (row.split("|") for row in rows)}
