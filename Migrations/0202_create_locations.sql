-- migrate:up

CREATE TABLE categories (
    -- Names are written in comma lists and in URLs, so they are lower-case ASCII words joined by underscores.
    name text PRIMARY KEY,
    CONSTRAINT categories_name_is_snake_case CHECK (name ~ '^[a-z][a-z0-9]*(_[a-z0-9]+)*$'),
    CONSTRAINT categories_name_is_short CHECK (char_length(name) <= 50)
);

COMMENT ON TABLE categories IS
    'The vocabulary of categories. It only grows: installed apps ask for the names that they know.';

CREATE FUNCTION refuse_vocabulary_loss() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'the category vocabulary only grows'
        USING ERRCODE = 'restrict_violation',
              HINT = 'A retired category keeps its name and simply has no places.';
END;
$$;

CREATE TRIGGER categories_only_grow
    BEFORE DELETE OR TRUNCATE OR UPDATE OF name ON categories
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_vocabulary_loss();

-- The names are part of the schema and not of a seed, so that a database without seeds has them too. They are
-- OpenStreetMap's where it has a name for the category.
INSERT INTO categories (name) VALUES
    ('airport'),
    ('arts_centre'),
    ('bar'),
    ('bridge'),
    ('cafe'),
    ('castle'),
    ('community_centre'),
    ('conference_centre'),
    ('gallery'),
    ('garden'),
    ('government'),
    ('historic_site'),
    ('hospital'),
    ('hotel'),
    ('library'),
    ('lighthouse'),
    ('marketplace'),
    ('memorial'),
    ('mountain'),
    ('museum'),
    ('natural_feature'),
    ('nightclub'),
    ('observatory'),
    ('park'),
    ('place_of_worship'),
    ('public_art'),
    ('research_station'),
    ('restaurant'),
    ('school'),
    ('shop'),
    ('shopping_centre'),
    ('square'),
    ('stadium'),
    ('theatre'),
    ('tower'),
    ('town'),
    ('transit_station'),
    ('university'),
    ('viewpoint'),
    ('waterfall'),
    ('zoo');

CREATE TABLE locations (
    -- GENERATED ALWAYS, without CYCLE: no writer chooses an id, and no id is used twice.
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    -- There is no foreign key: check_categories looks once a statement, which takes 7 us a row less.
    category text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    featured boolean NOT NULL DEFAULT false,
    address text,
    website text,
    source_dataset text,
    source_id text,
    source_license text,
    -- For questions in the terms of PostGIS; see location_point. It is null only where latitude or longitude is out of range,
    -- which the constraints below refuse. NOT NULL would be checked before those, and the error would name the wrong column.
    position geography(Point) GENERATED ALWAYS AS (location_point(latitude, longitude)) STORED,
    importance smallint NOT NULL DEFAULT 0,
    names jsonb,
    other_names text[],
    -- What a team knows of a place beyond the other columns. Servers hand it on, and look into it for nothing but the names of
    -- its members and the values of filterable_properties.
    properties jsonb,

    -- NaN is greater than every number, so the ranges refuse it along with the infinities.
    CONSTRAINT locations_latitude_is_in_range CHECK (latitude BETWEEN -90 AND 90),
    CONSTRAINT locations_longitude_is_in_range CHECK (longitude BETWEEN -180 AND 180),
    CONSTRAINT locations_name_is_single_line CHECK (is_single_line(name, 200)),
    CONSTRAINT locations_address_is_single_line CHECK (is_single_line(address, 300)),
    CONSTRAINT locations_website_is_http_url CHECK (is_http_url(website)),
    CONSTRAINT locations_source_dataset_is_single_line CHECK (is_single_line(source_dataset, 100)),
    CONSTRAINT locations_source_id_is_single_line CHECK (is_single_line(source_id, 200)),
    CONSTRAINT locations_source_license_is_single_line CHECK (is_single_line(source_license, 200)),
    CONSTRAINT locations_source_is_complete_or_absent
        CHECK (num_nulls(source_dataset, source_id, source_license) IN (0, 3)),
    CONSTRAINT locations_importance_is_in_range CHECK (importance BETWEEN 0 AND 1000),
    -- Rows without names aren't asked: the function costs more than all other checks together.
    CONSTRAINT locations_names_are_few_lines
        CHECK (names IS NULL AND other_names IS NULL OR are_names(names, other_names)),
    CONSTRAINT locations_properties_are_small CHECK (is_properties(properties))
);

