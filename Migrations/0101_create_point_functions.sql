-- migrate:up

-- A role that migrates may lack the right to create extensions. Then a database administrator creates this one
-- beforehand, in any schema on the search_path; this line changes nothing then, and needs no privilege.
CREATE EXTENSION IF NOT EXISTS postgis;

-- Makes a geography of a latitude and a longitude, for people who query in the terms of PostGIS. The service doesn't
-- call it; the seeds sort by it. Compare only points with each other that were both made by this function.
--
-- Why coordinates are rounded: a GiST search by `<->` fails with "index returned tuples in wrong order" where two
-- points lie on one meridian that is written in two ways (-180 and 180, 0 and -0), or within 1e-12 degrees of each
-- other. So both coordinates are rounded to 1e-9 degrees (0.1 mm), -180 is written as 180 (after rounding, which can
-- produce it), and adding 0 turns -0 into 0. At the poles every longitude means the same place; the search handles
-- those as they are.
--
-- The division of two exact numbers is correctly rounded, so any IEEE 754 implementation of
-- round-half-even(x * 1e9) / 1e9 gives the same bits.
--
-- PostgreSQL parses this body when the function is created (`RETURN` instead of a quoted text). It stores the functions
-- that the body calls, not their names, so no search_path can change them; pg_restore and autovacuum have an empty one.
-- The body is simple enough for the planner to inline.
CREATE FUNCTION location_point(latitude double precision, longitude double precision)
RETURNS geography
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN CASE
    WHEN latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180 THEN
        ST_SetSRID(
            ST_MakePoint(
                CASE round(longitude * 1e9)
                    WHEN -180e9 THEN 180
                    ELSE round(longitude * 1e9) / 1e9 + 0
                END,
                round(latitude * 1e9) / 1e9 + 0
            ),
            4326
        )::geography
END;

COMMENT ON FUNCTION location_point(double precision, double precision) IS
    'WGS 84 degrees as a geography: rounded to 1e-9 degrees, -180 written as 180. Null out of range, where PostGIS would move the point.';

-- Makes a point in three-dimensional space of WGS 84 degrees: geocentric coordinates in metres (EPSG method 9602), on
-- the ellipsoid. The straight line between two such points, the chord, grows with the geodesic distance to within
-- metres at 500 km. It has no seams: the poles and the antimeridian are like any other place, however their longitude
-- is written. The n-D GiST index orders exactly by the chord.
--
-- Geography's `<->` orders by the sphere instead, which is off by up to 0.56 %, and its index bounds arcs by chords:
-- from afar it reads most of a crowded table (357,144 buffers for the 25 places nearest to New York with a million in
-- California; 13 here).
--
-- Stored columns are computed by this function and by space_key, and keep what these returned when a row was written:
-- to change the rule, create a new function and a new column.
CREATE FUNCTION geocentric_point(latitude double precision, longitude double precision)
RETURNS geometry
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN CASE
    WHEN latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180 THEN
        ST_MakePoint(
            6378137 / sqrt(1 - 0.0066943799901413165 * sind(latitude) ^ 2) * cosd(latitude) * cosd(longitude),
            6378137 / sqrt(1 - 0.0066943799901413165 * sind(latitude) ^ 2) * cosd(latitude) * sind(longitude),
            6378137 / sqrt(1 - 0.0066943799901413165 * sind(latitude) ^ 2)
                * (1 - 0.0066943799901413165) * sind(latitude)
        )
END;

COMMENT ON FUNCTION geocentric_point(double precision, double precision) IS
    'WGS 84 degrees as the point that locations.geocentric holds: x, y and z in metres from the centre of the Earth (EPSG 4978, written without SRID). Null out of range.';

-- Returns where a place is as one number: the path to it through an octree whose root is the cube of 2^24 m around the
-- Earth's centre. Each level halves the cube along x, y and z and adds three bits, that of z first; after 21 levels a
-- cube is 8 m wide. So every cube of the octree is one range of keys, and a B-tree finds what lies in a cube from the
-- index alone. The type `SpaceCube` in Swift counts the same way.
--
-- This is PL/pgSQL because an SQL function can't keep intermediate results. It calls functions of pg_catalog only,
-- which every search_path finds first.
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
    -- This repeats the formula of geocentric_point: a generated column may not depend on another one.
    n := 6378137 / sqrt(1 - 0.0066943799901413165 * sind(latitude) ^ 2);
    FOREACH axis IN ARRAY ARRAY[
        n * (1 - 0.0066943799901413165) * sind(latitude),
        n * cosd(latitude) * sind(longitude),
        n * cosd(latitude) * cosd(longitude)
    ] LOOP
        part := floor((axis + 8388608) / 8)::bigint;
        -- Spread the bits: two zeros between every two of them.
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

-- migrate:down

-- The extension stays: it may have existed before, and others may use it.
DROP FUNCTION space_key(double precision, double precision);
DROP FUNCTION geocentric_point(double precision, double precision);
DROP FUNCTION location_point(double precision, double precision);
