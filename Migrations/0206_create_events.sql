-- migrate:up

-- Tracking events, in a partition a month by the phone's own time: an event that is sent again then meets its first
-- copy, and the primary key refuses it. An event of a clock that is far off goes to the DEFAULT partition and is never
-- refused; received_at says when it really came.
CREATE TABLE events (
    id uuid NOT NULL,
    time timestamptz NOT NULL,
    received_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    user_id text NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL DEFAULT '{}',
    is_test boolean NOT NULL DEFAULT false,
    PRIMARY KEY (id, time)
) PARTITION BY RANGE (time);

COMMENT ON TABLE events IS
    'Tracking events, once each. Partitions are made by make_events_partition and dropped by drop_events_partitions: poi events maintain.';
COMMENT ON COLUMN events.time IS 'When it happened, by the phone''s clock.';
COMMENT ON COLUMN events.user_id IS 'Who did it, or a keyed hash of that.';

CREATE TABLE events_default PARTITION OF events DEFAULT;

-- Rows lie in the order in which they came, and exports ask for a range of that.
CREATE INDEX events_received_at_idx ON events USING brin (received_at);

-- Makes the partition of a day's month, in UTC, and returns what was done: 'made', 'exists', or 'left'. 'left' means
-- that more than max_moved_rows rows of the month are in events_default already; these rows and later ones stay there.
-- A partition can't be attached while the DEFAULT one has rows of its range, so they are moved, under a lock for which
-- only writers to events_default have to wait.
--
-- Runs take turns by a lock of the table, for which neither readers nor writers wait. So any number of servers may call it at
-- once. Who doesn't own the table may call it too, and gets 'exists', or an error where there is no partition.
CREATE FUNCTION make_events_partition(day date, max_moved_rows bigint DEFAULT 100000) RETURNS text
LANGUAGE plpgsql
SET lock_timeout = '5s'
AS $$
DECLARE
    month timestamp := date_trunc('month', day::timestamp);
    first_moment timestamptz := month AT TIME ZONE 'UTC';
    end_moment timestamptz := (month + interval '1 month') AT TIME ZONE 'UTC';
    partition_name text := 'events_' || to_char(month, 'YYYY_MM');
    schema_name text;
    stray_count bigint;
BEGIN
    FOR attempt IN 1..2 LOOP
        PERFORM FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
            WHERE inhparent = 'events'::regclass AND relname = partition_name;
        IF FOUND THEN
            RETURN 'exists';
        END IF;
        -- Another run may have made it while this one waited.
        LOCK TABLE ONLY events IN SHARE UPDATE EXCLUSIVE MODE;
    END LOOP;
    SELECT relnamespace::regnamespace::text INTO schema_name FROM pg_class WHERE oid = 'events'::regclass;
    SELECT count(*) INTO stray_count FROM (
        SELECT FROM events_default WHERE time >= first_moment AND time < end_moment LIMIT max_moved_rows + 1
    ) AS stray;
    IF stray_count > max_moved_rows THEN
        RETURN 'left';
    END IF;
    -- CREATE TABLE … PARTITION OF would lock out all readers and writers of events; attaching doesn't.
    EXECUTE format('CREATE TABLE %s.%I (LIKE events INCLUDING ALL)', schema_name, partition_name);
    LOCK TABLE events_default IN ACCESS EXCLUSIVE MODE;
    EXECUTE format(
        'WITH moved AS (DELETE FROM events_default WHERE time >= %L AND time < %L RETURNING *) '
        'INSERT INTO %s.%I SELECT * FROM moved',
        first_moment, end_moment, schema_name, partition_name);
    EXECUTE format(
        'ALTER TABLE events ATTACH PARTITION %s.%I FOR VALUES FROM (%L) TO (%L)',
        schema_name, partition_name, first_moment, end_moment);
    RETURN 'made';
END;
$$;

COMMENT ON FUNCTION make_events_partition(date, bigint) IS
    'Makes the partition of a day''s month.';

-- Drops every partition whose whole month lies before a moment. Also deletes rows of events_default that were received
-- before it, since the phone's time says nothing about those. Returns the names of the dropped partitions.
CREATE FUNCTION drop_events_partitions(before timestamptz) RETURNS SETOF text
LANGUAGE plpgsql
SET lock_timeout = '5s'
AS $$
DECLARE
    partition record;
BEGIN
    LOCK TABLE ONLY events IN SHARE UPDATE EXCLUSIVE MODE;
    FOR partition IN
        SELECT pg_class.oid::regclass AS name, relname
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'events'::regclass
            AND CASE
                WHEN relname ~ '^events_\d{4,}_(0[1-9]|1[0-2])$' THEN (
                    make_date(split_part(relname, '_', 2)::integer, split_part(relname, '_', 3)::integer, 1)
                    + interval '1 month'
                ) AT TIME ZONE 'UTC' <= before
            END
        ORDER BY relname
    LOOP
        EXECUTE format('DROP TABLE %s', partition.name);
        RETURN NEXT partition.relname;
    END LOOP;
    DELETE FROM events_default WHERE received_at < before;
END;
$$;

-- The months that apps send now; the server and poi events maintain make later ones.
SELECT make_events_partition((now() AT TIME ZONE 'UTC' + month * interval '1 month')::date)
FROM generate_series(-1, 3) AS month;

-- Gives each role its rights, one by one: a table or function that isn't named here is nobody's but its owner's. PostgreSQL
-- checks rights to events at the table itself; nobody needs a right to a partition.
--
-- A later migration that makes what a role needs grants it, and replaces this function by one that does: it is called again
-- where the roles were made after the schema, and after a restore without privileges.
CREATE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- They read nothing: whoever writes a place has them called by its checks, and questions make points. The last one does
    -- nothing for who doesn't own the table of events.
    GRANT EXECUTE ON FUNCTION location_point(double precision, double precision), is_single_line(text, integer), is_http_url(text),
        is_properties(jsonb), are_names(jsonb, text[]), make_events_partition(date, bigint) TO PUBLIC;
    IF to_regrole('poi_serve') IS NOT NULL THEN
        GRANT SELECT ON categories, locations, datasets, filterable_properties, dataset, dataset_log, dataset_incarnation,
            schema_migrations TO poi_serve;
    END IF;
    IF to_regrole('poi_events') IS NOT NULL THEN
        GRANT INSERT, SELECT (id) ON events TO poi_events;
    END IF;
END;
$$;

COMMENT ON FUNCTION grant_roles() IS
    'Gives the roles poi_serve and poi_events their rights; for roles that were made after the schema, and after a restore without privileges.';

REVOKE EXECUTE ON FUNCTION drop_events_partitions(timestamptz), grant_roles() FROM PUBLIC;

SELECT grant_roles();

-- migrate:down

DROP FUNCTION grant_roles();
DROP TABLE events;
DROP FUNCTION drop_events_partitions(timestamptz);
DROP FUNCTION make_events_partition(date, bigint);
