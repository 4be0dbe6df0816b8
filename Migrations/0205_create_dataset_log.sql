-- migrate:up

-- The dataset's id: as long as it is the same, so are locations, categories, datasets and filterable_properties. Servers make
-- entity tags of it. Readers take it in the same statement, and so in the same snapshot, as the rows. It is made of two random
-- ids, so it never comes back:
--
--   * the newest row of dataset_log, one row for each transaction that changed places;
--   * the row of dataset_incarnation, computed again by every restore of a dump.
--
-- A log, and not one row that every commit updates: while a snapshot is held (by a dump, for instance) no version of
-- such a row can be pruned, and every statement that reads the id walks all of them, 638 pages after 100,000 commits.
-- The newest row of the log is at the right end of an index: three pages, whatever has piled up at the left end.
--
-- Servers keep a copy of all places in memory. To follow the changes they have to know which places a transaction has
-- changed, so the log says that for each of its revisions.
CREATE TABLE dataset_log (
    -- Given under a lock that is held until the commit is visible, so revisions become visible in their order.
    revision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid(),
    place_ids bigint[]
);
-- Not compressed: PostgreSQL's compression takes 6 us for an id, since lists of numbers have many zeros.
ALTER TABLE dataset_log ALTER COLUMN place_ids SET STORAGE EXTERNAL;

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations, categories, datasets or filterable_properties, in the order of their commits; the last 10,000 are kept. Numbers may be missing. Readers of the id use the view dataset.';
COMMENT ON COLUMN dataset_log.place_ids IS
    'The places that the transaction inserted, changed or deleted. Null where they are not known (TRUNCATE, other filterable properties, more than 10,000 places, or many places a long time ago): then all places have to be read.';

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

-- What a reader has to know of the dataset, as one value, so that it costs a statement no more than the id alone.
--
-- A subquery, not a join: PostgreSQL has no statistics of dataset_incarnation and takes it for thousands of rows, so a
-- join would look so costly that every statement with it is compiled first (jit) in sessions that don't switch that
-- off: 13 ms instead of 0.5 ms.
CREATE VIEW dataset AS
    SELECT encode(digest, 'hex')::uuid AS id, digest || int8send(revision) || incarnation AS version
    FROM (
        SELECT revision, incarnation, substring(sha256(uuid_send(id) || incarnation) FOR 16) AS digest
        FROM (
            SELECT revision, id, (SELECT uuid_send(id) FROM dataset_incarnation) AS incarnation
            FROM dataset_log ORDER BY revision DESC LIMIT 1
        ) AS newest
    ) AS digested;

COMMENT ON VIEW dataset IS
    'The dataset''s id: as long as it is the same, locations, categories, datasets and filterable_properties are the same. Each renewal notifies the channel dataset_renewed with the new id.';
COMMENT ON COLUMN dataset.version IS
    'Three things in 40 bytes: the id (16), the revision of dataset_log (8, big-endian) and the id of dataset_incarnation (16).';

-- Commits that change places take turns by a lock of this table. An advisory lock would do that too, but every role may take
-- one, and then no place could be changed while somebody who may only read holds it. No role needs a right to this table.
CREATE TABLE dataset_lock ();

COMMENT ON TABLE dataset_lock IS
    'Empty. Commits that change places hold a lock of it, one at a time.';

-- A trigger that renewed the id at once would hold the lock of renew_dataset until commit, and two writers of several
-- statements would deadlock. So a statement only marks its transaction here, with a row that no other transaction
-- touches. The deferred trigger on the mark renews the id at commit, when the transaction has all of its other locks. A
-- mark lives as long as its transaction, a savepoint's is rolled back with the savepoint, and after a crash there is
-- nothing to keep: unlogged.
--
-- The mark holds the places of the transaction's first statement, which for most transactions is the only one. The
-- places of further statements have a table of their own, since a list that grew with each of them would be copied each
-- time. Null stands for all places, after a TRUNCATE.
CREATE UNLOGGED TABLE dataset_changes (
    transaction_id xid8 PRIMARY KEY DEFAULT pg_current_xact_id(),
    place_ids bigint[] DEFAULT '{}',
    has_further boolean NOT NULL DEFAULT false
);
ALTER TABLE dataset_changes ALTER COLUMN place_ids SET STORAGE EXTERNAL;

CREATE UNLOGGED TABLE dataset_further_changes (
    transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id(),
    place_ids bigint[]
);
ALTER TABLE dataset_further_changes ALTER COLUMN place_ids SET STORAGE EXTERNAL;

CREATE INDEX dataset_further_changes_transaction_id_idx ON dataset_further_changes (transaction_id);

COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations, categories, datasets or filterable_properties; no other transaction ever sees a row here.';
COMMENT ON COLUMN dataset_changes.place_ids IS
    'The places that the first statement wrote: all of them, or more than 10,000 of them.';
COMMENT ON COLUMN dataset_changes.has_further IS
    'Whether dataset_further_changes has rows of the transaction.';
COMMENT ON TABLE dataset_further_changes IS
    'The places that other statements of open transactions than the first wrote; no other transaction ever sees a row here.';

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

