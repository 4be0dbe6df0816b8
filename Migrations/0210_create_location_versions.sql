-- migrate:up

-- Places live: what each was, who changed it, what its source says below a correction, and which ids removed places had.

ALTER TABLE locations
    ADD COLUMN operating_status text,
    -- By a member's name as place_members has it; NULL where nothing is corrected.
    ADD COLUMN source_values jsonb,
    -- Rows of before this migration were written by nobody who is known, but not by hand since.
    ADD COLUMN import_run bigint DEFAULT 0,
    ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now(),
    ADD CONSTRAINT locations_operating_status_is_known
        CHECK (operating_status IN ('temporarilyClosed', 'permanentlyClosed')),
    ADD CONSTRAINT locations_source_values_are_below_corrections
        CHECK (source_values IS NULL
            OR source_dataset IS NOT NULL AND jsonb_typeof(source_values) = 'object' AND source_values <> '{}');
ALTER TABLE locations ALTER COLUMN import_run DROP DEFAULT;

-- Random, not counted: a dump that is restored brings versions of then back, and what changes afterwards must not have a number
-- that it had before. 53 bits, so that every reader of JSON keeps it. The rows that are there have one in common, since a value
-- for each would write the table anew.
DO $$
BEGIN
    EXECUTE format('ALTER TABLE locations ADD COLUMN version bigint NOT NULL DEFAULT %s', floor(random() * 9007199254740992)::bigint);
END;
$$;
ALTER TABLE locations ALTER COLUMN version SET DEFAULT floor(random() * 9007199254740992)::bigint;

COMMENT ON COLUMN locations.operating_status IS
    'temporarilyClosed or permanentlyClosed; NULL where nothing is known of the place being closed. Permanently closed places are in no list.';
COMMENT ON COLUMN locations.source_values IS
    'What the source says of the members that a person has corrected; the columns have the corrections.';
COMMENT ON COLUMN locations.import_run IS
    'The import that wrote the row last; NULL after a change by hand that no editor signed.';
COMMENT ON COLUMN locations.version IS 'Another one after each change, never one of before.';
COMMENT ON COLUMN locations.updated_at IS 'When the row was written last.';

-- A place as its members: what is corrected, compared and taken back each by itself. The position is one member; names and
-- properties are one for each key, as names.de and properties.phone.
--
-- Numbers are written with all of their digits, whatever the session's setting is.
CREATE FUNCTION place_members(place locations) RETURNS jsonb
LANGUAGE sql
IMMUTABLE
SET extra_float_digits = 1
AS $$
    SELECT jsonb_build_object(
        'name', place.name, 'category', place.category,
        'position', jsonb_build_array(place.latitude, place.longitude),
        'featured', place.featured, 'importance', place.importance)
    || jsonb_strip_nulls(jsonb_build_object(
        'address', place.address, 'website', place.website, 'other_names', to_jsonb(place.other_names),
        'operating_status', place.operating_status))
    || coalesce((SELECT jsonb_object_agg('names.' || key, value) FROM jsonb_each(place.names)), '{}')
    || coalesce((SELECT jsonb_object_agg('properties.' || key, value) FROM jsonb_each(place.properties)), '{}')
$$;

-- What the source says: the members, with the source's values below corrections.
CREATE FUNCTION source_members(place locations) RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT (place_members(place) || coalesce(place.source_values, '{}'))
    - ARRAY(SELECT key FROM jsonb_each(place.source_values) WHERE value = 'null')
$$;

-- An object's members after some of them have changed; NULL for none. A JSON null takes a member away.
CREATE FUNCTION changed_object(object jsonb, prefix text, changes jsonb) RETURNS jsonb
LANGUAGE sql
IMMUTABLE
RETURN (
    SELECT jsonb_object_agg(key, value) FROM (
        SELECT key, value FROM jsonb_each(object) WHERE NOT changes ? (prefix || key)
        UNION ALL
        SELECT substr(key, char_length(prefix) + 1), value FROM jsonb_each(changes)
        WHERE starts_with(key, prefix) AND value <> 'null'
    ) AS member
);

-- The row after some of its members have got other values; a JSON null takes a value away. A name that isn't a member's is an
-- error.
CREATE FUNCTION with_members(place locations, changes jsonb) RETURNS locations
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    unknown text;
BEGIN
    SELECT key INTO unknown FROM jsonb_object_keys(changes) AS key
    WHERE key <> ALL (ARRAY['name', 'category', 'position', 'featured', 'importance', 'address', 'website', 'other_names',
            'operating_status'])
        AND key !~ '^(names|properties)\..'
    LIMIT 1;
    IF FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('places have no member %s', unknown);
    END IF;
    IF changes ? 'name' THEN place.name := changes ->> 'name'; END IF;
    IF changes ? 'category' THEN place.category := changes ->> 'category'; END IF;
    IF changes ? 'position' THEN
        place.latitude := changes -> 'position' ->> 0;
        place.longitude := changes -> 'position' ->> 1;
    END IF;
    IF changes ? 'featured' THEN place.featured := coalesce(changes ->> 'featured', 'false'); END IF;
    IF changes ? 'importance' THEN place.importance := coalesce(changes ->> 'importance', '0'); END IF;
    IF changes ? 'address' THEN place.address := changes ->> 'address'; END IF;
    IF changes ? 'website' THEN place.website := changes ->> 'website'; END IF;
    IF changes ? 'operating_status' THEN place.operating_status := changes ->> 'operating_status'; END IF;
    IF changes ? 'other_names' THEN
        place.other_names := CASE WHEN changes -> 'other_names' <> 'null'
            THEN ARRAY(SELECT jsonb_array_elements_text(changes -> 'other_names')) END;
    END IF;
    place.names := changed_object(place.names, 'names.', changes);
    place.properties := changed_object(place.properties, 'properties.', changes);
    RETURN place;
