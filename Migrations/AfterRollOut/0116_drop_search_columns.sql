-- poi:oldest-program 0.3.0
-- migrate:up

-- Searches of servers of 0.2.0 and before read these, with three indexes that go with them. Rows keep the room that they took
-- until they are written again.
ALTER TABLE locations DROP COLUMN folded_name, DROP COLUMN space_key;

COMMENT ON TABLE locations IS
    'Points of interest. Neighbours are read together more quickly where rows are written in the order of location_point.';

-- migrate:down

-- As 0103_create_locations has them. This rewrites the table.
ALTER TABLE locations
    ADD COLUMN space_key bigint GENERATED ALWAYS AS (space_key(latitude, longitude)) STORED,
    ADD COLUMN folded_name text COLLATE "C" GENERATED ALWAYS AS (search_text(name)) STORED;

COMMENT ON TABLE locations IS
    'Points of interest. Searches are several times faster where rows are written in the order of space_key.';
COMMENT ON COLUMN locations.space_key IS
    'For what lies in a cube of space: see space_key.';
COMMENT ON COLUMN locations.folded_name IS
    'The words of the name as searches compare them: see search_text.';

CREATE INDEX locations_space_key_idx ON locations (space_key) INCLUDE (id, latitude, longitude, featured);

CREATE INDEX locations_category_space_key_idx
    ON locations (category, featured, space_key) INCLUDE (id, latitude, longitude);

CREATE INDEX locations_featured_space_key_idx
    ON locations (space_key) INCLUDE (id, latitude, longitude) WHERE featured;
