-- migrate:up

-- The words that places are found by, with what a search filters and orders by, so that it reads this table's
-- index and nothing else. Kept by triggers on locations; nobody else writes here. No foreign key: checking a
-- million rows one by one would take longer than writing them, and TRUNCATE would be refused.
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

-- migrate:down

DROP TRIGGER locations_truncate_words ON locations;
DROP TRIGGER locations_delete_words ON locations;
DROP TRIGGER locations_update_words ON locations;
DROP TRIGGER locations_insert_words ON locations;
DROP FUNCTION truncate_location_words();
DROP FUNCTION update_location_words();
DROP FUNCTION delete_location_words();
DROP FUNCTION insert_location_words();
DROP TABLE location_words;