END;
$$;

-- Whether the columns would take a row's names and properties.
CREATE FUNCTION has_room(place locations) RETURNS boolean
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT is_properties(place.properties) IS NOT FALSE
    AND (place.names IS NULL AND place.other_names IS NULL OR are_names(place.names, place.other_names))
$$;

-- Whether a row could have these values, but for the category's name, which the vocabulary has to have.
CREATE FUNCTION are_members(changes jsonb) RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    place locations;
BEGIN
    place := with_members(place, changes);
    RETURN (NOT changes ? 'name' OR is_single_line(place.name, 200) IS TRUE)
        AND (NOT changes ? 'category' OR is_single_line(place.category, 50) IS TRUE)
        AND (NOT changes ? 'position'
            OR (place.latitude BETWEEN -90 AND 90 AND place.longitude BETWEEN -180 AND 180) IS TRUE)
        AND is_single_line(place.address, 300) IS NOT FALSE
        AND is_http_url(place.website) IS NOT FALSE
        AND (place.importance BETWEEN 0 AND 1000) IS NOT FALSE
        AND (place.operating_status IN ('temporarilyClosed', 'permanentlyClosed')) IS NOT FALSE
        AND has_room(place);
EXCEPTION WHEN OTHERS THEN
    RETURN false;
END;
$$;

-- The row after its source has got other values: a corrected member keeps its correction, and the source's value lies below.
-- Names and properties that would be too many together with the corrected ones stay as they are.
CREATE FUNCTION with_source_members(place locations, changes jsonb) RETURNS locations
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    changed locations := with_members(place, changes - ARRAY(SELECT jsonb_object_keys(place.source_values)));
BEGIN
    SELECT jsonb_object_agg(key, coalesce(changes -> key, value)) INTO changed.source_values
        FROM jsonb_each(place.source_values);
    IF NOT has_room(changed) THEN
        changed.properties := place.properties;
        changed.names := place.names;
        changed.other_names := place.other_names;
    END IF;
    RETURN changed;
END;
$$;

-- The row with corrections of members that aren't corrected yet, as a file has them.
CREATE FUNCTION with_corrections(place locations, corrections jsonb) RETURNS locations
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    source jsonb := source_members(place);
    added jsonb := coalesce(corrections, '{}') - ARRAY(SELECT jsonb_object_keys(place.source_values));
    changed locations := with_members(place, added);
BEGIN
    IF added = '{}' OR NOT has_room(changed) THEN
        RETURN place;
    END IF;
    SELECT jsonb_object_agg(key, coalesce(source -> key, 'null')) || coalesce(place.source_values, '{}')
        INTO changed.source_values FROM jsonb_object_keys(added) AS key;
    RETURN changed;
END;
$$;

-- A number for each transaction that writes places, which ties versions to a revision of dataset_log.
-- Its sequence is no identity's: that of an unlogged table would begin anew after a crash.
CREATE SEQUENCE location_changes;
ALTER TABLE dataset_changes ADD COLUMN change bigint NOT NULL DEFAULT nextval('location_changes');
ALTER TABLE dataset_log ADD COLUMN change bigint;

COMMENT ON COLUMN dataset_log.change IS 'As in location_versions.';

CREATE OR REPLACE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET random_page_cost = 0
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
    INSERT INTO dataset_log (place_ids, change) VALUES (ids, NEW.change) RETURNING revision, id INTO new_revision, new_id;
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

-- What the source says below the members that an editor's update has changed, and below those that were corrected before.
CREATE FUNCTION corrected_source_values(old_place locations, new_place locations) RETURNS jsonb
LANGUAGE sql
IMMUTABLE
SECURITY DEFINER
AS $$
    SELECT CASE
    -- A reset says itself what is left. Without a source there is nothing that a correction would lie above.
    WHEN new_place.source_values IS DISTINCT FROM old_place.source_values OR new_place.source_dataset IS NULL
    THEN new_place.source_values
    ELSE (
        SELECT nullif(
            coalesce(jsonb_object_agg(key, coalesce(was.value, 'null')), '{}') || coalesce(old_place.source_values, '{}'), '{}')
        FROM jsonb_each(place_members(old_place)) AS was FULL JOIN jsonb_each(place_members(new_place)) AS is_now USING (key)
        WHERE was.value IS DISTINCT FROM is_now.value
    )
END
$$;

-- What a place was before a change: a row for each place and each update or removal, in a partition a month. Its columns are
-- those of locations, and a migration that adds a column there adds it here.
CREATE TABLE location_versions (
    change bigint NOT NULL,
    changed_at timestamptz NOT NULL,
    operation text NOT NULL,
    -- Who changed it: the session's role, and an editor or an import where one said so.
    by_role text NOT NULL,
    by_editor text,
    by_import bigint,
    id bigint NOT NULL,
    name text NOT NULL,
    category text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    featured boolean NOT NULL,
    address text,
    website text,
    source_dataset text,
    source_id text,
    source_license text,
    importance smallint NOT NULL,
    names jsonb,
    other_names text[],
    properties jsonb,
    operating_status text,
    source_values jsonb,
    import_run bigint,
    version bigint NOT NULL,
    updated_at timestamptz NOT NULL,

    CONSTRAINT location_versions_operation_is_known CHECK (operation IN ('update', 'delete')),
    CONSTRAINT location_versions_editor_is_single_line CHECK (is_single_line(by_editor, 100))
) PARTITION BY RANGE (changed_at);

