-- migrate:up

-- Makes the partition of a day's month, in UTC, and says what has become of it: 'made', 'exists', or 'left': more
-- rows of the month than max_moved_rows lie in events_default, where they and those to come stay. A partition
-- can't be attached while the DEFAULT one has rows of its range, so those are moved, under a lock for which writers
-- to events_default alone have to wait.
--
-- Runs take turns, so that any number of servers may call it at once. Who calls it has to own the table.
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
    RETURN 'made';
END;
$$;

-- Drops every partition whose whole month lies before a moment, and removes what came before it and lies in
-- events_default, where the phone's time says nothing. Answers the dropped partitions' names.
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

-- The months that apps send now; the server and poi events maintain make those to come.
SELECT make_events_partition((now() AT TIME ZONE 'UTC' + month * interval '1 month')::date)
FROM generate_series(-1, 3) AS month;

-- migrate:down

DROP FUNCTION drop_events_partitions(timestamptz);
DROP FUNCTION make_events_partition(date, bigint);
