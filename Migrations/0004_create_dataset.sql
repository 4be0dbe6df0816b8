-- migrate:up

-- Vouches for the rows: as long as the id is the same, so are locations and categories. Readers
-- take it in the same statement, hence the same snapshot, as the rows. Being random, it never
-- comes back: two copies of one dump share it only until one of them changes.
CREATE TABLE dataset (
    is_only_row boolean PRIMARY KEY DEFAULT true CHECK (is_only_row),
    id uuid NOT NULL DEFAULT gen_random_uuid()
);

INSERT INTO dataset DEFAULT VALUES;

COMMENT ON TABLE dataset IS
    'One row. Its id is renewed once by every transaction that writes locations or categories; each renewal notifies the channel dataset_renewed with the new id.';

-- A trigger that wrote the row above at once would hold its lock until commit, and two writers
-- of several statements would deadlock. So a statement only marks its transaction here, a row
-- that no other transaction touches, and the deferred trigger on the mark renews the id at
-- commit, when every other lock is held already. A mark lives as long as its transaction, a
-- savepoint's goes with the savepoint, and after a crash there is nothing to keep: unlogged.
CREATE UNLOGGED TABLE dataset_changes (
    transaction_id xid8 PRIMARY KEY DEFAULT pg_current_xact_id()
);

COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations or categories; nobody else ever sees a row here.';

-- SECURITY DEFINER: who may write places needs no right to the bookkeeping.
CREATE FUNCTION mark_dataset_change() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO dataset_changes DEFAULT VALUES ON CONFLICT DO NOTHING;
    RETURN NULL;
END;
$$;

-- The upsert also brings the row back, should anybody have deleted it. Writers under REPEATABLE
-- READ or SERIALIZABLE that commit at the same time fail with 40001 and are to be repeated.
CREATE FUNCTION renew_dataset() RETURNS trigger
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

-- The functions find their tables in the schema that holds them, whatever the writer's
-- search_path (pg_restore has none), and no temporary table of the writer's gets in between.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION mark_dataset_change() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION renew_dataset() SET search_path = %I, pg_temp', current_schema());
END;
$$;

REVOKE EXECUTE ON FUNCTION mark_dataset_change(), renew_dataset() FROM PUBLIC;

-- A statement that touches no row renews too: a cache refilled in vain, never a stale one.
CREATE TRIGGER locations_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON locations
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

CREATE TRIGGER categories_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON categories
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

-- Only constraint triggers can be deferred, and they are for each row: of the mark, once a
-- transaction. A NOTIFY in a row trigger on locations would queue one event a row.
CREATE CONSTRAINT TRIGGER dataset_changes_renew_dataset
    AFTER INSERT ON dataset_changes
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION renew_dataset();

-- migrate:down

DROP TRIGGER locations_mark_dataset_change ON locations;
DROP TRIGGER categories_mark_dataset_change ON categories;
DROP TABLE dataset_changes;
DROP TABLE dataset;
DROP FUNCTION mark_dataset_change();
DROP FUNCTION renew_dataset();
