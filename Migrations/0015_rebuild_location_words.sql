-- poi:oldest-program 0.1.0
-- migrate:up

-- What writing a place costs, and what a search for words reads, is cut to what is used:
--
--   * `geog` and its index served no statement of the service.
--   * `folded_name` keeps what `search_text` makes of the name, so that it is computed once for each change of it.
--   * Whether a category exists is asked once a statement, by the triggers below, not once a row: the vocabulary only
--     grows, so what was there once stays.
--   * The key of the source is unique where there is one; most rows of a team's own have none.
--
-- Rewrites the table, in the order that it has.
DROP TRIGGER locations_truncate_words ON locations;
DROP TRIGGER locations_delete_words ON locations;
DROP TRIGGER locations_update_words ON locations;
DROP TRIGGER locations_insert_words ON locations;
DROP FUNCTION truncate_location_words();
DROP FUNCTION update_location_words();
DROP FUNCTION delete_location_words();
DROP FUNCTION insert_location_words();
DROP TABLE location_words;
DROP FUNCTION name_words(text);

ALTER TABLE locations
    DROP CONSTRAINT locations_category_fkey,
    DROP CONSTRAINT locations_source_is_unique,
    DROP COLUMN geog,
    ADD COLUMN folded_name text COLLATE "C" GENERATED ALWAYS AS (search_text(name)) STORED;

COMMENT ON TABLE locations IS
    'Points of interest. In the order of space_key the table answers several times faster.';
COMMENT ON COLUMN locations.folded_name IS
    'The words of the name as searches compare them: see search_text.';
COMMENT ON FUNCTION location_point(double precision, double precision) IS
    'WGS 84 degrees as a geography: rounded to 1e-9 degrees, -180 written as 180. Null out of range, where PostGIS would move the point.';

CREATE UNIQUE INDEX locations_source_is_unique ON locations (source_dataset, source_id)
    WHERE source_dataset IS NOT NULL;

-- The words that places are found by, with all that a search filters by, so that it reads this table's index and nothing
-- else. A row for each word of each place; a word that a name has twice has two. Kept by the triggers below; nobody else
-- writes here. No foreign key: checking a million rows one by one would take longer than writing them, and TRUNCATE would
-- be refused.
CREATE TABLE location_words (
    location_id bigint NOT NULL,
    space_key bigint NOT NULL,
    featured boolean NOT NULL,
    word text COLLATE "C" NOT NULL,
    category text NOT NULL,
    folded_name text COLLATE "C"
);

COMMENT ON TABLE location_words IS
    'The words of each place''s folded_name, by triggers on locations.';
COMMENT ON COLUMN location_words.word IS
    'One word, cut after 600 characters: no search has a longer one, and it fits into an index.';
COMMENT ON COLUMN location_words.folded_name IS
    'The place''s folded_name, for the other words of a search. Empty where there is one word only, null where it is too long for an index: then the table locations has it.';

-- The rows of one place, but for what all of them have in common. A search has 100 characters, of each of which NFKD makes
-- six letters in a row at most: so none of its words has more than 600. An index row has 2704 bytes at most: a name of up
-- to 1200 fits beside its longest word, and a word alone has 2400 at most.
CREATE FUNCTION folded_words(folded_name text) RETURNS TABLE (word text, indexed_name text)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
ROWS 3
BEGIN ATOMIC
    SELECT left(word, 600) COLLATE "C",
        CASE
            WHEN folded_name NOT LIKE ' % %' THEN ''
            WHEN octet_length(folded_name) <= 1200 THEN folded_name
        END COLLATE "C"
    FROM unnest(string_to_array(folded_name, ' ')) AS word
    WHERE word <> '';
END;

COMMENT ON FUNCTION folded_words(text) IS
    'The words of a folded name, and what location_words keeps of the name beside each.';

INSERT INTO location_words
    SELECT id, space_key, featured, word, category, indexed_name FROM locations, folded_words(folded_name);

CREATE INDEX location_words_word_idx ON location_words (word, location_id)
    INCLUDE (space_key, featured, category, folded_name);

-- As the foreign key did that was here before.
CREATE FUNCTION refuse_category(name text) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE foreign_key_violation USING
        MESSAGE = format('there is no category "%s"', name),
        TABLE = 'locations', CONSTRAINT = 'locations_category_fkey',
        HINT = 'The table categories has those that there are.';
END;
$$;

