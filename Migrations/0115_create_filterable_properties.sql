-- poi:oldest-program 0.1.0
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

-- As after TRUNCATE of locations, places aren't named: servers have to read all of them, with the values by which they are to
-- be found.
CREATE TRIGGER filterable_properties_record_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON filterable_properties
    FOR EACH STATEMENT EXECUTE FUNCTION record_truncated_places();

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations, categories, datasets or filterable_properties, in the order of their commits; the last 10,000 are kept. Numbers may be missing. Readers of the id use the view dataset.';
COMMENT ON COLUMN dataset_log.place_ids IS
    'The places that the transaction inserted, changed or deleted. Null where they are not known (TRUNCATE, other filterable properties, more than 10,000 places, or many places a long time ago): then all places have to be read.';
COMMENT ON VIEW dataset IS
    'The dataset''s id: as long as it is the same, locations, categories, datasets and filterable_properties are the same. Each renewal notifies the channel dataset_renewed with the new id.';
COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations, categories, datasets or filterable_properties; no other transaction ever sees a row here.';

-- migrate:down

DROP TABLE filterable_properties;

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations, categories or datasets, in the order of their commits; the last 10,000 are kept. Numbers may be missing. Readers of the id use the view dataset.';
COMMENT ON COLUMN dataset_log.place_ids IS
    'The places that the transaction inserted, changed or deleted. Null where they are not known (TRUNCATE, more than 10,000 places, or many places a long time ago): then all places have to be read.';
COMMENT ON VIEW dataset IS
    'The dataset''s id: as long as it is the same, locations, categories and datasets are the same. Each renewal notifies the channel dataset_renewed with the new id.';
COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations, categories or datasets; no other transaction ever sees a row here.';
