-- migrate:up

-- What the role poi_edit may call, and it may do nothing else: editing runs with the owner's rights, and each function says
-- whose name the history gets. Whoever has the role's password may use any name, but change no version.

-- The order in which a place's versions ended. Their change is the transaction's, which may have got its number before it had to
-- wait for another one that changed the place; a version's step is counted while the place is locked.
ALTER TABLE location_versions ADD COLUMN step bigint;
UPDATE location_versions SET step = change;
ALTER TABLE location_versions ALTER COLUMN step SET NOT NULL, ALTER COLUMN step SET DEFAULT nextval('location_changes');

COMMENT ON COLUMN location_versions.step IS 'The order of a place''s versions.';

CREATE OR REPLACE FUNCTION members_by_hand(place locations) RETURNS text[]
LANGUAGE sql
STABLE
AS $$
    WITH version AS (
        SELECT step, operation = 'update' AND by_editor IS NULL AND by_import IS NULL AS is_by_hand, import_run,
            source_members(version_place(location_versions)) AS members
        FROM location_versions WHERE id = place.id
        UNION ALL SELECT NULL, NULL, place.import_run, source_members(place)
    ), change AS (
        SELECT step, is_by_hand, members, lead(members) OVER (ORDER BY step NULLS LAST) AS next_members FROM version
    ), written AS (
        SELECT DISTINCT ON (key) key, is_by_hand FROM change, jsonb_object_keys(members || next_members) AS key
        WHERE members -> key IS DISTINCT FROM next_members -> key ORDER BY key, step DESC
    )
    SELECT coalesce(array_agg(key), '{}') FROM (
        SELECT key FROM written WHERE is_by_hand
        UNION SELECT key FROM jsonb_object_keys(source_members(place)) AS key
            WHERE NOT EXISTS (SELECT FROM version WHERE import_run IS NOT NULL) AND key NOT IN (SELECT key FROM written)
    ) AS by_hand
$$;

-- As it was, but for what is later than the import's own change of a place.
DO $do$
DECLARE
    old text := pg_get_functiondef('revert_import(bigint)'::regprocedure);
    new text := regexp_replace(old,
        'since\.change > run\.change (AND since\.changed_at >= run\.started_at\s+ORDER BY) since\.change LIMIT 1;',
        'since.step > old.step \1 since.step LIMIT 1;');
BEGIN
    new := replace(regexp_replace(new, 'since\.change\M', 'since.step', 'g'), 'ORDER BY id, change DESC', 'ORDER BY id, step DESC');
    IF new NOT LIKE '%since.step > old.step%' OR new ~ 'since\.change\M' THEN
        RAISE 'revert_import is not as it was made';
    END IF;
    EXECUTE new;
END;
$do$;

-- These are called for each edit: of a function in PL/pgSQL a session keeps the plans, and makes those of one in SQL anew with each
-- call. They do what they did.

CREATE OR REPLACE FUNCTION place_members(place locations) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
SET extra_float_digits = 1
AS $$
DECLARE
    members jsonb := jsonb_build_object(
        'name', place.name, 'category', place.category, 'position', jsonb_build_array(place.latitude, place.longitude),
        'featured', place.featured, 'importance', place.importance)
    || jsonb_strip_nulls(jsonb_build_object(
        'address', place.address, 'website', place.website, 'other_names', to_jsonb(place.other_names),
        'operating_status', place.operating_status));
BEGIN
    IF place.names IS NOT NULL THEN
        members := members || (SELECT jsonb_object_agg('names.' || key, value) FROM jsonb_each(place.names));
    END IF;
    IF place.properties <> '{}' THEN
        members := members || (SELECT jsonb_object_agg('properties.' || key, value) FROM jsonb_each(place.properties));
    END IF;
    RETURN members;
END;
$$;

CREATE OR REPLACE FUNCTION source_members(place locations) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF place.source_values IS NULL THEN
        RETURN place_members(place);
    END IF;
    RETURN (place_members(place) || place.source_values)
        - ARRAY(SELECT key FROM jsonb_each(place.source_values) WHERE value = 'null');
END;
$$;

CREATE OR REPLACE FUNCTION changed_object(object jsonb, prefix text, changes jsonb) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN (
        SELECT jsonb_object_agg(key, value) FROM (
            SELECT key, value FROM jsonb_each(object) WHERE NOT changes ? (prefix || key)
            UNION ALL
            SELECT substr(key, char_length(prefix) + 1), value FROM jsonb_each(changes)
            WHERE starts_with(key, prefix) AND value <> 'null'
        ) AS member
    );
END;
$$;

