-- migrate:up

-- Lets the role poi_events add events and see their ids, and lets nobody else at them: the default
-- privileges of deploy/postgres/roles.sql would let poi_serve read them. What counts is what one may do with
-- events itself; nobody needs a right to a partition. roles.sql calls it too, where it comes later.
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

-- A partition is made with the default privileges, too.
ALTER FUNCTION make_events_partition(date, bigint) RENAME TO attach_events_partition;

CREATE FUNCTION make_events_partition(day date, max_moved_rows bigint DEFAULT 100000) RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    outcome text := attach_events_partition(day, max_moved_rows);
BEGIN
    IF outcome = 'made' THEN
        PERFORM grant_events();
    END IF;
    RETURN outcome;
END;
$$;

COMMENT ON FUNCTION make_events_partition(date, bigint) IS
    'Makes the partition of a day''s month by attach_events_partition, and gives nobody a right to it.';

SELECT grant_events();

-- migrate:down

DROP FUNCTION make_events_partition(date, bigint);
ALTER FUNCTION attach_events_partition(date, bigint) RENAME TO make_events_partition;
DROP FUNCTION grant_events();
