-- poi:oldest-program 0.1.0
-- migrate:up

-- The dataset's id was the one row of dataset_version, updated by each commit that changes places. While a snapshot
-- was held (by a dump, for instance) no version of that row could be pruned, and every statement that reads the id
-- walked all of them: 638 pages after 100,000 commits. Now each such commit adds a row to a log, and the id is that
-- of the newest row, at the right end of an index: three pages, whatever has piled up at the left end.

-- Writers first, so that none is left between its changes and its renewal; then readers, in their own order.
LOCK TABLE locations, dataset_changes IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE dataset, dataset_version IN ACCESS EXCLUSIVE MODE;

CREATE TABLE dataset_log (
    -- Given under a lock that is held until the commit is visible, so revisions become visible in their order.
    revision bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id uuid NOT NULL DEFAULT gen_random_uuid()
);

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations or categories, in the order of their commits; the last 1000 are kept. Numbers may be missing. Readers of the id take the view dataset.';

-- With a few rows and their statistics the planner would read the table whole, and keep that plan while the table
-- grows. So there are a hundred from the start. The newest is what was the id until now.
INSERT INTO dataset_log (id) SELECT gen_random_uuid() FROM generate_series(1, 100);
INSERT INTO dataset_log (id) SELECT id FROM dataset_version;

CREATE OR REPLACE VIEW dataset AS
    SELECT encode(
        substring(sha256(uuid_send(id) || (SELECT uuid_send(id) FROM dataset_incarnation)) FOR 16), 'hex')::uuid AS id
    FROM (SELECT id FROM dataset_log ORDER BY revision DESC LIMIT 1) AS newest;

DROP TABLE dataset_version;

-- Runs at commit, when the transaction has all of its other locks; after it come only the lock of NOTIFY and the end.
-- It reads no row of others, so writers under REPEATABLE READ don't fail for one another.
CREATE OR REPLACE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    renewed dataset_log;
BEGIN
    DELETE FROM dataset_changes WHERE transaction_id = NEW.transaction_id;
    -- "poi_data" in ASCII. Makes commits that change places wait for one another, as the one row's lock did.
    PERFORM pg_advisory_xact_lock(x'706f695f64617461'::bigint);
    INSERT INTO dataset_log DEFAULT VALUES RETURNING * INTO renewed;
    -- Only a short range: a scan from the left end would walk everything that a held snapshot keeps. The range
    -- overlaps those before, in case that one of them was rolled back.
    IF renewed.revision % 100 = 0 THEN
        BEGIN
            DELETE FROM dataset_log
            WHERE revision BETWEEN renewed.revision - 2000 AND renewed.revision - 1001;
        EXCEPTION WHEN serialization_failure THEN
            NULL; -- Under REPEATABLE READ, by another's pruning: the next one does it.
        END;
    END IF;
    -- The view's digest.
    PERFORM pg_notify('dataset_renewed',
        encode(substring(sha256(uuid_send(renewed.id) || uuid_send(id)) FOR 16), 'hex')::uuid::text)
    FROM dataset_incarnation;
    RETURN NULL;
END;
$$;

-- GENERATED ALWAYS keeps a writer of INSERT from choosing ids, but not COPY, which doesn't know of it, nor OVERRIDING
-- SYSTEM VALUE. An id that the sequence hasn't given yet would collide with a later place.
CREATE FUNCTION refuse_chosen_ids() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    max_id bigint;
    last_id bigint;
BEGIN
    SELECT max(id), (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM locations_id_seq)
        INTO max_id, last_id FROM new_locations;
    IF max_id > last_id THEN
        RAISE EXCEPTION 'the id % of a place was not generated', max_id
            USING ERRCODE = 'generated_always',
                  DETAIL = format('The sequence locations_id_seq has given ids up to %s.', last_id),
                  HINT = 'Leave id out of the list of columns. To bring places back with their ids, first raise the sequence with setval.';
    END IF;
    RETURN NULL;
END;
$$;

-- As in 0004: whatever the writer's search_path and temporary tables.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION renew_dataset() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION refuse_chosen_ids() SET search_path = %I, pg_temp', current_schema());
END;
$$;

-- By their keys, always: a plan that was made while a table was small would scan it for as long as the session lives.
-- (Not by enable_seqscan: dataset_incarnation has no index and would look so costly that its plan is compiled, see 0014.)
ALTER FUNCTION renew_dataset() SET random_page_cost = 0;

REVOKE EXECUTE ON FUNCTION refuse_chosen_ids() FROM PUBLIC;

-- Triggers run in the order of their names: before the one that inserts words.
CREATE TRIGGER locations_generate_ids AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_chosen_ids();

-- migrate:down

LOCK TABLE locations, dataset_changes IN SHARE ROW EXCLUSIVE MODE;
LOCK TABLE dataset, dataset_log IN ACCESS EXCLUSIVE MODE;

DROP TRIGGER locations_generate_ids ON locations;
DROP FUNCTION refuse_chosen_ids();

-- The constraints have the names that 0004 gave them.
CREATE TABLE dataset_version (
    is_only_row boolean DEFAULT true CONSTRAINT dataset_pkey PRIMARY KEY
        CONSTRAINT dataset_is_only_row_check CHECK (is_only_row),
    id uuid NOT NULL DEFAULT gen_random_uuid()
);

COMMENT ON TABLE dataset_version IS
    'One row. Its id is renewed once by every transaction that writes locations or categories. Readers take the view dataset.';

INSERT INTO dataset_version (id) SELECT id FROM dataset_log ORDER BY revision DESC LIMIT 1;

CREATE OR REPLACE VIEW dataset AS
    SELECT encode(
        substring(sha256(uuid_send(id) || (SELECT uuid_send(id) FROM dataset_incarnation)) FOR 16), 'hex')::uuid AS id
    FROM dataset_version;

DROP TABLE dataset_log;

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
