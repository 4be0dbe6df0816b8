-- migrate:up

CREATE TABLE categories (
    -- Travels in comma lists and in URLs, so: lower-case ASCII words joined by underscores.
    name text PRIMARY KEY,
    CONSTRAINT categories_name_is_snake_case CHECK (name ~ '^[a-z][a-z0-9]*(_[a-z0-9]+)*$'),
    CONSTRAINT categories_name_is_short CHECK (char_length(name) <= 50)
);

COMMENT ON TABLE categories IS
    'The vocabulary of categories. It only grows: apps in the field ask for names that they once learnt.';

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

-- Part of the schema, not of a seed: a database without seeds knows these too. Words are
-- OpenStreetMap's where it has one.
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

-- migrate:down

DROP TABLE categories;
DROP FUNCTION refuse_vocabulary_loss();
