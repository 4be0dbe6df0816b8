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
    CONSTRAINT datasets_url_is_http_url CHECK (is_http_url(url))
);

COMMENT ON TABLE datasets IS
    'The datasets that places came from, for GET /attributions, which leaves out those without places.';
COMMENT ON COLUMN datasets.name IS 'As in locations.source_dataset.';
COMMENT ON COLUMN datasets.license IS 'An SPDX identifier where there is one.';
COMMENT ON COLUMN datasets.credit IS 'What the license asks maps to show, such as © OpenStreetMap contributors.';
COMMENT ON COLUMN datasets.url IS 'A page about the dataset or its license.';

-- migrate:down

DROP TABLE datasets;