-- Adds the places of a statement that isn't the first of its transaction.
CREATE FUNCTION record_further_places(ids bigint[]) RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO dataset_further_changes (place_ids) VALUES (ids);
    UPDATE dataset_changes SET has_further = true
        WHERE transaction_id = pg_current_xact_id() AND NOT has_further;
END;
$$;

-- Setting search_path takes 10,000 instructions a call. So the two functions that every statement calls name the schema
-- of their tables, and that of operators: for a writer may have a search_path with others. A transition table is found
-- before any other of its name.
--
-- The limit keeps the cost of a large statement from growing with its size. INSERT and DELETE share a function, since
-- their triggers give their rows the same name.
DO $do$
BEGIN
    EXECUTE format($format$
CREATE FUNCTION record_written_places() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO %1$I.dataset_changes (place_ids) VALUES (ARRAY(SELECT id FROM written_locations LIMIT 10001))
        ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM %1$I.record_further_places(ARRAY(SELECT id FROM written_locations LIMIT 10001));
    END IF;
    RETURN NULL;
END;
$$;

CREATE FUNCTION record_updated_places() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    ids bigint[];
BEGIN
    -- Most statements write a few places, and are the first of their transaction: one query for those.
    INSERT INTO %1$I.dataset_changes (place_ids)
        SELECT written.ids FROM (SELECT ARRAY(SELECT id FROM new_locations LIMIT 33) OFFSET 0) AS written (ids)
        WHERE pg_catalog.cardinality(written.ids) OPERATOR(pg_catalog.<=) 32
        ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN NULL;
    END IF;
    ids := ARRAY(SELECT id FROM new_locations LIMIT 33);
    -- A larger statement leaves out the places that it wrote but didn't change, as an import does with most places. Rows
    -- are compared byte by byte: 0 and -0 are equal, but not the same. A full join can't become a nested loop, whatever
    -- size PostgreSQL expects.
    IF pg_catalog.cardinality(ids) OPERATOR(pg_catalog.>) 32 THEN
        ids := ARRAY(
            SELECT coalesce(new_locations.id, old_locations.id)
            FROM new_locations FULL JOIN old_locations
                ON new_locations.id OPERATOR(pg_catalog.=) old_locations.id
            WHERE (new_locations OPERATOR(pg_catalog.*=) old_locations) IS NOT TRUE
            LIMIT 10001
        );
    END IF;
    INSERT INTO %1$I.dataset_changes (place_ids) VALUES (ids) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM %1$I.record_further_places(ids);
    END IF;
    RETURN NULL;
END;
$$;
$format$, current_schema());
END;
$do$;

-- An update can give a place another id (SET id = DEFAULT). Its former id is recorded by a trigger of its own, which
-- only such updates call: so all others needn't read the old rows.
CREATE FUNCTION record_renumbered_place() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO dataset_changes (place_ids) VALUES (ARRAY[OLD.id]) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM record_further_places(ARRAY[OLD.id]);
    END IF;
    RETURN NULL;
END;
$$;

CREATE FUNCTION record_truncated_places() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO dataset_changes (place_ids) VALUES (NULL) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        PERFORM record_further_places(NULL);
    END IF;
    RETURN NULL;
END;
$$;

