-- migrate:up

-- The dataset's id: as long as it is the same, locations and categories are the same. Servers make entity tags of it.
-- Readers take it in the same statement, and so in the same snapshot, as the rows. It is made of two random ids, so it
-- never comes back:
--
--   * the newest row of dataset_log, one row for each transaction that changed places;
--   * the row of dataset_incarnation, computed again by every restore of a dump.
--
-- A log, and not one row that every commit updates: while a snapshot is held (by a dump, for instance) no version of
-- such a row can be pruned, and every statement that reads the id walks all of them, 638 pages after 100,000 commits.
-- The newest row of the log is at the right end of an index: three pages, whatever has piled up at the left end.
CREATE TABLE dataset_log (
    -- Given under a lock that is held until the commit is visible, so revisions become visible in their order.
    revision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid()
);

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations or categories, in the order of their commits; the last 1000 are kept. Numbers may be missing. Readers of the id use the view dataset.';

-- With a few rows and their statistics the planner would read the whole table, and keep that plan while the table
-- grows. So there are a hundred rows from the start.
INSERT INTO dataset_log (id) SELECT gen_random_uuid() FROM generate_series(1, 100);

-- A dump holds dataset_log, and a restore brings its ids back: while it still loads its tables, with half of the rows,
-- and afterwards with whatever happened to the rows since. So the id has a second part, which pg_dump doesn't dump:
-- pg_restore computes a materialized view last of all, and until then every statement that reads it fails (55000).
-- Streaming replicas, base backups and snapshots of the disk copy it with the rows, as they should.
CREATE MATERIALIZED VIEW dataset_incarnation AS SELECT gen_random_uuid() AS id;

COMMENT ON MATERIALIZED VIEW dataset_incarnation IS
    'One row, computed again by every restore of a dump.';

-- A subquery, not a join: PostgreSQL has no statistics of dataset_incarnation and takes it for thousands of rows, so a
-- join would look so costly that every statement with it is compiled first (jit) in sessions that don't switch that
-- off: 13 ms instead of 0.5 ms.
CREATE VIEW dataset AS
    SELECT encode(
        substring(sha256(uuid_send(id) || (SELECT uuid_send(id) FROM dataset_incarnation)) FOR 16), 'hex')::uuid AS id
    FROM (SELECT id FROM dataset_log ORDER BY revision DESC LIMIT 1) AS newest;

COMMENT ON VIEW dataset IS
    'The dataset''s id: as long as it is the same, locations and categories are the same. Each renewal notifies the channel dataset_renewed with the new id.';

-- A trigger that renewed the id at once would hold the lock of renew_dataset until commit, and two writers of several
-- statements would deadlock. So a statement only marks its transaction here, with a row that no other transaction
-- touches. The deferred trigger on the mark renews the id at commit, when the transaction has all of its other locks. A
-- mark lives as long as its transaction, a savepoint's is rolled back with the savepoint, and after a crash there is
-- nothing to keep: unlogged.
CREATE UNLOGGED TABLE dataset_changes (
    transaction_id xid8 PRIMARY KEY DEFAULT pg_current_xact_id()
);

COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations or categories; no other transaction ever sees a row here.';

-- SECURITY DEFINER, here and below: a role that writes places needs no right to these tables.
CREATE FUNCTION mark_dataset_change() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO dataset_changes DEFAULT VALUES ON CONFLICT DO NOTHING;
    RETURN NULL;
END;
$$;

-- Runs at commit, when the transaction has all of its other locks; only the lock of NOTIFY comes after this one. It
-- reads no row of other transactions, so writers under REPEATABLE READ don't fail for one another.
CREATE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    renewed dataset_log;
BEGIN
    DELETE FROM dataset_changes WHERE transaction_id = NEW.transaction_id;
    -- "poi_data" in ASCII. Commits that change places wait for one another here.
    PERFORM pg_advisory_xact_lock(x'706f695f64617461'::bigint);
    INSERT INTO dataset_log DEFAULT VALUES RETURNING * INTO renewed;
    -- Deletes a short range only: a scan from the left end would read everything that a held snapshot keeps. The range
    -- overlaps the ones before, in case one of those was rolled back.
    IF renewed.revision % 100 = 0 THEN
        BEGIN
            DELETE FROM dataset_log
            WHERE revision BETWEEN renewed.revision - 2000 AND renewed.revision - 1001;
        EXCEPTION WHEN serialization_failure THEN
            NULL; -- Under REPEATABLE READ, when another writer has just pruned: the next one does it.
        END;
    END IF;
    -- The same digest as in the view dataset.
    PERFORM pg_notify('dataset_renewed',
        encode(substring(sha256(uuid_send(renewed.id) || uuid_send(id)) FOR 16), 'hex')::uuid::text)
    FROM dataset_incarnation;
    RETURN NULL;
END;
$$;

-- As in 0103_create_locations: whatever the writer's search_path and temporary tables are.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION mark_dataset_change() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION renew_dataset() SET search_path = %I, pg_temp', current_schema());
END;
$$;

-- Makes the plans use the keys, always: a plan that was made while a table was small would scan it for as long as the
-- session lives. (enable_seqscan = off would do so too, but then dataset_incarnation, which has no index, looks so
-- costly that the plan is compiled.)
ALTER FUNCTION renew_dataset() SET random_page_cost = 0;

REVOKE EXECUTE ON FUNCTION mark_dataset_change(), renew_dataset() FROM PUBLIC;

-- A statement that touches no row renews too: then a cache is refilled in vain, but it is never stale.
CREATE TRIGGER locations_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON locations
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

CREATE TRIGGER categories_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON categories
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

-- Only constraint triggers can be deferred, and those run for each row: here for each mark, so once a transaction. A
-- NOTIFY in a row trigger on locations would queue one notification a row.
CREATE CONSTRAINT TRIGGER dataset_changes_renew_dataset
    AFTER INSERT ON dataset_changes
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION renew_dataset();

-- migrate:down

DROP TRIGGER categories_mark_dataset_change ON categories;
DROP TRIGGER locations_mark_dataset_change ON locations;
DROP TABLE dataset_changes;
DROP FUNCTION renew_dataset();
DROP FUNCTION mark_dataset_change();
DROP VIEW dataset;
DROP MATERIALIZED VIEW dataset_incarnation;
DROP TABLE dataset_log;