CREATE OR REPLACE FUNCTION corrected_source_values(old_place locations, new_place locations) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
SECURITY DEFINER
AS $$
BEGIN
    -- A reset says itself what is left. Without a source there is nothing that a correction would lie above.
    IF new_place.source_values IS DISTINCT FROM old_place.source_values OR new_place.source_dataset IS NULL THEN
        RETURN new_place.source_values;
    END IF;
    RETURN (
        SELECT nullif(
            coalesce(jsonb_object_agg(key, coalesce(was.value, 'null')), '{}') || coalesce(old_place.source_values, '{}'), '{}')
        FROM jsonb_each(place_members(old_place)) AS was FULL JOIN jsonb_each(place_members(new_place)) AS is_now USING (key)
        WHERE was.value IS DISTINCT FROM is_now.value);
END;
$$;

CREATE OR REPLACE FUNCTION write_place(place locations) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    new_version bigint;
BEGIN
    UPDATE locations SET name = place.name, category = place.category, latitude = place.latitude, longitude = place.longitude,
        featured = place.featured, address = place.address, website = place.website, source_license = place.source_license,
        importance = place.importance, names = place.names, other_names = place.other_names, properties = place.properties,
        operating_status = place.operating_status, source_values = place.source_values, import_run = place.import_run
    WHERE id = place.id RETURNING version INTO new_version;
    RETURN new_version;
END;
$$;

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
CREATE FUNCTION place_changes(place_id bigint, before_step bigint, max_count integer)
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

-- Why a place that isn't there can't be edited or read: no_data_found, POI09 if it was merged (with the id of the survivor as its
-- detail), and POI10 if it was removed.
CREATE FUNCTION refuse_removed(place_id bigint) RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    removed removed_locations;
BEGIN
    SELECT * INTO removed FROM removed_locations WHERE id = place_id;
    IF NOT FOUND THEN
        RAISE no_data_found USING MESSAGE = format('there is no place %s', place_id);
    ELSIF removed.merged_into IS NULL THEN
        RAISE EXCEPTION USING ERRCODE = 'POI10', MESSAGE = format('place %s was removed', place_id);
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'POI09', DETAIL = removed.merged_into,
        MESSAGE = format('place %s was merged into %s', place_id, removed.merged_into);
END;
$$;