-- Once for each statement, however many rows it writes. SECURITY DEFINER: who may write places needs no right to this
-- table. Transition tables are compared by EXCEPT, and words looked up behind OFFSET 0: PostgreSQL keeps a plan for as long
-- as the session lasts, and one made for a single row must do for a million.
CREATE FUNCTION insert_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    unknown text;
BEGIN
    SELECT category INTO unknown
        FROM (SELECT category FROM new_locations EXCEPT SELECT name FROM categories) AS missing LIMIT 1;
    IF FOUND THEN
        PERFORM refuse_category(unknown);
    END IF;
    INSERT INTO location_words
        SELECT id, space_key, featured, word, category, indexed_name
        FROM new_locations, folded_words(folded_name)
        -- A B-tree that is filled in its order is smaller, and quicker to fill.
        ORDER BY word, id;
    RETURN NULL;
END;
$$;

CREATE FUNCTION delete_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    DELETE FROM location_words WHERE ctid = ANY (ARRAY(
        SELECT entry.ctid
        FROM old_locations AS place
        CROSS JOIN LATERAL folded_words(place.folded_name) AS gone
        CROSS JOIN LATERAL (
            SELECT location_words.ctid FROM location_words
            WHERE location_words.word = gone.word AND location_words.location_id = place.id
            OFFSET 0
        ) AS entry
    ));
    RETURN NULL;
END;
$$;

-- Leaves alone what a statement wrote but didn't change, as an import does with most places.
CREATE FUNCTION update_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
DECLARE
    unknown text;
BEGIN
    SELECT category INTO unknown
        FROM (SELECT category FROM new_locations EXCEPT SELECT name FROM categories) AS missing LIMIT 1;
    IF FOUND THEN
        PERFORM refuse_category(unknown);
    END IF;
    DELETE FROM location_words WHERE ctid = ANY (ARRAY(
        SELECT entry.ctid
        FROM (
            SELECT id, space_key, featured, category, folded_name FROM old_locations
            EXCEPT SELECT id, space_key, featured, category, folded_name FROM new_locations
        ) AS place
        CROSS JOIN LATERAL folded_words(place.folded_name) AS gone
        CROSS JOIN LATERAL (
            SELECT location_words.ctid FROM location_words
            WHERE location_words.word = gone.word AND location_words.location_id = place.id
            OFFSET 0
        ) AS entry
    ));
    INSERT INTO location_words
        SELECT id, space_key, featured, word, category, indexed_name
        FROM (
            SELECT id, space_key, featured, category, folded_name FROM new_locations
            EXCEPT SELECT id, space_key, featured, category, folded_name FROM old_locations
        ) AS place, folded_words(folded_name);
    RETURN NULL;
END;
$$;

CREATE FUNCTION truncate_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    TRUNCATE location_words;
    RETURN NULL;
END;
$$;

-- As in 0004: whatever the writer's search_path and temporary tables.
DO $$
DECLARE
    function_name text;
