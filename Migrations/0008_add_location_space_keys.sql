-- migrate:up

-- Where a place is, as one number: the path to it through an octree whose root is the cube of 2^24 m around
-- the Earth's centre. Each level halves the cube along x, y and z, and takes three bits, z's first; after 21
-- levels a cube is 8 m wide. So every cube of the octree is one range of keys, and a B-tree answers what lies
-- in it from the index alone. `OctreeCube` counts the same way.
--
-- PL/pgSQL: an SQL function can't keep what it has halfway. It calls pg_catalog's functions, and the points'
-- by the search_path that is set below.
CREATE FUNCTION space_key(latitude double precision, longitude double precision) RETURNS bigint
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
STRICT
AS $$
DECLARE
    n double precision;
    axis double precision;
    part bigint;
    key bigint := 0;
BEGIN
    IF latitude NOT BETWEEN -90 AND 90 OR longitude NOT BETWEEN -180 AND 180 THEN
        RETURN NULL;
    END IF;
    -- The point of geocentric_point, whose body this repeats: a stored column may not depend on another.
    n := 6378137 / sqrt(1 - 0.0066943799901413165 * sind(latitude) ^ 2);
    FOREACH axis IN ARRAY ARRAY[
        n * (1 - 0.0066943799901413165) * sind(latitude),
        n * cosd(latitude) * sind(longitude),
        n * cosd(latitude) * cosd(longitude)
    ] LOOP
        part := floor((axis + 8388608) / 8)::bigint;
        -- Two zeros between every two bits.
        part := (part | (part << 32)) & x'001F00000000FFFF'::bigint;
        part := (part | (part << 16)) & x'001F0000FF0000FF'::bigint;
        part := (part | (part << 8)) & x'100F00F00F00F00F'::bigint;
        part := (part | (part << 4)) & x'10C30C30C30C30C3'::bigint;
        part := (part | (part << 2)) & x'1249249249249249'::bigint;
        key := (key << 1) | part;
    END LOOP;
    RETURN key;
END;
$$;

COMMENT ON FUNCTION space_key(double precision, double precision) IS
    'The path to a place through an octree, three bits a level, 21 levels. Null out of range.';

-- Rewrites the table, in the order that it has. Null only where latitude or longitude is out of range.
ALTER TABLE locations
    ADD COLUMN space_key bigint GENERATED ALWAYS AS (space_key(latitude, longitude)) STORED;

COMMENT ON COLUMN locations.space_key IS
    'For what lies in a cube of space: see space_key.';

-- All that a search through cubes needs to know, so that it doesn't read the table.
CREATE INDEX locations_space_key_idx ON locations (space_key) INCLUDE (id, latitude, longitude, featured);

-- The same for each category, featured or not; and the number of each category's places.
CREATE INDEX locations_category_space_key_idx
    ON locations (category, featured, space_key) INCLUDE (id, latitude, longitude);

-- Few places are featured, so this is small.
CREATE INDEX locations_featured_space_key_idx
    ON locations (space_key) INCLUDE (id, latitude, longitude) WHERE featured;

-- migrate:down

DROP INDEX locations_featured_space_key_idx;
DROP INDEX locations_category_space_key_idx;
DROP INDEX locations_space_key_idx;
ALTER TABLE locations DROP COLUMN space_key;
DROP FUNCTION space_key(double precision, double precision);
