-- migrate:up

-- The function that makes points of coordinates, and those that check a place's columns. What they return is stored or
-- checked: to change a rule, create a new function.

-- A role that migrates may lack the right to create extensions. Then a database administrator creates this one
-- beforehand, in any schema on the search_path; this changes nothing then, and needs no privilege.
DO $$
DECLARE
    -- As it is written in a list of schemas.
    home text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'postgis') THEN
        RAISE feature_not_supported USING MESSAGE = 'this PostgreSQL has no PostGIS',
            HINT = 'Install its package for this version of PostgreSQL where PostgreSQL runs, such as postgresql-15-postgis-3.';
    END IF;
    CREATE EXTENSION IF NOT EXISTS postgis;
    SELECT extnamespace::regnamespace::text INTO home FROM pg_extension WHERE extname = 'postgis';
    IF to_regtype('geography') IS NULL THEN
        RAISE undefined_object USING MESSAGE = format('PostGIS is in the schema %s, which is not on the search_path', home),
            HINT = format(
                'Run ALTER DATABASE %I SET search_path = "$user", public, %s, for the servers too.', current_database(), home);
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    RAISE insufficient_privilege USING MESSAGE = SQLERRM,
        HINT = 'Have a database administrator run deploy/postgres/roles.sql, which creates it.';
END;
$$;

-- Makes a geography of a latitude and a longitude, which locations.position holds.
--
-- -180 is written as 180, and adding 0 turns -0 into 0: a GiST search by `<->` fails with "index returned tuples in wrong
-- order" where two points lie on one meridian that is written in two ways.
--
-- PostgreSQL parses this body when the function is created (`RETURN` instead of a quoted text). It stores the functions
-- that the body calls, not their names, so no search_path can change them; pg_restore and autovacuum have an empty one.
-- The body is simple enough for the planner to inline. A stored column keeps what it returned when a row was written: to
-- change the rule, create a new function and a new column.
CREATE FUNCTION location_point(latitude double precision, longitude double precision)
RETURNS geography
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN CASE
    WHEN latitude BETWEEN -90 AND 90 AND longitude BETWEEN -180 AND 180 THEN
        ST_SetSRID(
            ST_MakePoint(CASE longitude WHEN -180 THEN 180 ELSE longitude + 0 END, latitude + 0),
            4326
        )::geography
END;

COMMENT ON FUNCTION location_point(double precision, double precision) IS
    'WGS 84 degrees as a geography, -180 written as 180. Null out of range, where PostGIS would move the point.';

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
-- names are written in punycode and percent-encoding. A host whose last label is a number is an address of IPv4, and a port is
-- at most 65535: parsers refuse others. How long labels are is left to name servers.
CREATE FUNCTION is_http_url(value text) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN char_length(value) <= 2048
    AND value ~ (
        '^https?://(([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[0-9]*([A-Za-z]|-[A-Za-z0-9-]*[A-Za-z0-9])([A-Za-z0-9-]*[A-Za-z0-9])?'
        '|((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9]))'
        '(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?([/?#][]!#-;=?-Z_a-z~[]*)?$');

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
DROP FUNCTION location_point(double precision, double precision);
