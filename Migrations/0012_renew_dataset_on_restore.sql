-- migrate:up

-- A dump carries the dataset's id, and a restore would bring it back: while it still loads its tables, then
-- vouching for half of the rows, and afterwards with whatever happened to them. So what vouches from now on is
-- a digest of two ids: the one that each change renews, and the one of this incarnation of the database. The
-- latter is a materialized view, which pg_dump never dumps the content of: pg_restore computes it anew, last of
-- all, and until then every statement that reads it fails (55000). Streaming replicas, base backups and
-- snapshots of the disk copy it with the rows, as they should: every later change renews at random.
ALTER TABLE dataset RENAME TO dataset_version;

COMMENT ON TABLE dataset_version IS
    'One row. Its id is renewed once by every transaction that writes locations or categories. Readers take the view dataset.';

CREATE MATERIALIZED VIEW dataset_incarnation AS SELECT gen_random_uuid() AS id;

COMMENT ON MATERIALIZED VIEW dataset_incarnation IS
    'One row, computed again by every restore of a dump.';

-- Under the table's old name, so that a server of the release before reads it too.
CREATE VIEW dataset AS
    SELECT encode(substring(sha256(uuid_send(version.id) || uuid_send(incarnation.id)) FOR 16), 'hex')::uuid AS id
    FROM dataset_version AS version CROSS JOIN dataset_incarnation AS incarnation;

COMMENT ON VIEW dataset IS
    'Vouches for the rows: as long as the id is the same, so are locations and categories. Each renewal notifies the channel dataset_renewed with the new id.';

-- As in 0004, but for the names.
CREATE OR REPLACE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    DELETE FROM dataset_changes WHERE transaction_id = NEW.transaction_id;
    INSERT INTO dataset_version DEFAULT VALUES
        ON CONFLICT (is_only_row) DO UPDATE SET id = excluded.id;
    PERFORM pg_notify('dataset_renewed', id::text) FROM dataset;
    RETURN NULL;
END;
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION renew_dataset() SET search_path = %I, pg_temp', current_schema());
END;
$$;

-- migrate:down

DROP VIEW dataset;
DROP MATERIALIZED VIEW dataset_incarnation;
ALTER TABLE dataset_version RENAME TO dataset;

COMMENT ON TABLE dataset IS
    'One row. Its id is renewed once by every transaction that writes locations or categories; each renewal notifies the channel dataset_renewed with the new id.';

CREATE OR REPLACE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    renewed_id uuid;
BEGIN
    DELETE FROM dataset_changes WHERE transaction_id = NEW.transaction_id;
    INSERT INTO dataset DEFAULT VALUES
        ON CONFLICT (is_only_row) DO UPDATE SET id = excluded.id
        RETURNING id INTO renewed_id;
    PERFORM pg_notify('dataset_renewed', renewed_id::text);
    RETURN NULL;
END;
$$;

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION renew_dataset() SET search_path = %I, pg_temp', current_schema());
END;
$$;
