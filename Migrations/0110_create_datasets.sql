-- poi:oldest-program 0.1.0
-- migrate:up

-- What readers of the map have to be told of where its places came from. A place names its dataset itself
-- (locations.source_dataset) and its license, so there is no foreign key: a dataset without a row here is one without a
-- credit.
CREATE TABLE datasets (
    name text PRIMARY KEY,
    license text NOT NULL,
    credit text,
    url text,

    CONSTRAINT datasets_name_is_single_line CHECK (is_single_line(name, 100)),
    CONSTRAINT datasets_license_is_single_line CHECK (is_single_line(license, 200)),
    CONSTRAINT datasets_credit_is_single_line CHECK (is_single_line(credit, 300)),
    -- An app opens this when somebody taps it: the rule of locations_website_is_http_url.
    CONSTRAINT datasets_url_is_http_url CHECK (
        char_length(url) <= 2048
        AND url ~ '^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(:[0-9]{1,5})?([/?#][]!#-;=?-Z_a-z~[]*)?$'
    )
);

COMMENT ON TABLE datasets IS
    'The datasets that places came from, for GET /attributions, which leaves out those without places.';
COMMENT ON COLUMN datasets.name IS 'As in locations.source_dataset.';
COMMENT ON COLUMN datasets.license IS 'An SPDX identifier where there is one.';
COMMENT ON COLUMN datasets.credit IS 'What the license asks maps to show, such as © OpenStreetMap contributors.';
COMMENT ON COLUMN datasets.url IS 'A page about the dataset or its license.';

-- Attributions have entity tags of the dataset's id too, so it is renewed here as by categories.
CREATE TRIGGER datasets_mark_dataset_change
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON datasets
    FOR EACH STATEMENT EXECUTE FUNCTION mark_dataset_change();

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations, categories or datasets, in the order of their commits; the last 10,000 are kept. Numbers may be missing. Readers of the id use the view dataset.';
COMMENT ON VIEW dataset IS
    'The dataset''s id: as long as it is the same, locations, categories and datasets are the same. Each renewal notifies the channel dataset_renewed with the new id.';
COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations, categories or datasets; no other transaction ever sees a row here.';

-- migrate:down

DROP TABLE datasets;

COMMENT ON TABLE dataset_log IS
    'A row for each transaction that wrote locations or categories, in the order of their commits; the last 10,000 are kept. Numbers may be missing. Readers of the id use the view dataset.';
COMMENT ON VIEW dataset IS
    'The dataset''s id: as long as it is the same, locations and categories are the same. Each renewal notifies the channel dataset_renewed with the new id.';
COMMENT ON TABLE dataset_changes IS
    'A mark for each open transaction that has written locations or categories; no other transaction ever sees a row here.';
