-- poi:oldest-program 0.1.0
-- migrate:up

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

-- Rows without names aren't asked: the function costs more than all other checks together.
ALTER TABLE locations
    ADD COLUMN names jsonb,
    ADD COLUMN other_names text[],
    ADD CONSTRAINT locations_names_are_few_lines
        CHECK (names IS NULL AND other_names IS NULL OR are_names(names, other_names));

COMMENT ON COLUMN locations.names IS
    'The names in languages: a JSON object of a BCP 47 tag and a text each, {"ja": "東京"}. A request for a language gets the place with that name, and a search finds it by each of them.';
COMMENT ON COLUMN locations.other_names IS
    'Other names, such as former and short ones, by which the place is to be found; never shown.';

-- migrate:down

ALTER TABLE locations DROP COLUMN other_names, DROP COLUMN names;
DROP FUNCTION are_names(jsonb, text[]);
