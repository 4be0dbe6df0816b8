-- migrate:up

-- The properties that requests may filter places by, which an operator chooses: servers keep the values of these, and of no
-- others, so that places are found by them.
CREATE TABLE filterable_properties (
    name text PRIMARY KEY,
    type text NOT NULL,

    CONSTRAINT filterable_properties_name_is_single_line CHECK (is_single_line(name, 100)),
    CONSTRAINT filterable_properties_type_is_known CHECK (type IN ('boolean', 'text'))
);

COMMENT ON TABLE filterable_properties IS
    'The members of locations.properties that GET /locations?property.NAME=… filters by. Servers read all places again when it changes.';
COMMENT ON COLUMN filterable_properties.name IS 'As in locations.properties.';
COMMENT ON COLUMN filterable_properties.type IS
    'boolean: places are found by true and by false; text: by a text, or by each text of an array. Other values aren''t found.';

-- migrate:down

DROP TABLE filterable_properties;