CREATE INDEX location_versions_id_idx ON location_versions (id, change);
CREATE TABLE location_versions_default PARTITION OF location_versions DEFAULT;

COMMENT ON TABLE location_versions IS
    'Places as they were before each update and removal. poi history maintain makes partitions and drops those that are too old; TRUNCATE leaves no version.';
COMMENT ON COLUMN location_versions.change IS 'A number for each transaction; dataset_log has its revision.';
COMMENT ON COLUMN location_versions.by_role IS 'The role of the session that changed it.';
COMMENT ON COLUMN location_versions.by_editor IS 'The editor that the session named by SET poi.editor.';
COMMENT ON COLUMN location_versions.by_import IS 'The import, or the taking back of one, that changed it; see import_runs.';

-- The ids of removed places, which come back with what comes back; for ever.
CREATE TABLE removed_locations (
    id bigint PRIMARY KEY,
    source_dataset text,
    source_id text,
    name text NOT NULL,
    category text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    change bigint NOT NULL,
    is_suppressed boolean NOT NULL,
    merged_into bigint,
    corrections jsonb
);

CREATE INDEX removed_locations_source_idx ON removed_locations (source_dataset, source_id);

COMMENT ON TABLE removed_locations IS
    'Ids of removed places. What an import brings back of the same dataset and source id has its old one.';
COMMENT ON COLUMN removed_locations.is_suppressed IS 'Whether an editor removed it: then no import brings it back.';
COMMENT ON COLUMN removed_locations.corrections IS
    'What people had corrected it to, by members: it comes back with that.';
COMMENT ON COLUMN removed_locations.merged_into IS 'The place that it is the same as.';

-- What was imported, by which files and options, and what that did. A later import of the dataset takes the options of the
-- last one that wasn't taken back.
CREATE TABLE import_runs (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    dataset text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    by_role text NOT NULL DEFAULT session_user,
    -- As in location_versions; NULL where nothing was changed.
    change bigint,
    files text[] NOT NULL DEFAULT '{}',
    options jsonb NOT NULL DEFAULT '{}',
    counts jsonb NOT NULL DEFAULT '{}',
    -- The row of the table datasets before and after, NULL where there was none.
    dataset_before jsonb,
    dataset_after jsonb,
    -- The import that this took back.
    reverts bigint,
    reverted_at timestamptz
);

CREATE INDEX import_runs_dataset_idx ON import_runs (dataset, id);

COMMENT ON TABLE import_runs IS 'The imports, and the takings back of imports; poi imports shows them.';

-- Called for each row and each statement: setting search_path takes 10,000 instructions a call, so they name the schema of what
-- they use, and that of operators.
DO $do$
BEGIN
    EXECUTE replace($format$
-- Marks what an update of a place is: another version, and where a person signed it (SET poi.editor = 'name'), corrections of
-- the members that it changes. An import says itself of which run a row is (poi.import_run).
CREATE FUNCTION mark_place_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT (
        OLD.name, OLD.category, OLD.latitude, OLD.longitude, OLD.address, OLD.website, OLD.featured, OLD.importance,
        OLD.properties, OLD.names, OLD.other_names, OLD.operating_status, OLD.source_values, OLD.id, OLD.source_dataset,
        OLD.source_id, OLD.source_license
    ) IS DISTINCT FROM (
        NEW.name, NEW.category, NEW.latitude, NEW.longitude, NEW.address, NEW.website, NEW.featured, NEW.importance,
        NEW.properties, NEW.names, NEW.other_names, NEW.operating_status, NEW.source_values, NEW.id, NEW.source_dataset,
        NEW.source_id, NEW.source_license)
    THEN
        NEW.version := OLD.version;
        NEW.updated_at := OLD.updated_at;
        RETURN NEW;
    END IF;
    NEW.version := pg_catalog.floor(pg_catalog.random() OPERATOR(pg_catalog.*) 9007199254740992);
    NEW.updated_at := pg_catalog.now();
    IF pg_catalog.current_setting('poi.import_run', true) OPERATOR(pg_catalog.<>) '' THEN
        RETURN NEW;
    ELSIF pg_catalog.current_setting('poi.editor', true) OPERATOR(pg_catalog.<>) '' THEN
        NEW.source_values := HOME.corrected_source_values(OLD, NEW);
    ELSE
        NEW.import_run := NULL;
    END IF;
    RETURN NEW;
END;
$$;

CREATE FUNCTION record_updated_versions() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    run text := pg_catalog.current_setting('poi.import_run', true);
    editor text := pg_catalog.current_setting('poi.editor', true);
    this_change bigint := (SELECT change FROM HOME.dataset_changes
        WHERE transaction_id OPERATOR(pg_catalog.=) pg_catalog.pg_current_xact_id());
BEGIN
    run := CASE WHEN run OPERATOR(pg_catalog.<>) '' THEN run END;
    editor := CASE WHEN run IS NULL AND editor OPERATOR(pg_catalog.<>) '' THEN editor END;
    -- A full join can't become a nested loop, whatever size PostgreSQL expects.
    INSERT INTO HOME.location_versions (change, changed_at, operation, by_role, by_editor, by_import, id, name, category,
        latitude, longitude, featured, address, website, source_dataset, source_id, source_license, importance, names,
        other_names, properties, operating_status, source_values, import_run, version, updated_at)
        SELECT this_change, pg_catalog.now(), 'update', session_user, editor, run::bigint, old_locations.id,
            old_locations.name, old_locations.category, old_locations.latitude, old_locations.longitude,
            old_locations.featured, old_locations.address, old_locations.website, old_locations.source_dataset,
            old_locations.source_id, old_locations.source_license, old_locations.importance, old_locations.names,
            old_locations.other_names, old_locations.properties, old_locations.operating_status,
            old_locations.source_values, old_locations.import_run, old_locations.version, old_locations.updated_at
        FROM old_locations FULL JOIN new_locations ON new_locations.id OPERATOR(pg_catalog.=) old_locations.id
        WHERE old_locations.id IS NOT NULL AND (new_locations.version OPERATOR(pg_catalog.=) old_locations.version) IS NOT TRUE;
    RETURN NULL;
END;
$$;

CREATE FUNCTION record_removed_versions() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    run text := pg_catalog.current_setting('poi.import_run', true);
    editor text := pg_catalog.current_setting('poi.editor', true);
    this_change bigint := (SELECT change FROM HOME.dataset_changes
        WHERE transaction_id OPERATOR(pg_catalog.=) pg_catalog.pg_current_xact_id());
BEGIN
    run := CASE WHEN run OPERATOR(pg_catalog.<>) '' THEN run END;
    editor := CASE WHEN run IS NULL AND editor OPERATOR(pg_catalog.<>) '' THEN editor END;
    INSERT INTO HOME.location_versions (change, changed_at, operation, by_role, by_editor, by_import, id, name, category,
        latitude, longitude, featured, address, website, source_dataset, source_id, source_license, importance, names,
        other_names, properties, operating_status, source_values, import_run, version, updated_at)
        SELECT this_change, pg_catalog.now(), 'delete', session_user, editor, run::bigint, old_locations.id,
            old_locations.name, old_locations.category, old_locations.latitude, old_locations.longitude,
            old_locations.featured, old_locations.address, old_locations.website, old_locations.source_dataset,
            old_locations.source_id, old_locations.source_license, old_locations.importance, old_locations.names,
            old_locations.other_names, old_locations.properties, old_locations.operating_status,
            old_locations.source_values, old_locations.import_run, old_locations.version, old_locations.updated_at
        FROM old_locations;
    INSERT INTO HOME.removed_locations
            (id, source_dataset, source_id, name, category, latitude, longitude, change, is_suppressed)
        SELECT id, source_dataset, source_id, name, category, latitude, longitude, this_change,
            editor IS NOT NULL AND source_dataset IS NOT NULL
        FROM old_locations
        ON CONFLICT (id) DO UPDATE SET source_dataset = excluded.source_dataset, source_id = excluded.source_id,
            name = excluded.name, category = excluded.category, latitude = excluded.latitude, longitude = excluded.longitude,
            change = excluded.change, is_suppressed = excluded.is_suppressed, merged_into = NULL,
            corrections = NULL;
    IF EXISTS (SELECT FROM old_locations WHERE source_values IS NOT NULL) THEN
        PERFORM HOME.keep_corrections(this_change);
    END IF;
    RETURN NULL;
END;
$$;
$format$, 'HOME', quote_ident(current_schema()));
END;
$do$;