BEGIN
    FOREACH function_name IN ARRAY ARRAY[
        'insert_location_words', 'delete_location_words', 'update_location_words', 'truncate_location_words'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %I() SET search_path = %I, pg_temp', function_name, current_schema());
    END LOOP;
END;
$$;

REVOKE EXECUTE ON FUNCTION insert_location_words(), delete_location_words(), update_location_words(),
    truncate_location_words() FROM PUBLIC;

CREATE TRIGGER locations_insert_words AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION insert_location_words();

CREATE TRIGGER locations_update_words AFTER UPDATE ON locations
    REFERENCING OLD TABLE AS old_locations NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION update_location_words();

CREATE TRIGGER locations_delete_words AFTER DELETE ON locations
    REFERENCING OLD TABLE AS old_locations
    FOR EACH STATEMENT EXECUTE FUNCTION delete_location_words();

CREATE TRIGGER locations_truncate_words AFTER TRUNCATE ON locations
    FOR EACH STATEMENT EXECUTE FUNCTION truncate_location_words();

-- migrate:down

DROP TRIGGER locations_truncate_words ON locations;
DROP TRIGGER locations_delete_words ON locations;
DROP TRIGGER locations_update_words ON locations;
DROP TRIGGER locations_insert_words ON locations;
DROP FUNCTION truncate_location_words();
DROP FUNCTION update_location_words();
DROP FUNCTION delete_location_words();
DROP FUNCTION insert_location_words();
DROP FUNCTION refuse_category(text);
DROP TABLE location_words;
DROP FUNCTION folded_words(text);
DROP INDEX locations_source_is_unique;

ALTER TABLE locations
    DROP COLUMN folded_name,
    ADD COLUMN geog geography(Point, 4326) GENERATED ALWAYS AS (location_point(latitude, longitude)) STORED,
    ADD CONSTRAINT locations_category_fkey FOREIGN KEY (category) REFERENCES categories (name),
    ADD CONSTRAINT locations_source_is_unique UNIQUE (source_dataset, source_id);

CREATE INDEX locations_geog_idx ON locations USING gist (geog);

-- The same words, each once.
--
-- NFKD makes at most six letters in a row of one character, so a search of 100 characters has no word of more
-- than 600: words are cut there, and so fit into a page of a B-tree (2704 bytes), however long the name.
CREATE FUNCTION name_words(name text) RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN ARRAY(
    SELECT DISTINCT left(word, 600) COLLATE "C"
    FROM unnest(string_to_array(search_text(name), ' ')) AS word
    WHERE word <> ''
);

COMMENT ON FUNCTION name_words(text) IS
    'The folded words of a name, each once, and none longer than 600 characters.';

CREATE TABLE location_words (
    word text COLLATE "C" NOT NULL,
    location_id bigint NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    category text NOT NULL,
    featured boolean NOT NULL
);

COMMENT ON TABLE location_words IS
    'Each place''s name_words, by triggers on locations.';

INSERT INTO location_words
    SELECT unnest(name_words(name)), id, latitude, longitude, category, featured FROM locations;

-- A range of this index is all places with a word that begins so, and their positions. A word is at most
-- 2400 bytes long and the rest 123, which fits (see name_words).
CREATE UNIQUE INDEX location_words_word_idx ON location_words (word, location_id)
    INCLUDE (latitude, longitude, category, featured);

-- Once for each statement, however many rows it writes. SECURITY DEFINER: who may write places needs no right
-- to this table.
CREATE FUNCTION insert_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    INSERT INTO location_words
        SELECT unnest(name_words(name)), id, latitude, longitude, category, featured FROM new_locations;
    RETURN NULL;
END;
$$;

-- What a place was found by is computed from its old name, so no index by location_id is needed.
CREATE FUNCTION delete_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    DELETE FROM location_words USING (
        SELECT unnest(name_words(name)) AS word, id FROM old_locations
    ) AS gone
    WHERE location_words.word = gone.word AND location_words.location_id = gone.id;
    RETURN NULL;
END;
$$;

-- Leaves alone what a statement wrote but didn't change, as an import does with most places.
CREATE FUNCTION update_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    DELETE FROM location_words USING (
        SELECT unnest(name_words(name)) AS word, id
        FROM (
            SELECT id, name, latitude, longitude, category, featured FROM old_locations
            EXCEPT SELECT id, name, latitude, longitude, category, featured FROM new_locations
        ) AS changed
    ) AS gone
    WHERE location_words.word = gone.word AND location_words.location_id = gone.id;
    INSERT INTO location_words
        SELECT unnest(name_words(name)), id, latitude, longitude, category, featured
        FROM (
            SELECT id, name, latitude, longitude, category, featured FROM new_locations
            EXCEPT SELECT id, name, latitude, longitude, category, featured FROM old_locations
        ) AS changed;
    RETURN NULL;
END;
$$;

CREATE FUNCTION truncate_location_words() RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    TRUNCATE location_words;
    RETURN NULL;
END;
$$;

-- As in 0004: whatever the writer's search_path and temporary tables.
DO $$
DECLARE
    function_name text;
BEGIN
    FOREACH function_name IN ARRAY ARRAY[
        'insert_location_words', 'delete_location_words', 'update_location_words', 'truncate_location_words'
    ] LOOP
        EXECUTE format('ALTER FUNCTION %I() SET search_path = %I, pg_temp', function_name, current_schema());
    END LOOP;
END;
$$;

REVOKE EXECUTE ON FUNCTION insert_location_words(), delete_location_words(), update_location_words(),
    truncate_location_words() FROM PUBLIC;

CREATE TRIGGER locations_insert_words AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION insert_location_words();

CREATE TRIGGER locations_update_words AFTER UPDATE ON locations
    REFERENCING OLD TABLE AS old_locations NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION update_location_words();

CREATE TRIGGER locations_delete_words AFTER DELETE ON locations
    REFERENCING OLD TABLE AS old_locations
    FOR EACH STATEMENT EXECUTE FUNCTION delete_location_words();

CREATE TRIGGER locations_truncate_words AFTER TRUNCATE ON locations
    FOR EACH STATEMENT EXECUTE FUNCTION truncate_location_words();
