-- poi:oldest-program 0.3.0
-- migrate:up

-- Servers of 0.2.0 and before found places by these words. Since 0.3.0 words are compared in Swift.
DROP TRIGGER locations_insert_words ON locations;
DROP TRIGGER locations_update_words ON locations;
DROP TRIGGER locations_delete_words ON locations;
DROP TRIGGER locations_truncate_words ON locations;

DROP FUNCTION insert_location_words();
DROP FUNCTION update_location_words();
DROP FUNCTION delete_location_words();
DROP FUNCTION truncate_location_words();
DROP TABLE location_words;
DROP FUNCTION folded_words(text);

-- What those triggers checked besides, once a statement: that the category of each place exists. The vocabulary only grows, so
-- a category that exists stays.
CREATE FUNCTION check_categories() RETURNS trigger
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
    RETURN NULL;
END;
$$;

-- As in 0103_create_locations: whatever the writer's search_path and temporary tables are.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION check_categories() SET search_path = %I, pg_temp', current_schema());
END;
$$;

REVOKE EXECUTE ON FUNCTION check_categories() FROM PUBLIC;

CREATE TRIGGER locations_check_inserted AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION check_categories();

CREATE TRIGGER locations_check_updated AFTER UPDATE ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION check_categories();

-- migrate:down

DROP TRIGGER locations_check_updated ON locations;
DROP TRIGGER locations_check_inserted ON locations;
DROP FUNCTION check_categories();

-- As 0105_create_location_words has it.
-- The words that places are found by, with everything that a search filters by, so that a search reads this table's
-- index and nothing else. Each word of each place has a row; a word that a name has twice has two. The triggers below
-- keep the rows; nobody else writes here. There is no foreign key: checking a million rows one by one would take longer
-- than writing them, and TRUNCATE would be refused.
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
    'The place''s folded_name, for the other words of a search. Empty where the name has one word only, null where it is too long for an index: then the table locations has it.';

-- Returns the rows of one place, without what all of them have in common. Lengths: a search has 100 characters, of each
-- of which NFKD makes six letters in a row at most, so none of its words has more than 600 characters. An index row has
-- 2704 bytes at most: a name of up to 1200 bytes fits beside its longest word, and a word alone has 2400 bytes at most.
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

CREATE INDEX location_words_word_idx ON location_words (word, location_id)
    INCLUDE (space_key, featured, category, folded_name);

-- Each trigger runs once a statement, however many rows that writes. SECURITY DEFINER: a role that writes places needs
-- no right to this table. Transition tables are compared by EXCEPT, and words are looked up behind OFFSET 0: PostgreSQL
-- keeps a plan for as long as the session lasts, and one that was made for a single row has to do for a million.
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

-- Leaves the words of places alone that a statement wrote but didn't change, as an import does with most places.
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

-- As in 0103_create_locations: whatever the writer's search_path and temporary tables are.
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

INSERT INTO location_words
    SELECT id, space_key, featured, word, category, indexed_name
    FROM locations, folded_words(folded_name)
    ORDER BY word, id;