CREATE TRIGGER locations_mark_change BEFORE UPDATE ON locations
    FOR EACH ROW EXECUTE FUNCTION mark_place_change();

-- Behind those that mark the transaction (locations_record_updated, locations_record_deleted): triggers run in the order of
-- their names.
CREATE TRIGGER locations_record_updated_versions AFTER UPDATE ON locations
    REFERENCING OLD TABLE AS old_locations NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION record_updated_versions();

CREATE TRIGGER locations_record_versions AFTER DELETE ON locations
    REFERENCING OLD TABLE AS old_locations
    FOR EACH STATEMENT EXECUTE FUNCTION record_removed_versions();

-- A removed place may come back with its id, and nothing else with it. Ids that were given since are larger than that of any
-- place that was removed before, so an insert of new places looks nothing up.
CREATE OR REPLACE FUNCTION refuse_chosen_ids() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    min_id bigint;
    max_id bigint;
    last_id bigint;
    taken bigint;
BEGIN
    SELECT min(id), max(id), (SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM locations_id_seq)
        INTO min_id, max_id, last_id FROM new_locations;
    IF max_id > last_id THEN
        RAISE EXCEPTION 'the id % of a place was not generated', max_id
            USING ERRCODE = 'generated_always',
                  DETAIL = format('The sequence locations_id_seq has given ids up to %s.', last_id),
                  HINT = 'Leave id out of the list of columns. To bring places back with their ids, first raise the sequence with setval.';
    END IF;
    IF min_id <= (SELECT max(id) FROM removed_locations) THEN
        SELECT removed.id INTO taken FROM removed_locations AS removed JOIN new_locations AS added USING (id)
            WHERE (removed.source_dataset, removed.source_id) IS DISTINCT FROM (added.source_dataset, added.source_id) LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'the id % is that of a removed place', taken
                USING ERRCODE = 'generated_always', HINT = 'Leave id out of the list of columns.';
        END IF;
        DELETE FROM removed_locations WHERE id IN (SELECT id FROM new_locations);
    END IF;
    RETURN NULL;
END;
$$;

-- Makes the partitions of this month and the next, in UTC, and drops those whose whole month lies before a moment, with what
-- the DEFAULT partition has of that time. Returns a line about each.
--
-- Runs take turns by a lock of the table, for which neither readers nor writers wait.
CREATE FUNCTION maintain_location_versions(before timestamptz) RETURNS SETOF text
LANGUAGE plpgsql
SET lock_timeout = '5s'
AS $$
DECLARE
    home text := current_schema();
    month timestamp;
    partition_name text;
    dropped record;
