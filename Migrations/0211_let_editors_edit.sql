-- migrate:up

-- What the role poi_edit may call, and it may do nothing else: editing runs with the owner's rights, and each function says
-- whose name the history gets. Whoever has the role's password may use any name, but change no version.

-- A place for people: its members with what the source says below corrections, and what is known of it besides; or what is left
-- of a removed one. NULL for an id that no place ever had.
CREATE FUNCTION place_record(place_id bigint) RETURNS jsonb
LANGUAGE sql
STABLE
SECURITY DEFINER
AS $$
    SELECT coalesce(
        (SELECT jsonb_build_object(
                'id', id, 'version', version, 'updatedAt', to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                'members', place_members(locations), 'source', coalesce(source_values, '{}'))
            || jsonb_strip_nulls(jsonb_build_object(
                'dataset', source_dataset, 'sourceId', source_id, 'license', source_license, 'import', nullif(import_run, 0)))
        FROM locations WHERE id = place_id),
        (SELECT jsonb_strip_nulls(jsonb_build_object(
                'id', id, 'removed', name, 'isSuppressed', is_suppressed, 'mergedInto', merged_into,
                'dataset', source_dataset, 'sourceId', source_id))
        FROM removed_locations WHERE id = place_id))
$$;

-- What has changed a place, the newest first, a page at a time: who, the version before, and each member before and after, as
-- JSON. What the source says below a correction is a member of its own, "source of name".
CREATE FUNCTION place_changes(place_id bigint, before_change bigint, max_count integer)
RETURNS TABLE (change bigint, changed_at timestamptz, who text, version bigint, is_removal boolean, members jsonb)
LANGUAGE sql
STABLE
SECURITY DEFINER
AS $$
    WITH state AS (
        SELECT change, changed_at, operation, by_role, by_editor, by_import, version, version_place(location_versions) AS place
        FROM location_versions WHERE id = place_id
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, locations FROM locations WHERE id = place_id
    ), shown AS (
        SELECT *, place_members(place) || coalesce((
                SELECT jsonb_object_agg('source of ' || key, value) FROM jsonb_each((place).source_values)
                WHERE value <> 'null'), '{}') AS members
        FROM state
    ), step AS (
        SELECT *, lead(members) OVER (ORDER BY change NULLS LAST) AS next_members FROM shown
    )
    SELECT change, changed_at, CASE WHEN by_import IS NOT NULL THEN 'import ' || by_import
            WHEN by_editor IS NOT NULL THEN by_editor || ' (' || by_role || ')' ELSE by_role END,
        version, operation = 'delete', CASE WHEN operation = 'delete' THEN '{}' ELSE (
            SELECT coalesce(jsonb_object_agg(
                    key, jsonb_strip_nulls(jsonb_build_object('before', was.value, 'after', is_now.value))), '{}')
            FROM jsonb_each(step.members) AS was FULL JOIN jsonb_each(step.next_members) AS is_now USING (key)
            WHERE was.value IS DISTINCT FROM is_now.value) END
    FROM step WHERE change IS NOT NULL AND (before_change IS NULL OR change < before_change)
    ORDER BY change DESC LIMIT max_count
$$;

-- Makes a place of a dataset that people write, and returns its id.
CREATE FUNCTION create_place(members jsonb, dataset_name text, dataset_license text, editor text) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    place locations;
    missing text;
    new_id bigint;
BEGIN
    PERFORM sign_edit(editor);
    SELECT member INTO missing FROM unnest(ARRAY['name', 'category', 'position']) AS member
        WHERE coalesce(members -> member, 'null') = 'null' LIMIT 1;
    IF FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('a place has to have a %s', missing);
    END IF;
    place := with_members(jsonb_populate_record(NULL::locations, '{"featured": false, "importance": 0}'), members);
    INSERT INTO datasets (name, license) VALUES (dataset_name, dataset_license) ON CONFLICT DO NOTHING;
    INSERT INTO locations (name, category, latitude, longitude, featured, address, website, importance, names, other_names,
        properties, operating_status, source_dataset, source_id, source_license)
    VALUES (place.name, place.category, place.latitude, place.longitude, place.featured, place.address, place.website,
        place.importance, place.names, place.other_names, place.properties, place.operating_status, dataset_name,
        gen_random_uuid(), dataset_license)
    RETURNING id INTO new_id;
    RETURN new_id;
END;
$$;

DO $$
DECLARE
    signature regprocedure;
BEGIN
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'place_record', 'place_changes', 'create_place'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'create_place', 'correct_place', 'remove_place', 'restore_place', 'merge_places'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY DEFINER', signature);
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql
AS $$
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
    END IF;
    IF to_regrole('poi_events') IS NOT NULL THEN
        GRANT INSERT, SELECT (id) ON events TO poi_events;
    END IF;
    IF to_regrole('poi_edit') IS NOT NULL THEN
        GRANT EXECUTE ON FUNCTION place_record(bigint), place_changes(bigint, bigint, integer),
            create_place(jsonb, text, text, text), correct_place(bigint, jsonb, text[], bigint, text),
            remove_place(bigint, bigint, text), restore_place(bigint, bigint, bigint, text),
            merge_places(bigint, bigint, bigint, bigint, text) TO poi_edit;
    END IF;
END;
$$;

SELECT grant_roles();

-- migrate:down

CREATE OR REPLACE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql
AS $$
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
    END IF;
    IF to_regrole('poi_events') IS NOT NULL THEN
        GRANT INSERT, SELECT (id) ON events TO poi_events;
    END IF;
END;
$$;

DO $$
DECLARE
    signature regprocedure;
BEGIN
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'correct_place', 'remove_place', 'restore_place', 'merge_places'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s SECURITY INVOKER', signature);
        IF to_regrole('poi_edit') IS NOT NULL THEN
            EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM poi_edit', signature);
        END IF;
    END LOOP;
END;
$$;

DROP FUNCTION create_place(jsonb, text, text, text);
DROP FUNCTION place_changes(bigint, bigint, integer);
DROP FUNCTION place_record(bigint);