COMMENT ON TABLE locations IS
    'Points of interest. Neighbours are read together more quickly where rows are written in the order of position.';
COMMENT ON COLUMN locations.latitude IS 'WGS 84 degrees, as given; exact distances use this.';
COMMENT ON COLUMN locations.longitude IS 'WGS 84 degrees, as given; exact distances use this.';
COMMENT ON COLUMN locations.source_dataset IS 'The dataset the row came from, such as poi-seed-world.';
COMMENT ON COLUMN locations.source_id IS 'The dataset''s own, stable id of the place.';
COMMENT ON COLUMN locations.source_license IS 'An SPDX identifier where there is one.';
COMMENT ON COLUMN locations.position IS
    'The same as a geography; compare with location_point(latitude, longitude) by ST_DWithin, ST_Distance and <->.';
COMMENT ON COLUMN locations.importance IS
    'From 0 to 1000: which of several places a map labels first, and a search by relevance lists first where it finds them equal.';
COMMENT ON COLUMN locations.names IS
    'The names in languages: a JSON object of a BCP 47 tag and a text each, {"ja": "東京"}. A request for a language gets the place with that name, and a search finds it by each of them.';
COMMENT ON COLUMN locations.other_names IS
    'Other names, such as former and short ones, by which the place is to be found; never shown.';
COMMENT ON COLUMN locations.properties IS
    'The team''s own: a JSON object of at most 4 KiB of text and three levels. A place''s details have all of it, lists what they are asked for.';

-- An import finds a row again by its source, so that the place keeps its id. Most rows that a team writes itself have
-- no source.
CREATE UNIQUE INDEX locations_source_is_unique ON locations (source_dataset, source_id)
    WHERE source_dataset IS NOT NULL;

CREATE INDEX locations_position_idx ON locations USING gist (position);

-- Those of a category and the featured ones, wherever they are. The planner combines them with the index of what is near, or
-- takes the better one.
CREATE INDEX locations_category_idx ON locations (category);

CREATE INDEX locations_featured_idx ON locations (id) WHERE featured;

-- GENERATED ALWAYS keeps INSERT from choosing ids, but not COPY, nor INSERT with OVERRIDING SYSTEM VALUE. A later place
-- would collide with an id that the sequence hasn't given yet.
--
-- SECURITY DEFINER: a role that writes places needs no right to the sequence.
CREATE FUNCTION refuse_chosen_ids() RETURNS trigger
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

-- Checked once a statement and not once a row: the vocabulary only grows, so a category that exists stays. The error is that
-- of a foreign key. Transition tables are compared by EXCEPT, since PostgreSQL keeps a plan for as long as the session lasts,
-- and one that was made for a single row has to do for a million.
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
        RAISE foreign_key_violation USING
            MESSAGE = format('there is no category "%s"', unknown),
            TABLE = 'locations', CONSTRAINT = 'locations_category_fkey',
            HINT = 'The table categories has those that there are.';
    END IF;
    RETURN NULL;
END;
$$;

-- The functions find their tables in the schema that they are in, whatever the writer's search_path is (pg_restore has
-- none), and no temporary table of the writer's hides them.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION refuse_chosen_ids() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION check_categories() SET search_path = %I, pg_temp', current_schema());
END;
$$;

REVOKE EXECUTE ON FUNCTION refuse_vocabulary_loss(), refuse_chosen_ids(), check_categories() FROM PUBLIC;

CREATE TRIGGER locations_generate_ids AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_chosen_ids();

CREATE TRIGGER locations_check_inserted AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION check_categories();

CREATE TRIGGER locations_check_updated AFTER UPDATE ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION check_categories();

-- migrate:down

DROP TABLE locations;
DROP FUNCTION check_categories();
DROP FUNCTION refuse_chosen_ids();
DROP TABLE categories;
DROP FUNCTION refuse_vocabulary_loss();
