-- migrate:up

-- The newest changes that people made, of all places or of those in a box.

-- Imports' versions are many more, and aren't in it.
CREATE INDEX location_versions_by_people_idx ON location_versions (step) WHERE by_import IS NULL;

-- As it was, but of a place with many versions it reads the members of a page's alone, and of the one behind it.
CREATE OR REPLACE FUNCTION place_changes(place_id bigint, before_step bigint, max_count integer)
RETURNS TABLE (step bigint, changed_at timestamptz, who text, version bigint, is_removal boolean, members jsonb)
LANGUAGE sql
STABLE
SECURITY DEFINER
AS $$
    WITH kept AS (
        (SELECT location_versions AS old FROM location_versions
            WHERE id = place_id AND (before_step IS NULL OR step < before_step) ORDER BY step DESC LIMIT max_count)
        UNION ALL
        (SELECT location_versions FROM location_versions WHERE id = place_id AND step >= before_step ORDER BY step LIMIT 1)
    ), state AS (
        SELECT (old).step, (old).changed_at, (old).operation, (old).by_role, (old).by_editor, (old).by_import, (old).version,
            version_place(old) AS place
        FROM kept
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, locations FROM locations WHERE id = place_id
    ), shown AS (
        SELECT *, place_members(place) || coalesce((
                SELECT jsonb_object_agg('source of ' || key, value) FROM jsonb_each((place).source_values)
                WHERE value <> 'null'), '{}') AS members
        FROM state
    ), change AS (
        SELECT *, lead(members) OVER (ORDER BY step NULLS LAST) AS next_members FROM shown
    )
    SELECT step, changed_at, CASE WHEN by_import IS NOT NULL THEN 'import ' || by_import
            WHEN by_editor IS NOT NULL THEN by_editor || ' (' || by_role || ')' ELSE by_role END,
        version, operation = 'delete', CASE WHEN operation = 'delete' THEN '{}' ELSE (
            SELECT coalesce(jsonb_object_agg(
                    key, jsonb_strip_nulls(jsonb_build_object('before', was.value, 'after', is_now.value))), '{}')
            FROM jsonb_each(change.members) AS was FULL JOIN jsonb_each(change.next_members) AS is_now USING (key)
            WHERE was.value IS DISTINCT FROM is_now.value) END
    FROM change WHERE step IS NOT NULL AND (before_step IS NULL OR step < before_step)
    ORDER BY step DESC LIMIT max_count
$$;

-- Whether a position is in a box, edges included. The box crosses the antimeridian if its west is greater than its east; -180 and
-- 180 are one meridian, and a pole has all of them.
CREATE FUNCTION is_in_box(
    latitude double precision, longitude double precision, west double precision, south double precision,
    east double precision, north double precision
) RETURNS boolean
LANGUAGE sql
IMMUTABLE
RETURN latitude BETWEEN south AND north AND (
    abs(latitude) = 90
    OR CASE WHEN west > east THEN longitude >= west OR longitude <= east ELSE longitude BETWEEN west AND east END
    OR abs(longitude) = 180
        AND CASE WHEN west > east THEN -longitude >= west OR -longitude <= east ELSE -longitude BETWEEN west AND east END);

-- The newest changes by people, as the API lists them: of places that were in a box before the change or are there now, or of all
-- where the box is NULL. It looks at 10,000 versions at most. The last row has no document where there may be older changes:
-- `position` is where the next page begins.
CREATE FUNCTION recent_changes(
    west double precision, south double precision, east double precision, north double precision, before_step bigint,
    max_count integer
) RETURNS TABLE ("position" bigint, document jsonb)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET extra_float_digits = 1
AS $$
DECLARE
    old location_versions;
    place locations;
    is_wanted boolean;
    seen_count integer := 0;
    item_count integer := 0;
BEGIN
    FOR old IN
        SELECT * FROM location_versions WHERE by_import IS NULL AND step < coalesce(before_step, 9223372036854775807)
        ORDER BY step DESC LIMIT 10001
    LOOP
        SELECT * INTO place FROM locations WHERE id = old.id;
        is_wanted := coalesce(west IS NULL OR is_in_box(old.latitude, old.longitude, west, south, east, north)
            OR is_in_box(place.latitude, place.longitude, west, south, east, north), false);
        IF seen_count = 10000 OR is_wanted AND item_count = max_count THEN
            document := NULL;
            RETURN NEXT;
            RETURN;
        END IF;
        seen_count := seen_count + 1;
        "position" := old.step;
        IF is_wanted THEN
            item_count := item_count + 1;
            document := (SELECT jsonb_build_object(
                    'id', old.id, 'name', coalesce(place.name, old.name), 'latitude', coalesce(place.latitude, old.latitude),
                    'longitude', coalesce(place.longitude, old.longitude), 'version', version,
                    'changedAt', to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'who', who,
                    'isRemoval', is_removal, 'changes', api_members(members))
                FROM place_changes(old.id, old.step + 1, 1));
            RETURN NEXT;
        END IF;
    END LOOP;
END;
$$;

DO $$
DECLARE
    signature regprocedure;