-- With another version than the expected ones: POI12, with the version as its detail. NULL expects none.
CREATE FUNCTION check_version(place_id bigint, current_version bigint, expected_versions bigint[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF current_version <> ALL (expected_versions) THEN
        RAISE EXCEPTION USING ERRCODE = 'POI12', DETAIL = current_version, MESSAGE = format(
            'place %s has changed: its version is %s, not %s', place_id, current_version, array_to_string(expected_versions, ' or '));
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION place_to_edit(place_id bigint, expected_version bigint) RETURNS locations
LANGUAGE plpgsql
AS $$
DECLARE
    place locations;
BEGIN
    SELECT * INTO place FROM locations WHERE id = place_id FOR UPDATE;
    IF NOT FOUND THEN
        PERFORM refuse_removed(place_id);
    END IF;
    PERFORM check_version(place_id, place.version, ARRAY[expected_version]);
    RETURN place;
END;
$$;

-- What the API calls members: two coordinates for a position, and its own names for two columns. A change of a position, which
-- has it before and after, becomes one of each coordinate.
CREATE FUNCTION api_members(members jsonb) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF members = '{}' THEN RETURN members; END IF;
    RETURN (SELECT coalesce(jsonb_object_agg(prefix || api_name, api_value), '{}')
    FROM jsonb_each(members) AS member (key, value),
        LATERAL (SELECT CASE WHEN starts_with(key, 'source of ') THEN 'source of ' ELSE '' END AS prefix) AS start,
        LATERAL (SELECT substr(key, char_length(prefix) + 1) AS name) AS rest,
        LATERAL (
            SELECT CASE name WHEN 'operating_status' THEN 'operatingStatus' WHEN 'other_names' THEN 'otherNames' ELSE name END
                AS api_name, value AS api_value
            WHERE name <> 'position'
            UNION ALL
            SELECT axis, CASE jsonb_typeof(value) WHEN 'array' THEN value -> (number - 1)::integer ELSE jsonb_strip_nulls(
                jsonb_build_object('before', value -> 'before' -> (number - 1)::integer, 'after', value -> 'after' -> (number - 1)::integer))
                END
            FROM unnest(ARRAY['latitude', 'longitude']) WITH ORDINALITY AS axes (axis, number)
            WHERE name = 'position' AND (jsonb_typeof(value) = 'array'
                OR value -> 'before' -> (number - 1)::integer IS DISTINCT FROM value -> 'after' -> (number - 1)::integer)
        ) AS api);
END;
$$;

-- A place's record, as editors get it by HTTP.
CREATE FUNCTION place_document(place locations) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
SET extra_float_digits = 1
AS $$
BEGIN
    RETURN jsonb_build_object(
        'id', place.id, 'version', place.version,
        'updatedAt', to_char(place.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        'name', place.name, 'category', place.category, 'latitude', place.latitude, 'longitude', place.longitude,
        'address', place.address, 'website', place.website, 'operatingStatus', place.operating_status,
        'featured', place.featured, 'importance', place.importance, 'names', coalesce(place.names, '{}'),
        'otherNames', coalesce(to_jsonb(place.other_names), '[]'), 'properties', coalesce(place.properties, '{}'),
        'source', CASE WHEN place.source_dataset IS NOT NULL THEN jsonb_build_object(
            'dataset', place.source_dataset, 'id', place.source_id, 'license', place.source_license) END,
        'sourceValues', api_members(coalesce(place.source_values, '{}')), 'import', nullif(place.import_run, 0));
END;
$$;

-- The record that a server sends, and the errors of place_to_edit.
CREATE FUNCTION read_place(place_id bigint) RETURNS TABLE (version bigint, document jsonb)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
AS $$
DECLARE
    place locations;
BEGIN
    SELECT * INTO place FROM locations WHERE id = place_id;
    IF NOT FOUND THEN
        PERFORM refuse_removed(place_id);
    END IF;
    RETURN QUERY SELECT place.version, place_document(place);
END;
$$;

-- JSON after a patch (RFC 7396, section 2).
CREATE FUNCTION merge_patch(target jsonb, patch jsonb) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF jsonb_typeof(patch) <> 'object' THEN
        RETURN patch;
    END IF;
    RETURN (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM (
        SELECT key, value FROM jsonb_each(CASE jsonb_typeof(target) WHEN 'object' THEN target ELSE '{}' END)
        WHERE NOT patch ? key
        UNION ALL
        SELECT key, merge_patch(target -> key, value) FROM jsonb_each(patch) WHERE value <> 'null'
    ) AS member);
END;
$$;

-- The members that a patch makes others of a place. A null of names or properties takes all of them away, one within a position
-- leaves the coordinate.
CREATE FUNCTION patched_members(place locations, patch jsonb) RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    members jsonb := place_members(place);
BEGIN
    RETURN (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM (
        SELECT key, CASE
            WHEN key = 'position' THEN jsonb_build_array(
                coalesce(nullif(value -> 0, 'null'), members -> 'position' -> 0),
                coalesce(nullif(value -> 1, 'null'), members -> 'position' -> 1))
            WHEN starts_with(key, 'properties.') THEN merge_patch(members -> key, value)
            WHEN key = 'featured' AND value = 'null' THEN 'false'
            WHEN key = 'importance' AND value = 'null' THEN '0'
            ELSE value END AS value
        FROM jsonb_each(patch) WHERE key NOT IN ('names', 'properties')
        UNION ALL
        SELECT key, 'null' FROM jsonb_object_keys(members) AS key
        WHERE patch ? split_part(key, '.', 1) AND key LIKE '%.%'
    ) AS wanted
    WHERE value IS DISTINCT FROM coalesce(members -> key, 'null'));
END;
$$;

-- What servers have edited by requests with a key, so that one that is sent again isn't done again.
CREATE TABLE edit_requests (
    editor text NOT NULL,
    key text NOT NULL,
    -- What the key stands for: a digest of the method, the path and the body.
    digest text NOT NULL,
    place_id bigint,
    version bigint,
    document jsonb,
    made_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (editor, key)
);

CREATE INDEX edit_requests_made_at_idx ON edit_requests (made_at);

COMMENT ON TABLE edit_requests IS 'Edits by HTTP that had an Idempotency-Key, for 24 hours.';

-- An edit by HTTP, in one statement. `arguments` have the members and resets of a place that is made or corrected, and the members
-- that nobody edits where they were sent; the version to restore; or the place to merge into. Returns the place's record
-- afterwards, NULLs for a removed one, and a revision that has the edit. A key that came before returns what it returned then;
-- with another request it is POI22. What of the arguments is wrong is the constraint's name.
CREATE FUNCTION edit_place(
    action text, place_id bigint, arguments jsonb, expected_versions bigint[], editor text, request_key text, request_digest text
) RETURNS TABLE (result_id bigint, result_version bigint, result jsonb, revision bigint)
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    known edit_requests;
    place locations;
    other_id bigint := arguments -> 'into';
    restored bigint := arguments -> 'version';
    others text[];
BEGIN
    IF request_key IS NOT NULL THEN
        DELETE FROM edit_requests WHERE ctid = ANY (ARRAY(
            SELECT ctid FROM edit_requests WHERE made_at < now() - interval '24 hours' ORDER BY made_at LIMIT 100
            FOR UPDATE SKIP LOCKED));
        INSERT INTO edit_requests AS request VALUES (edit_place.editor, request_key, request_digest) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            SELECT * INTO known FROM edit_requests AS request WHERE request.editor = edit_place.editor AND key = request_key;
            IF known.digest <> request_digest THEN
                RAISE EXCEPTION USING ERRCODE = 'POI22', MESSAGE = 'the key belongs to another request';
            END IF;
            RETURN QUERY SELECT known.place_id, known.version, known.document, max(log.revision) FROM dataset_log AS log;
            RETURN;
        END IF;
    END IF;
    result_id := place_id;
    CASE action
    WHEN 'create' THEN
        result_id := create_place(arguments -> 'members', arguments ->> 'dataset', arguments ->> 'license', editor);
    WHEN 'correct' THEN
        place := place_to_edit(place_id, NULL);
        PERFORM check_version(place_id, place.version, expected_versions);
        others := ARRAY(
            SELECT key FROM jsonb_each(arguments -> 'readOnly') WHERE value IS DISTINCT FROM place_document(place) -> key);
        IF others <> '{}' THEN
            RAISE invalid_parameter_value USING CONSTRAINT = 'readOnly', DETAIL = array_to_string(others, ','),
                MESSAGE = 'these members are not as in the record';
        END IF;
        PERFORM correct_place(place_id, patched_members(place, arguments -> 'members'), ARRAY(
            SELECT wanted FROM jsonb_array_elements_text(arguments -> 'resets') AS wanted
            WHERE EXISTS (SELECT FROM jsonb_object_keys(place.source_values) AS key
                WHERE key = wanted OR wanted = '*' OR starts_with(key, wanted || '.'))), NULL, editor);
    WHEN 'remove' THEN
        place := place_to_edit(place_id, NULL);
        PERFORM check_version(place_id, place.version, expected_versions);
        PERFORM remove_place(place_id, NULL, editor);
    WHEN 'restore' THEN
        -- Who comes second finds the place that the first has brought back.
        PERFORM FROM removed_locations WHERE id = place_id FOR UPDATE;
        IF FOUND THEN
            PERFORM check_version(place_id, old.version, expected_versions) FROM location_versions AS old
                WHERE old.id = place_id AND operation = 'delete' ORDER BY step DESC LIMIT 1;
        ELSE
            place := place_to_edit(place_id, NULL);
            PERFORM check_version(place_id, place.version, expected_versions);
        END IF;
        IF EXISTS (SELECT FROM location_versions WHERE id = place_id AND version = restored) THEN
            PERFORM restore_place(place_id, restored, NULL, editor);
        ELSIF place.version IS DISTINCT FROM restored THEN
            RAISE invalid_parameter_value USING CONSTRAINT = 'version', MESSAGE = 'the place has no such version';
        END IF;
    WHEN 'merge' THEN
        PERFORM FROM locations WHERE id IN (place_id, other_id) ORDER BY id FOR UPDATE;
        place := place_to_edit(place_id, NULL);
        PERFORM check_version(place_id, place.version, expected_versions);
        IF place_id = other_id OR NOT EXISTS (SELECT FROM locations WHERE id = other_id) THEN
            RAISE invalid_parameter_value USING CONSTRAINT = 'into', MESSAGE = 'there is no other place with this id';
        END IF;
        PERFORM merge_places(place_id, other_id, NULL, NULL, editor);
        result_id := other_id;
    END CASE;
    SELECT * INTO place FROM locations WHERE id = result_id;
    IF FOUND THEN
        result_version := place.version;
        result := place_document(place);
    END IF;
    IF request_key IS NOT NULL THEN
        UPDATE edit_requests AS request SET (place_id, version, document) = ROW (result_id, result_version, result)
            WHERE request.editor = edit_place.editor AND key = request_key;
    END IF;
    -- Numbers the revision now, not at the commit that follows.
    SET CONSTRAINTS ALL IMMEDIATE;
    SELECT max(log.revision) INTO revision FROM dataset_log AS log;
    RETURN NEXT;
END;
$$;

-- What has changed a place, as the API lists it; `position` is where the next page begins.
CREATE FUNCTION place_versions(place_id bigint, before_step bigint, max_count integer)
RETURNS TABLE ("position" bigint, document jsonb)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM locations WHERE id = place_id) AND NOT EXISTS (SELECT FROM removed_locations WHERE id = place_id) THEN
        PERFORM refuse_removed(place_id);
    END IF;
    RETURN QUERY SELECT step, jsonb_build_object(
            'version', version, 'changedAt', to_char(changed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'who', who,
            'isRemoval', is_removal, 'changes', api_members(members))
        FROM place_changes(place_id, before_step, max_count);
END;
$$;

-- For those that were merged into one place: a merge of that changes them, and servers read them then.
CREATE INDEX removed_locations_merged_into_idx ON removed_locations (merged_into) WHERE merged_into IS NOT NULL;

DO $$
DECLARE
    signature regprocedure;
BEGIN
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'place_record', 'place_changes', 'create_place', 'place_to_edit', 'refuse_removed', 'check_version', 'api_members',
            'members_by_hand', 'place_members', 'source_members', 'corrected_source_values', 'write_place', 'place_document', 'read_place', 'merge_patch',
            'patched_members', 'edit_place', 'place_versions'])
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
    IF to_regrole('poi_serve') IS NOT NULL THEN
        REVOKE SELECT (id, merged_into) ON removed_locations FROM poi_serve;
    END IF;
END;
$$;

DROP FUNCTION place_versions(bigint, bigint, integer);
DROP FUNCTION edit_place(text, bigint, jsonb, bigint[], text, text, text);
DROP TABLE edit_requests;
DROP FUNCTION patched_members(locations, jsonb);
DROP FUNCTION merge_patch(jsonb, jsonb);
DROP FUNCTION read_place(bigint);
DROP FUNCTION place_document(locations);
DROP FUNCTION api_members(jsonb);
DROP INDEX removed_locations_merged_into_idx;
DROP FUNCTION create_place(jsonb, text, text, text);
DROP FUNCTION place_changes(bigint, bigint, integer);
DROP FUNCTION place_record(bigint);

CREATE OR REPLACE FUNCTION place_to_edit(place_id bigint, expected_version bigint) RETURNS locations
LANGUAGE plpgsql
AS $$
DECLARE
    place locations;
BEGIN
    SELECT * INTO place FROM locations WHERE id = place_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE no_data_found USING MESSAGE = format('there is no place %s', place_id);
    ELSIF expected_version <> place.version THEN
        RAISE EXCEPTION USING ERRCODE = 'POI12',
            MESSAGE = format('place %s has changed: its version is %s, not %s', place_id, place.version, expected_version);
    END IF;
    RETURN place;
END;
$$;

DROP FUNCTION check_version(bigint, bigint, bigint[]);
DROP FUNCTION refuse_removed(bigint);

CREATE OR REPLACE FUNCTION members_by_hand(place locations) RETURNS text[]
LANGUAGE sql
STABLE
AS $$
    WITH version AS (
        SELECT change, operation = 'update' AND by_editor IS NULL AND by_import IS NULL AS is_by_hand, import_run,
            source_members(version_place(location_versions)) AS members
        FROM location_versions WHERE id = place.id
        UNION ALL SELECT NULL, NULL, place.import_run, source_members(place)
    ), step AS (
        SELECT change, is_by_hand, members, lead(members) OVER (ORDER BY change NULLS LAST) AS next_members FROM version
    ), written AS (
        SELECT DISTINCT ON (key) key, is_by_hand FROM step, jsonb_object_keys(members || next_members) AS key
        WHERE members -> key IS DISTINCT FROM next_members -> key ORDER BY key, change DESC
    )
    SELECT coalesce(array_agg(key), '{}') FROM (
        SELECT key FROM written WHERE is_by_hand
        UNION SELECT key FROM jsonb_object_keys(source_members(place)) AS key
            WHERE NOT EXISTS (SELECT FROM version WHERE import_run IS NOT NULL) AND key NOT IN (SELECT key FROM written)
    ) AS by_hand
$$;

DO $do$
DECLARE
    new text := pg_get_functiondef('revert_import(bigint)'::regprocedure);
BEGIN
    new := replace(replace(new, 'since.step > old.step', 'since.change > run.change'), 'since.step', 'since.change');
    EXECUTE replace(new, 'ORDER BY id, step DESC', 'ORDER BY id, change DESC');
    EXECUTE format('ALTER FUNCTION members_by_hand(locations) SET search_path = %I, pg_temp', current_schema());
END;
$do$;

ALTER TABLE location_versions DROP COLUMN step;