-- The places of a transaction of several statements: those of the first, and of the others, whose rows it removes.
CREATE FUNCTION take_changed_places(changed_by xid8, first_place_ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    ids bigint[];
BEGIN
    WITH further AS (
        DELETE FROM dataset_further_changes WHERE transaction_id = changed_by RETURNING place_ids
    ), statement AS (
        SELECT first_place_ids AS place_ids UNION ALL SELECT place_ids FROM further
    )
    SELECT CASE WHEN (SELECT bool_and(place_ids IS NOT NULL) FROM statement)
            THEN ARRAY(SELECT DISTINCT id FROM statement, unnest(place_ids) AS id LIMIT 10001) END
        INTO ids;
    RETURN CASE WHEN cardinality(ids) <= 10000 THEN ids END;
END;
$$;

-- Runs at commit, when the transaction has all of its other locks; only the lock of NOTIFY comes after this one. It
-- reads no row of other transactions, so writers under REPEATABLE READ don't fail for one another.
CREATE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    ids bigint[] := NEW.place_ids;
    new_revision bigint;
    new_id uuid;
BEGIN
    DELETE FROM dataset_changes WHERE transaction_id = NEW.transaction_id AND NOT has_further;
    IF NOT FOUND THEN
        DELETE FROM dataset_changes WHERE transaction_id = NEW.transaction_id;
        ids := take_changed_places(NEW.transaction_id, ids);
    ELSIF cardinality(ids) > 10000 THEN
        ids := NULL;
    END IF;
    -- Commits that change places wait for one another here. Stronger modes take longer: PostgreSQL looks through the locks of
    -- all sessions then.
    LOCK TABLE dataset_lock IN SHARE UPDATE EXCLUSIVE MODE;
    INSERT INTO dataset_log (place_ids) VALUES (ids) RETURNING revision, id INTO new_revision, new_id;
    -- Deletes a short range only: a scan from the left end would read everything that a held snapshot keeps. The range
    -- overlaps the ones before, in case one of those was rolled back.
    IF new_revision % 100 = 0 THEN
        BEGIN
            DELETE FROM dataset_log
            WHERE revision BETWEEN new_revision - 11000 AND new_revision - 10001;
            -- Long lists are kept a tenth of the time. So the log takes 90 MB at most: 80 kB for each of the last 1000
            -- revisions, 1 kB for each of the others.
            UPDATE dataset_log SET place_ids = NULL
            WHERE revision BETWEEN new_revision - 1200 AND new_revision - 1001
                AND pg_column_size(place_ids) > 1024;
        EXCEPTION WHEN serialization_failure THEN
            NULL; -- Under REPEATABLE READ, when another writer has just pruned: the next one does it.
        END;
    END IF;
    -- The same digest as in the view dataset.
    PERFORM pg_notify('dataset_renewed',
        encode(substring(sha256(uuid_send(new_id) || uuid_send(id)) FOR 16), 'hex')::uuid::text)
    FROM dataset_incarnation;
    RETURN NULL;
END;
$$;

-- As in 0202_create_locations: whatever the writer's search_path and temporary tables are.
DO $$
DECLARE
    function_name text;
BEGIN
    FOREACH function_name IN ARRAY ARRAY[
        'mark_dataset_change', 'record_further_places', 'record_renumbered_place', 'record_truncated_places',
        'take_changed_places', 'renew_dataset'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %I SET search_path = %I, pg_temp', function_name, current_schema());
    END LOOP;
END;
$$;

-- Makes the plans use the keys, always: a plan that was made while a table was small would scan it for as long as the
-- session lives. (enable_seqscan = off would do so too, but then dataset_incarnation, which has no index, looks so
-- costly that the plan is compiled.)
ALTER FUNCTION renew_dataset() SET random_page_cost = 0;
ALTER FUNCTION take_changed_places SET random_page_cost = 0;
ALTER FUNCTION record_further_places SET random_page_cost = 0;

REVOKE EXECUTE ON FUNCTION mark_dataset_change(), record_further_places(bigint[]), record_written_places(),
    record_updated_places(), record_renumbered_place(), record_truncated_places(), take_changed_places(xid8, bigint[]),
    renew_dataset() FROM PUBLIC;

CREATE TRIGGER locations_record_inserted AFTER INSERT ON locations
    REFERENCING NEW TABLE AS written_locations
    FOR EACH STATEMENT EXECUTE FUNCTION record_written_places();

CREATE TRIGGER locations_record_updated AFTER UPDATE ON locations
    REFERENCING OLD TABLE AS old_locations NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION record_updated_places();

CREATE TRIGGER locations_record_renumbered AFTER UPDATE OF id ON locations
    FOR EACH ROW EXECUTE FUNCTION record_renumbered_place();

CREATE TRIGGER locations_record_deleted AFTER DELETE ON locations
    REFERENCING OLD TABLE AS written_locations
    FOR EACH STATEMENT EXECUTE FUNCTION record_written_places();

CREATE TRIGGER locations_record_truncated AFTER TRUNCATE ON locations
    FOR EACH STATEMENT EXECUTE FUNCTION record_truncated_places();

-- A statement that touches no row renews too: then a cache is refilled in vain, but it is never stale.
CREATE TRIGGER categories_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON categories
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

CREATE TRIGGER datasets_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON datasets
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

-- As after TRUNCATE of locations, places aren't named: servers have to read all of them, with the values by which they are to
-- be found.
CREATE TRIGGER filterable_properties_record_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON filterable_properties
    FOR EACH STATEMENT EXECUTE FUNCTION record_truncated_places();

-- Only constraint triggers can be deferred, and those run for each row: here for each mark, so once a transaction. A
-- NOTIFY in a row trigger on locations would queue one notification a row.
CREATE CONSTRAINT TRIGGER dataset_changes_renew_dataset
    AFTER INSERT ON dataset_changes
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION renew_dataset();

-- migrate:down

DROP TRIGGER filterable_properties_record_change ON filterable_properties;
DROP TRIGGER datasets_mark_dataset_change ON datasets;
DROP TRIGGER categories_mark_dataset_change ON categories;
DROP TRIGGER locations_record_truncated ON locations;
DROP TRIGGER locations_record_deleted ON locations;
DROP TRIGGER locations_record_renumbered ON locations;
DROP TRIGGER locations_record_updated ON locations;
DROP TRIGGER locations_record_inserted ON locations;
DROP TABLE dataset_further_changes;
DROP TABLE dataset_changes;
DROP TABLE dataset_lock;
DROP FUNCTION renew_dataset();
DROP FUNCTION take_changed_places(xid8, bigint[]);
DROP FUNCTION record_truncated_places();
DROP FUNCTION record_renumbered_place();
DROP FUNCTION record_updated_places();
DROP FUNCTION record_written_places();
DROP FUNCTION record_further_places(bigint[]);
DROP FUNCTION mark_dataset_change();
DROP VIEW dataset;
DROP MATERIALIZED VIEW dataset_incarnation;
DROP TABLE dataset_log;
