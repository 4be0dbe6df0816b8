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
    -- There is no foreign key: the triggers of 0105_create_location_words check categories once a statement, which
    -- takes 7 us a row less.
    category text NOT NULL,
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    featured boolean NOT NULL DEFAULT false,
    address text,
    website text,
    source_dataset text,
    source_id text,
    source_license text,
    -- The generated columns are null only where latitude or longitude is out of range, which the constraints below
    -- refuse. NOT NULL would be checked before those, and the error would name the wrong column.
    --
    -- Distances are measured and ordered by this one; see geocentric_point.
    geocentric geometry(PointZ) GENERATED ALWAYS AS (geocentric_point(latitude, longitude)) STORED,
    -- Searches find places by this one; see space_key.
    space_key bigint GENERATED ALWAYS AS (space_key(latitude, longitude)) STORED,
    -- Computed once for each change of the name; the words of 0105_create_location_words are made from it.
    folded_name text COLLATE "C" GENERATED ALWAYS AS (search_text(name)) STORED,

    -- NaN is greater than every number, so the ranges refuse it along with the infinities.
    CONSTRAINT locations_latitude_is_in_range CHECK (latitude BETWEEN -90 AND 90),
    CONSTRAINT locations_longitude_is_in_range CHECK (longitude BETWEEN -180 AND 180),
    CONSTRAINT locations_name_is_single_line CHECK (is_single_line(name, 200)),
    CONSTRAINT locations_address_is_single_line CHECK (is_single_line(address, 300)),
    -- An app opens this when somebody taps it. So only http and https are allowed (never javascript:), a host without
    -- user name or password, and only characters that RFC 3986 allows, so that every URL parser reads the same.
    -- International names are written in punycode and percent-encoding.
    CONSTRAINT locations_website_is_http_url CHECK (
        char_length(website) <= 2048
        AND website ~ '^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(:[0-9]{1,5})?([/?#][]!#-;=?-Z_a-z~[]*)?$'
    ),
    CONSTRAINT locations_source_dataset_is_single_line CHECK (is_single_line(source_dataset, 100)),
    CONSTRAINT locations_source_id_is_single_line CHECK (is_single_line(source_id, 200)),
    CONSTRAINT locations_source_license_is_single_line CHECK (is_single_line(source_license, 200)),
    CONSTRAINT locations_source_is_complete_or_absent
        CHECK (num_nulls(source_dataset, source_id, source_license) IN (0, 3))
);

COMMENT ON TABLE locations IS
    'Points of interest. Searches are several times faster where rows are written in the order of space_key.';
COMMENT ON COLUMN locations.latitude IS 'WGS 84 degrees, as given; exact distances use this.';
COMMENT ON COLUMN locations.longitude IS 'WGS 84 degrees, as given; exact distances use this.';
COMMENT ON COLUMN locations.source_dataset IS 'The dataset the row came from, such as poi-seed-world.';
COMMENT ON COLUMN locations.source_id IS 'The dataset''s own, stable id of the place.';
COMMENT ON COLUMN locations.source_license IS 'An SPDX identifier where there is one.';
COMMENT ON COLUMN locations.geocentric IS
    'For the nearest places; compare with geocentric_point(latitude, longitude) by <<->> and ST_3DDWithin.';
COMMENT ON COLUMN locations.space_key IS
    'For what lies in a cube of space: see space_key.';
COMMENT ON COLUMN locations.folded_name IS
    'The words of the name as searches compare them: see search_text.';

-- An import finds a row again by its source, so that the place keeps its id. Most rows that a team writes itself have
-- no source.
CREATE UNIQUE INDEX locations_source_is_unique ON locations (source_dataset, source_id)
    WHERE source_dataset IS NOT NULL;

CREATE INDEX locations_geocentric_idx ON locations USING gist (geocentric gist_geometry_ops_nd);

-- The next three hold all that a search through cubes needs, so that it doesn't read the table.
CREATE INDEX locations_space_key_idx ON locations (space_key) INCLUDE (id, latitude, longitude, featured);

-- The same for each category, featured or not.
CREATE INDEX locations_category_space_key_idx
    ON locations (category, featured, space_key) INCLUDE (id, latitude, longitude);

-- Few places are featured, so this is small.
CREATE INDEX locations_featured_space_key_idx
    ON locations (space_key) INCLUDE (id, latitude, longitude) WHERE featured;

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

-- The function finds its tables in the schema that it is in, whatever the writer's search_path is (pg_restore has
-- none), and no temporary table of the writer's hides them.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION refuse_chosen_ids() SET search_path = %I, pg_temp', current_schema());
END;
$$;

REVOKE EXECUTE ON FUNCTION refuse_chosen_ids() FROM PUBLIC;

-- Triggers run in the order of their names, so this one runs before the one that inserts words.
CREATE TRIGGER locations_generate_ids AFTER INSERT ON locations
    REFERENCING NEW TABLE AS new_locations
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_chosen_ids();

-- migrate:down

DROP TABLE locations;
DROP FUNCTION refuse_chosen_ids();
DROP TABLE categories;
DROP FUNCTION refuse_vocabulary_loss();