BEGIN
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
            AND proname = ANY (ARRAY['place_changes', 'recent_changes'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
    -- Without a search_path of its own it is inlined.
    REVOKE EXECUTE ON FUNCTION is_in_box FROM PUBLIC;
END;
$$;

CREATE OR REPLACE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    signature regprocedure;
BEGIN
    -- They read nothing: whoever writes a place has them called by its checks, and questions make points. The last one does
    -- nothing for who doesn't own the table of events.
    GRANT EXECUTE ON FUNCTION location_point(double precision, double precision), is_single_line(text, integer), is_http_url(text),
        is_properties(jsonb), are_names(jsonb, text[]), corrected_source_values(locations, locations),
        make_events_partition(date, bigint) TO PUBLIC;
    IF to_regrole('poi_serve') IS NOT NULL THEN
        -- For exports: what the source says below corrections.
        GRANT EXECUTE ON FUNCTION place_members(locations), with_members(locations, jsonb), changed_object(jsonb, text, jsonb)
            TO poi_serve;
        GRANT SELECT ON categories, locations, datasets, filterable_properties, dataset, dataset_log, dataset_incarnation,
            schema_migrations TO poi_serve;
        -- What became of removed places, and nothing else of them.
        GRANT SELECT (id, merged_into) ON removed_locations TO poi_serve;
    END IF;
    IF to_regrole('poi_events') IS NOT NULL THEN
        GRANT INSERT, SELECT (id) ON events TO poi_events;
    END IF;
    IF to_regrole('poi_edit') IS NOT NULL THEN
        FOR signature IN
            SELECT oid FROM pg_proc WHERE pg_function_is_visible(oid) AND proname = ANY (ARRAY[
                'place_record', 'place_changes', 'create_place', 'correct_place', 'remove_place', 'restore_place', 'merge_places',
                'read_place', 'edit_place', 'place_versions', 'store_place_report', 'place_reports_page', 'settle_place_report',
                'delete_place_report', 'recent_changes'])
        LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO poi_edit', signature);
        END LOOP;
    END IF;
END;
$$;

SELECT grant_roles();

-- migrate:down

CREATE OR REPLACE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    signature regprocedure;
BEGIN
    -- They read nothing: whoever writes a place has them called by its checks, and questions make points. The last one does
    -- nothing for who doesn't own the table of events.
    GRANT EXECUTE ON FUNCTION location_point(double precision, double precision), is_single_line(text, integer), is_http_url(text),
        is_properties(jsonb), are_names(jsonb, text[]), corrected_source_values(locations, locations),
        make_events_partition(date, bigint) TO PUBLIC;
    IF to_regrole('poi_serve') IS NOT NULL THEN
        -- For exports: what the source says below corrections.
        GRANT EXECUTE ON FUNCTION place_members(locations), with_members(locations, jsonb), changed_object(jsonb, text, jsonb)
            TO poi_serve;
        GRANT SELECT ON categories, locations, datasets, filterable_properties, dataset, dataset_log, dataset_incarnation,
            schema_migrations TO poi_serve;
        -- What became of removed places, and nothing else of them.
        GRANT SELECT (id, merged_into) ON removed_locations TO poi_serve;
    END IF;
    IF to_regrole('poi_events') IS NOT NULL THEN
        GRANT INSERT, SELECT (id) ON events TO poi_events;
    END IF;
    IF to_regrole('poi_edit') IS NOT NULL THEN
        -- Those of reports are made by the next migration.
        FOR signature IN
            SELECT oid FROM pg_proc WHERE pg_function_is_visible(oid) AND proname = ANY (ARRAY[
                'place_record', 'place_changes', 'create_place', 'correct_place', 'remove_place', 'restore_place', 'merge_places',
                'read_place', 'edit_place', 'place_versions', 'store_place_report', 'place_reports_page', 'settle_place_report',
                'delete_place_report'])
        LOOP
            EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO poi_edit', signature);
        END LOOP;
    END IF;
END;
$$;

DROP FUNCTION recent_changes(double precision, double precision, double precision, double precision, bigint, integer);
DROP FUNCTION is_in_box(
    double precision, double precision, double precision, double precision, double precision, double precision);

CREATE OR REPLACE FUNCTION place_changes(place_id bigint, before_step bigint, max_count integer)
RETURNS TABLE (step bigint, changed_at timestamptz, who text, version bigint, is_removal boolean, members jsonb)
LANGUAGE sql
STABLE
SECURITY DEFINER
AS $$
    WITH state AS (
        SELECT step, changed_at, operation, by_role, by_editor, by_import, version, version_place(location_versions) AS place
        FROM location_versions WHERE id = place_id
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, locations FROM locations WHERE id = place_id
    ), shown AS (
        SELECT *, place_members(place) || coalesce((
                SELECT jsonb_object_agg('source of ' || key, value) FROM jsonb_each((place).source_values)
                WHERE value <> 'null'), '{}') AS members
        FROM state
    ), change AS (
        SELECT *, lead(members) OVER (ORDER BY step NULLS LAST) AS next_members FROM shown
    )
    SELECT step, changed_at, CASE WHEN by_import IS NOT NULL THEN 'import ' || by_import
            WHEN by_editor IS NOT NULL THEN by_editor || ' (' || by_role || ')' ELSE by_role END,
        version, operation = 'delete', CASE WHEN operation = 'delete' THEN '{}' ELSE (
            SELECT coalesce(jsonb_object_agg(
                    key, jsonb_strip_nulls(jsonb_build_object('before', was.value, 'after', is_now.value))), '{}')
            FROM jsonb_each(change.members) AS was FULL JOIN jsonb_each(change.next_members) AS is_now USING (key)
            WHERE was.value IS DISTINCT FROM is_now.value) END
    FROM change WHERE step IS NOT NULL AND (before_step IS NULL OR step < before_step)
    ORDER BY step DESC LIMIT max_count
$$;

DO $$
BEGIN
    EXECUTE format(
        'ALTER FUNCTION place_changes(bigint, bigint, integer) SET search_path = %I, pg_temp', current_schema());
END;
$$;

DROP INDEX location_versions_by_people_idx;
