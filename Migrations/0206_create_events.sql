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

-- Lets the role poi_events add events and see their ids, and takes every other right to them away: the default
-- privileges of deploy/postgres/roles.sql would let poi_serve read them. PostgreSQL checks rights to events itself;
-- nobody needs a right to a partition. roles.sql calls this too, for databases in which the roles are created after the
-- schema.
CREATE FUNCTION grant_events() RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    held record;
BEGIN
    FOR held IN
        SELECT DISTINCT tree.relid, entry.grantee
        FROM pg_partition_tree('events') AS tree
        JOIN pg_class ON pg_class.oid = tree.relid
        CROSS JOIN LATERAL aclexplode(pg_class.relacl) AS entry
        WHERE entry.grantee <> pg_class.relowner
            AND (tree.relid <> 'events'::regclass OR entry.grantee IS DISTINCT FROM to_regrole('poi_events'))
    LOOP
        EXECUTE format(
            'REVOKE ALL ON %s FROM %s', held.relid::regclass,
            CASE held.grantee WHEN 0 THEN 'PUBLIC' ELSE held.grantee::regrole::text END);
    END LOOP;
    IF to_regrole('poi_events') IS NOT NULL THEN
        GRANT INSERT, SELECT (id, time) ON events TO poi_events;
    END IF;
END;
$$;

COMMENT ON FUNCTION grant_events() IS
    'Takes events and their partitions back from whoever has rights to them, and lets the role poi_events add some.';

-- Makes the partition of a day's month, in UTC, and returns what was done: 'made', 'exists', or 'left'. 'left' means
-- that more than max_moved_rows rows of the month are in events_default already; these rows and later ones stay there.
-- A partition can't be attached while the DEFAULT one has rows of its range, so they are moved, under a lock for which
-- only writers to events_default have to wait.
--
-- Runs take turns, so any number of servers may call it at once. The caller has to own the table.
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
    PERFORM pg_advisory_xact_lock(hashtextextended('points-of-interest events partitions', 0));
    SELECT relnamespace::regnamespace::text INTO schema_name FROM pg_class WHERE oid = 'events'::regclass;
    PERFORM FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'events'::regclass AND relname = partition_name;
    IF FOUND THEN
        RETURN 'exists';
    END IF;
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
    -- The default privileges apply to a new table, too.
    PERFORM grant_events();
    RETURN 'made';
END;
$$;

COMMENT ON FUNCTION make_events_partition(date, bigint) IS
    'Makes the partition of a day''s month and gives nobody a right to it.';

-- Drops every partition whose whole month lies before a moment. Also deletes rows of events_default that were received
-- before it, since the phone's time says nothing about those. Returns the names of the dropped partitions.
CREATE FUNCTION drop_events_partitions(before timestamptz) RETURNS SETOF text
LANGUAGE plpgsql
SET lock_timeout = '5s'
AS $$
DECLARE
    partition record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('points-of-interest events partitions', 0));
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

-- The months that apps send now; the server and poi events maintain make later ones. This also takes the default
-- privileges to events and events_default away: see grant_events.
SELECT make_events_partition((now() AT TIME ZONE 'UTC' + month * interval '1 month')::date)
FROM generate_series(-1, 3) AS month;

-- migrate:down

DROP TABLE events;
DROP FUNCTION drop_events_partitions(timestamptz);
DROP FUNCTION make_events_partition(date, bigint);
DROP FUNCTION grant_events();
