-- migrate:up

-- The functions that make points of coordinates, and those that check a place's columns. What they return is stored or
-- checked: to change a rule, create a new function.

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
-- A stored column is computed by this function, and keeps what it returned when a row was written: to change the rule,
-- create a new function and a new column.
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

-- Whether a text is fit for one line on a screen. It has no control characters (C0, DEL, C1) and no Unicode line
-- separators, which would break lists, logs and headers. It has nothing invisible at either end, so it isn't blank.
--
-- It lists code points instead of using character classes such as [[:space:]], whose meaning depends on the database's
-- locale: what a dump can be restored into must not depend on that. One regular expression takes 0.3 us, three take 0.8 us.
CREATE FUNCTION is_single_line(value text, max_characters integer) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN char_length(value) BETWEEN 1 AND max_characters
    AND value COLLATE "C" !~ (
        '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'
        '|^[\u0020\u00A0\u1680\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]'
        '|[\u0020\u00A0\u1680\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]$');

-- Whether an app may open this when somebody taps it. So only http and https are allowed (never javascript:), a host without
-- user name or password, and only characters that RFC 3986 allows, so that every URL parser reads the same. International
-- names are written in punycode and percent-encoding.
CREATE FUNCTION is_http_url(value text) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN char_length(value) <= 2048
    AND value ~ '^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(:[0-9]{1,5})?([/?#][]!#-;=?-Z_a-z~[]*)?$';

-- Whether a value is fit for a place's properties: at most 4 KiB, and at most three levels, which is an object or an array in
-- an object in the object itself. No number that is beyond double precision, which some readers of JSON refuse: written out,
-- it has at least 309 digits.
CREATE FUNCTION is_properties(value jsonb) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN jsonb_typeof(value) = 'object' AND octet_length(value::text) <= 4096 AND value::text !~ '[0-9]{255}[0-9]{54}'
    AND NOT jsonb_path_exists(value, 'strict $.**{3} ? (@.type() == "object" || @.type() == "array")');

-- Whether these are a place's names beside the one that is shown: by language, an object of a tag (RFC 5646) and a text each,
-- and those that are only searched. Of either there is one or more, or NULL. Each is as `locations.name` has to be. Tags have
-- at most 35 characters (section 4.4.1 asks readers for no more) and are compared without case. Together they are at most 300,
-- and have at most 8 KiB with the tags.
CREATE FUNCTION are_names(names jsonb, other_names text[]) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN CASE WHEN jsonb_typeof(names) <> 'object' OR names = '{}' OR array_ndims(other_names) > 1 OR cardinality(other_names) = 0
THEN false ELSE (
    SELECT count(*) <= 300 AND count(every.name) = count(*) AND sum(octet_length(every.name)) + coalesce(sum(octet_length(every.tag)), 0) <= 8192
        AND bool_and(is_single_line(every.name, 200))
        AND count(*) FILTER (WHERE char_length(every.tag) > 35 OR every.tag COLLATE "C" !~ '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$') = 0
        AND count(DISTINCT lower(every.tag COLLATE "C")) = count(every.tag)
    FROM (
        SELECT key AS tag, CASE jsonb_typeof(value) WHEN 'string' THEN value #>> '{}' END AS name
        FROM jsonb_each(CASE jsonb_typeof(names) WHEN 'object' THEN names END)
        UNION ALL SELECT NULL, unnest(other_names)
    ) AS every
) END;

-- migrate:down

DROP FUNCTION are_names(jsonb, text[]);
DROP FUNCTION is_properties(jsonb);
DROP FUNCTION is_http_url(text);
DROP FUNCTION is_single_line(text, integer);
-- The extension stays: it may have existed before, and others may use it.
DROP FUNCTION geocentric_point(double precision, double precision);
DROP FUNCTION location_point(double precision, double precision);