BEGIN
    LOCK TABLE ONLY location_versions IN SHARE UPDATE EXCLUSIVE MODE;
    FOR month IN
        SELECT date_trunc('month', now() AT TIME ZONE 'UTC') + number * interval '1 month' FROM generate_series(0, 1) AS number
    LOOP
        partition_name := 'location_versions_' || to_char(month, 'YYYY_MM');
        CONTINUE WHEN to_regclass(format('%I.%I', home, partition_name)) IS NOT NULL;
        -- Attaching locks out nobody but who writes into the DEFAULT partition, from which the month's rows are moved.
        EXECUTE format('CREATE TABLE %I.%I (LIKE location_versions INCLUDING ALL)', home, partition_name);
        LOCK TABLE location_versions_default IN ACCESS EXCLUSIVE MODE;
        EXECUTE format(
            'WITH moved AS (DELETE FROM location_versions_default WHERE changed_at >= %1$L AND changed_at < %2$L RETURNING *) '
            'INSERT INTO %3$I.%4$I SELECT * FROM moved',
            month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC', home, partition_name);
        EXECUTE format(
            'ALTER TABLE location_versions ATTACH PARTITION %I.%I FOR VALUES FROM (%L) TO (%L)',
            home, partition_name, month AT TIME ZONE 'UTC', (month + interval '1 month') AT TIME ZONE 'UTC');
        RETURN NEXT partition_name || ': made';
    END LOOP;
    FOR dropped IN
        SELECT pg_class.oid::regclass AS name, relname
        FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
        WHERE inhparent = 'location_versions'::regclass
            AND CASE WHEN relname ~ '^location_versions_\d{4,}_(0[1-9]|1[0-2])$' THEN (
                make_date(split_part(relname, '_', 3)::integer, split_part(relname, '_', 4)::integer, 1) + interval '1 month'
            ) AT TIME ZONE 'UTC' <= before END
        ORDER BY relname
    LOOP
        EXECUTE format('DROP TABLE %s', dropped.name);
        RETURN NEXT dropped.relname || ': dropped';
    END LOOP;
    DELETE FROM location_versions_default WHERE changed_at < before;
END;
$$;

-- Removes the versions of a place, for instance since somebody's name was in one; its id stays taken.
CREATE FUNCTION forget_location_versions(place_id bigint) RETURNS bigint
LANGUAGE sql
AS $$
    WITH forgotten AS (DELETE FROM location_versions WHERE id = place_id RETURNING 1) SELECT count(*) FROM forgotten;
$$;

-- Editing: what a person does, whose name each call has. A place that isn't there is no_data_found, another version than the
-- expected one POI12; NULL expects none. Each returns the place's version afterwards.

CREATE FUNCTION place_to_edit(place_id bigint, expected_version bigint) RETURNS locations
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

CREATE FUNCTION write_place(place locations) RETURNS bigint
LANGUAGE sql
AS $$
    UPDATE locations SET name = place.name, category = place.category, latitude = place.latitude, longitude = place.longitude,
        featured = place.featured, address = place.address, website = place.website, source_license = place.source_license,
        importance = place.importance, names = place.names, other_names = place.other_names, properties = place.properties,
        operating_status = place.operating_status, source_values = place.source_values, import_run = place.import_run
    WHERE id = place.id RETURNING version;
$$;

-- Brings a removed place back with its id. Its version is another one.
CREATE FUNCTION bring_back_place(place locations) RETURNS bigint
LANGUAGE sql
AS $$
    INSERT INTO locations (id, name, category, latitude, longitude, featured, address, website, source_dataset, source_id,
        source_license, importance, names, other_names, properties, operating_status, source_values, import_run)
    OVERRIDING SYSTEM VALUE
    VALUES (place.id, place.name, place.category, place.latitude, place.longitude, place.featured, place.address, place.website,
        place.source_dataset, place.source_id, place.source_license, place.importance, place.names, place.other_names,
        place.properties, place.operating_status, place.source_values, place.import_run)
    RETURNING version;
$$;

CREATE FUNCTION version_place(version location_versions) RETURNS locations
LANGUAGE sql
STABLE
SET extra_float_digits = 1
AS $$
    SELECT jsonb_populate_record(NULL::locations, to_jsonb(version))
$$;

-- Notes what the places that a change removes were corrected to.
CREATE FUNCTION keep_corrections(this_change bigint) RETURNS void
LANGUAGE sql
SECURITY DEFINER
AS $$
    UPDATE removed_locations AS removed SET corrections = (
            SELECT jsonb_object_agg(key, coalesce(place_members(version_place(old)) -> key, 'null'))
            FROM jsonb_object_keys(old.source_values) AS key)
        FROM location_versions AS old
        WHERE removed.change = this_change AND old.id = removed.id AND old.change = this_change
            AND old.changed_at = now() AND old.operation = 'delete' AND old.source_values IS NOT NULL
$$;

-- The members of a place's source that somebody has changed without a signature since an import or an editor wrote them; of a
-- place that was inserted so all that nobody has written since.
CREATE FUNCTION members_by_hand(place locations) RETURNS text[]
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

CREATE FUNCTION sign_edit(editor text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF is_single_line(editor, 100) IS NOT TRUE THEN
        RAISE invalid_parameter_value USING MESSAGE = 'an editor''s name is a line of at most 100 characters';
    END IF;
    PERFORM set_config('poi.editor', editor, true), set_config('poi.import_run', '', true);
END;
$$;

-- Corrects members, and takes corrections of others back: `names` and `properties` are all that begin so, `*` is all. A JSON null
-- takes a value away. A place without a source is changed.
CREATE FUNCTION correct_place(place_id bigint, changes jsonb, resets text[], expected_version bigint, editor text) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    place locations;
    source jsonb;
    reset jsonb;
    missing text;
BEGIN
    PERFORM sign_edit(editor);
    place := place_to_edit(place_id, expected_version);
    source := source_members(place);
    SELECT key INTO missing FROM jsonb_each(changes) WHERE value = 'null' AND key IN ('name', 'category', 'position');
    IF FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('a place has to have a %s', missing);
    END IF;
    SELECT wanted INTO missing FROM unnest(resets) AS wanted
        WHERE NOT EXISTS (
            SELECT FROM jsonb_object_keys(place.source_values) AS key
            WHERE key = wanted OR wanted = '*' OR starts_with(key, wanted || '.'))
        LIMIT 1;
    IF FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('%s of place %s isn''t corrected', missing, place_id);
    END IF;
    SELECT coalesce(jsonb_object_agg(key, value), '{}') INTO reset FROM jsonb_each(place.source_values)
        WHERE EXISTS (SELECT FROM unnest(resets) AS wanted WHERE key = wanted OR wanted = '*' OR starts_with(key, wanted || '.'));
    place := with_members(place, reset || changes);
    IF place.source_dataset IS NOT NULL THEN
        SELECT nullif(coalesce(place.source_values, '{}') - ARRAY(SELECT jsonb_object_keys(reset))
                || coalesce(jsonb_object_agg(key, coalesce(source -> key, 'null')), '{}'), '{}')
            INTO place.source_values FROM jsonb_object_keys(changes) AS key;
    END IF;
    RETURN write_place(place);
END;
$$;

-- Removes a place; an import doesn't bring it back.
CREATE FUNCTION remove_place(place_id bigint, expected_version bigint, editor text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM sign_edit(editor);
    PERFORM place_to_edit(place_id, expected_version);
    DELETE FROM locations WHERE id = place_id;
END;
$$;

-- Shows what a place was in one of its versions, whatever its source says since; a removed place comes back.
CREATE FUNCTION restore_place(place_id bigint, to_version bigint, expected_version bigint, editor text) RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    was locations;
    place locations;
    shown jsonb;
    source jsonb;
BEGIN
    PERFORM sign_edit(editor);
    SELECT (version_place(location_versions)).* INTO was FROM location_versions
        WHERE id = place_id AND version = to_version ORDER BY change DESC LIMIT 1;
    IF NOT FOUND THEN
        RAISE no_data_found USING MESSAGE = format('place %s has no version %s', place_id, to_version);
    END IF;
    IF NOT EXISTS (SELECT FROM locations WHERE id = place_id) THEN
        RETURN bring_back_place(was);
    END IF;
    place := place_to_edit(place_id, expected_version);
    shown := place_members(was);
    source := source_members(place);
    place := with_members(place, (
        SELECT jsonb_object_agg(key, coalesce(shown -> key, 'null')) FROM jsonb_object_keys(place_members(place) || shown) AS key));
    IF place.source_dataset IS NOT NULL THEN
        SELECT jsonb_object_agg(key, coalesce(source -> key, 'null')) INTO place.source_values
            FROM jsonb_object_keys(source || shown || coalesce(was.source_values, '{}')) AS key
            WHERE was.source_values ? key OR shown -> key IS DISTINCT FROM source -> key;
    END IF;
    RETURN write_place(place);
END;
$$;

-- Removes a place that is the same as another one, which gets what it lacks: address, website, names and properties, and the
-- removed one's name to be found by. Returns the version of that one.
CREATE FUNCTION merge_places(place_id bigint, into_id bigint, expected_version bigint, expected_into bigint, editor text)
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    place locations;
    survivor locations;
    has jsonb;
    changes jsonb;
    added text[];
    new_version bigint;
BEGIN
    IF place_id = into_id THEN
        RAISE invalid_parameter_value USING MESSAGE = 'a place can''t be merged into itself';
    END IF;
    PERFORM sign_edit(editor);
    -- In one order, so that two merges don't wait for each other.
    PERFORM FROM locations WHERE id IN (place_id, into_id) ORDER BY id FOR UPDATE;
    place := place_to_edit(place_id, expected_version);
    survivor := place_to_edit(into_id, expected_into);
    has := place_members(survivor);
    SELECT coalesce(jsonb_object_agg(key, value), '{}') INTO changes FROM jsonb_each(place_members(place))
        WHERE NOT has ? key AND (key IN ('address', 'website') OR key ~ '^(names|properties)\.');
    added := ARRAY(
        SELECT DISTINCT name FROM unnest(place.name || coalesce(place.other_names, '{}')) AS name
        WHERE lower(name) <> ALL (
                SELECT lower(value #>> '{}') FROM jsonb_each(has || changes) WHERE key = 'name' OR starts_with(key, 'names.'))
            AND lower(name) <> ALL (SELECT lower(other) FROM unnest(survivor.other_names) AS other));
    IF cardinality(added) > 0 THEN
        changes := changes || jsonb_build_object('other_names', coalesce(survivor.other_names, '{}') || added);
    END IF;
    new_version := correct_place(into_id, changes, '{}', NULL, editor);
    DELETE FROM locations WHERE id = place_id;
    UPDATE removed_locations SET merged_into = into_id WHERE id = place_id OR merged_into = place_id;
    RETURN new_version;
END;
$$;

-- Takes back what an import has changed, removed and added, and returns what stays since it has changed afterwards: the place,
-- why, and which members, or none where the place as a whole stays. A later import of the dataset has to go first.
CREATE FUNCTION revert_import(run_id bigint) RETURNS TABLE (kept_id bigint, kept_name text, reason text, members text[])
LANGUAGE plpgsql
AS $$
DECLARE
    run import_runs;
    own_id bigint;
    later bigint;
    old location_versions;
    next location_versions;
    was locations;
    became locations;
    place locations;
    source_before jsonb;
    source_after jsonb;
    source_now jsonb;
    changes jsonb;
    dataset_now jsonb;
    found_count bigint := 0;
    changed_count bigint := 0;
    returned_count bigint := 0;
    removed_count bigint := 0;
BEGIN
    SELECT * INTO run FROM import_runs WHERE id = run_id FOR UPDATE;
    IF NOT FOUND THEN
        RAISE no_data_found USING MESSAGE = format('there is no import %s', run_id);
    ELSIF run.reverts IS NOT NULL THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('%s has taken import %s back; import the files again instead', run_id, run.reverts);
    ELSIF run.reverted_at IS NOT NULL THEN
        RAISE invalid_parameter_value USING MESSAGE = format('import %s was reverted before', run_id);
    END IF;
    SELECT id INTO later FROM import_runs
        WHERE dataset = run.dataset AND id > run_id AND change IS NOT NULL AND reverts IS NULL AND reverted_at IS NULL
        ORDER BY id DESC LIMIT 1;
    IF FOUND THEN
        RAISE invalid_parameter_value USING MESSAGE = format('import %s of %s is later: revert that first', later, run.dataset);
    END IF;
    INSERT INTO import_runs (dataset, reverts) VALUES (run.dataset, run_id) RETURNING id INTO own_id;
    PERFORM set_config('poi.import_run', own_id::text, true);

    -- What it added: rows of the run that it didn't find there. What isn't as it was then was changed since.
    CREATE TEMPORARY TABLE added_places ON COMMIT DROP AS
        SELECT id, name, coalesce((
                SELECT (place_members(version_place(since)), since.source_values, since.source_license)
                    IS DISTINCT FROM (place_members(locations), locations.source_values, locations.source_license)
                FROM location_versions AS since WHERE since.id = locations.id AND since.change > run.change
                    AND since.changed_at >= run.started_at ORDER BY since.change LIMIT 1), false) AS is_changed
        FROM locations
        WHERE source_dataset = run.dataset AND (import_run = run_id OR EXISTS (
                SELECT FROM location_versions AS since WHERE since.id = locations.id AND since.import_run = run_id
                    AND since.change > run.change AND since.changed_at >= run.started_at))
            AND NOT EXISTS (
                SELECT FROM location_versions AS earlier WHERE earlier.id = locations.id AND earlier.change = run.change
                    AND earlier.changed_at = run.started_at AND earlier.operation = 'update');
    DELETE FROM locations WHERE id IN (SELECT id FROM added_places WHERE NOT is_changed);
    GET DIAGNOSTICS removed_count = ROW_COUNT;
    -- Of those that had come back, it is as if they had never.
    UPDATE removed_locations SET change = earlier.change FROM (
            SELECT DISTINCT ON (id) id, change FROM location_versions
            WHERE operation = 'delete' AND change < run.change AND id IN (SELECT id FROM added_places WHERE NOT is_changed)
            ORDER BY id, change DESC) AS earlier
        WHERE removed_locations.id = earlier.id;
    RETURN QUERY SELECT id, name, 'changed since it was added', '{}'::text[] FROM added_places WHERE is_changed ORDER BY id;

    FOR old IN SELECT * FROM location_versions WHERE changed_at = run.started_at AND change = run.change LOOP
        found_count := found_count + 1;
        was := version_place(old);
        SELECT * INTO place FROM locations WHERE id = was.id FOR UPDATE;
        IF old.operation = 'delete' THEN
            IF FOUND THEN
                RETURN QUERY SELECT was.id, was.name, 'has come back since', '{}'::text[];
            ELSIF EXISTS (SELECT FROM removed_locations WHERE id = was.id AND change > run.change) THEN
                RETURN QUERY SELECT was.id, was.name, 'removed again since', '{}'::text[];
            ELSIF EXISTS (SELECT FROM locations WHERE source_dataset = was.source_dataset AND source_id = was.source_id) THEN
                RETURN QUERY SELECT was.id, was.name, 'another place has its source id', '{}'::text[];
            ELSE
                PERFORM bring_back_place(was);
                returned_count := returned_count + 1;
            END IF;
            CONTINUE;
        ELSIF NOT FOUND THEN
            RETURN QUERY SELECT was.id, was.name, 'removed since', '{}'::text[];
            CONTINUE;
        END IF;
        changed_count := changed_count + 1;
        SELECT * INTO next FROM location_versions AS since
            WHERE since.id = was.id AND since.change > run.change AND since.changed_at >= run.started_at
            ORDER BY since.change LIMIT 1;
        IF NOT FOUND THEN
            PERFORM write_place(was);
            CONTINUE;
        END IF;
        became := version_place(next);
        source_before := source_members(was);
        source_after := source_members(became);
        source_now := source_members(place);
        SELECT coalesce(jsonb_object_agg(key, coalesce(source_before -> key, 'null'))
                FILTER (WHERE source_now -> key IS NOT DISTINCT FROM source_after -> key), '{}'),
            array_agg(key ORDER BY key) FILTER (WHERE source_now -> key IS DISTINCT FROM source_after -> key
                AND source_now -> key IS DISTINCT FROM source_before -> key)
            INTO changes, members
            FROM jsonb_object_keys(source_before || source_after) AS key
            WHERE source_before -> key IS DISTINCT FROM source_after -> key;
        IF members IS NOT NULL THEN
            RETURN QUERY SELECT place.id, place.name, 'changed since', members;
        END IF;
        place := with_source_members(place, changes);
        IF place.source_license = became.source_license THEN
            place.source_license := was.source_license;
        END IF;
        IF place.import_run = became.import_run THEN
            place.import_run := was.import_run;
        END IF;
        PERFORM write_place(place);
    END LOOP;
    IF found_count = 0 AND (run.counts ->> 'changed')::bigint + (run.counts ->> 'removed')::bigint > 0 THEN
        RAISE invalid_parameter_value USING
            MESSAGE = format('import %s was too long ago: the versions of then aren''t kept any more', run_id);
    END IF;

    SELECT to_jsonb(datasets) INTO dataset_now FROM datasets WHERE name = run.dataset;
    IF run.dataset_before IS DISTINCT FROM run.dataset_after AND dataset_now = run.dataset_after THEN
        IF run.dataset_before IS NULL THEN
            DELETE FROM datasets WHERE name = run.dataset
                AND NOT EXISTS (SELECT FROM locations WHERE source_dataset = run.dataset);
        ELSE
            UPDATE datasets SET (license, credit, url) = (
                SELECT before.license, before.credit, before.url
                FROM jsonb_populate_record(NULL::datasets, run.dataset_before) AS before)
            WHERE name = run.dataset;
        END IF;
    END IF;

    UPDATE import_runs SET reverted_at = now() WHERE id = run_id;
    UPDATE import_runs SET change = current_place_change(),
        counts = jsonb_build_object('changed', changed_count, 'added', returned_count, 'removed', removed_count)
        WHERE id = own_id;
END;
$$;

CREATE FUNCTION current_place_change() RETURNS bigint
LANGUAGE sql
STABLE
BEGIN ATOMIC
    SELECT change FROM dataset_changes WHERE transaction_id = pg_current_xact_id();
END;

-- As in 0202_create_locations: whatever the caller's search_path and temporary tables are.
DO $$
DECLARE
    signature regprocedure;
BEGIN
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'place_members', 'source_members', 'corrected_source_values', 'has_room', 'forget_location_versions', 'write_place',
            'bring_back_place', 'version_place', 'keep_corrections', 'members_by_hand', 'with_members', 'are_members', 'with_source_members', 'with_corrections', 'renew_dataset',
            'refuse_chosen_ids',
            'maintain_location_versions', 'place_to_edit', 'sign_edit', 'correct_place', 'remove_place', 'restore_place', 'merge_places', 'revert_import'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
    END LOOP;
    -- A new function is everybody's until that is taken away.
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'place_members', 'source_members', 'changed_object', 'keep_corrections', 'members_by_hand', 'with_members', 'has_room', 'are_members', 'with_source_members',
            'with_corrections', 'mark_place_change', 'record_updated_versions', 'record_removed_versions', 'maintain_location_versions',
            'forget_location_versions', 'place_to_edit', 'write_place', 'bring_back_place', 'version_place', 'sign_edit',
            'correct_place', 'remove_place', 'restore_place', 'merge_places', 'revert_import', 'current_place_change'])
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
END;
$$;

-- With the function that a role which changes places has called for it.
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

SELECT grant_roles();
SELECT maintain_location_versions('-infinity');

-- migrate:down

CREATE OR REPLACE FUNCTION grant_roles() RETURNS void
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

DROP FUNCTION revert_import(bigint);
DROP FUNCTION merge_places(bigint, bigint, bigint, bigint, text);
DROP FUNCTION restore_place(bigint, bigint, bigint, text);
DROP FUNCTION remove_place(bigint, bigint, text);
DROP FUNCTION correct_place(bigint, jsonb, text[], bigint, text);
DROP FUNCTION sign_edit(text);
DROP FUNCTION members_by_hand(locations);
DROP FUNCTION version_place(location_versions);
DROP FUNCTION bring_back_place(locations);
DROP FUNCTION write_place(locations);
DROP FUNCTION place_to_edit(bigint, bigint);
DROP FUNCTION forget_location_versions(bigint);
DROP FUNCTION maintain_location_versions(timestamptz);
DROP FUNCTION current_place_change();
DROP TRIGGER locations_record_versions ON locations;
DROP TRIGGER locations_record_updated_versions ON locations;
DROP TRIGGER locations_mark_change ON locations;
DROP FUNCTION record_removed_versions();
DROP FUNCTION record_updated_versions();
DROP FUNCTION mark_place_change();
DROP FUNCTION corrected_source_values(locations, locations);
DROP FUNCTION with_corrections(locations, jsonb);
DROP FUNCTION with_source_members(locations, jsonb);
DROP FUNCTION are_members(jsonb);
DROP FUNCTION has_room(locations);
DROP FUNCTION with_members(locations, jsonb);
DROP FUNCTION changed_object(jsonb, text, jsonb);
DROP FUNCTION source_members(locations);
DROP FUNCTION place_members(locations);

CREATE OR REPLACE FUNCTION refuse_chosen_ids() RETURNS trigger
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

CREATE OR REPLACE FUNCTION renew_dataset() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET random_page_cost = 0
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

DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION refuse_chosen_ids() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION renew_dataset() SET search_path = %I, pg_temp', current_schema());
END;
$$;

DROP TABLE import_runs;
DROP FUNCTION keep_corrections(bigint);
DROP TABLE removed_locations;
DROP TABLE location_versions;
ALTER TABLE dataset_log DROP COLUMN change;
ALTER TABLE dataset_changes DROP COLUMN change;
DROP SEQUENCE location_changes;
ALTER TABLE locations DROP COLUMN version, DROP COLUMN updated_at, DROP COLUMN import_run, DROP COLUMN source_values,
    DROP COLUMN operating_status;
