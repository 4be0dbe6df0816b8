-- poi:oldest-program 0.1.0
-- migrate:up

-- What a team knows of a place beyond the fixed columns. Servers hand it on, and look into it for nothing but the names of
-- its members. At most three levels: an object or an array in an object in the object itself. No number that is beyond double
-- precision, which some readers of JSON refuse: written out, it has at least 309 digits.
CREATE FUNCTION is_properties(value jsonb) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN jsonb_typeof(value) = 'object' AND octet_length(value::text) <= 4096 AND value::text !~ '[0-9]{255}[0-9]{54}'
    AND NOT jsonb_path_exists(value, 'strict $.**{3} ? (@.type() == "object" || @.type() == "array")');

-- Neither column rewrites the table: their defaults aren't written to the rows that are there.
ALTER TABLE locations
    ADD COLUMN properties jsonb,
    ADD COLUMN importance smallint NOT NULL DEFAULT 0,
    ADD CONSTRAINT locations_properties_are_small CHECK (is_properties(properties)),
    ADD CONSTRAINT locations_importance_is_in_range CHECK (importance BETWEEN 0 AND 1000);

COMMENT ON COLUMN locations.properties IS
    'The team''s own: a JSON object of at most 4 KiB of text and three levels. A place''s details have all of it, lists what they are asked for.';
COMMENT ON COLUMN locations.importance IS
    'From 0 to 1000: which of several places a map labels first, and a search by relevance lists first where it finds them equal.';

-- migrate:down

ALTER TABLE locations DROP COLUMN importance, DROP COLUMN properties;
DROP FUNCTION is_properties(jsonb);
