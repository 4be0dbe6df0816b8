-- migrate:up

-- Text for one line on a screen. No control characters (C0, DEL, C1) and no Unicode line
-- separators, which would break lists, logs and headers; and nothing invisible at either end,
-- which also means that it isn't blank. Code points are listed because character classes such
-- as [[:space:]] depend on the database's locale, and so would what a dump can be restored into.
CREATE FUNCTION is_single_line(value text, max_characters integer) RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
RETURN char_length(value) BETWEEN 1 AND max_characters
    AND value COLLATE "C" !~ '[\u0001-\u001F\u007F-\u009F\u2028\u2029]'
    AND value COLLATE "C" !~ '^[\u0020\u00A0\u1680\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]'
    AND value COLLATE "C" !~ '[\u0020\u00A0\u1680\u2000-\u200F\u202F\u205F\u2060\u3000\uFEFF]$';

CREATE TABLE locations (
    -- GENERATED ALWAYS and no cycle: an id is never chosen by a writer and never used again.
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL,
    category text NOT NULL REFERENCES categories (name),
    latitude double precision NOT NULL,
    longitude double precision NOT NULL,
    featured boolean NOT NULL DEFAULT false,
    address text,
    website text,
    source_dataset text,
    source_id text,
    source_license text,
    -- Both are null only where latitude or longitude is out of range, which the checks refuse. A
    -- NOT NULL here would be tested before them, and blame the wrong column.
    geog geography(Point, 4326) GENERATED ALWAYS AS (location_point(latitude, longitude)) STORED,
    -- What the service orders by; see geocentric_point.
    geocentric geometry(PointZ) GENERATED ALWAYS AS (geocentric_point(latitude, longitude)) STORED,

    -- NaN is greater than every number, so the ranges refuse it along with the infinities.
    CONSTRAINT locations_latitude_is_in_range CHECK (latitude BETWEEN -90 AND 90),
    CONSTRAINT locations_longitude_is_in_range CHECK (longitude BETWEEN -180 AND 180),
    CONSTRAINT locations_name_is_single_line CHECK (is_single_line(name, 200)),
    CONSTRAINT locations_address_is_single_line CHECK (is_single_line(address, 300)),
    -- An app opens this on a tap: only http and https (never javascript:), a host without user
    -- name or password, and only characters that RFC 3986 allows, so that every URL parser reads
    -- the same. International names are written in punycode and percent-encoding.
    CONSTRAINT locations_website_is_http_url CHECK (
        char_length(website) <= 2048
        AND website ~ '^https?://([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(:[0-9]{1,5})?([/?#][]!#-;=?-Z_a-z~[]*)?$'
    ),
    CONSTRAINT locations_source_dataset_is_single_line CHECK (is_single_line(source_dataset, 100)),
    CONSTRAINT locations_source_id_is_single_line CHECK (is_single_line(source_id, 200)),
    CONSTRAINT locations_source_license_is_single_line CHECK (is_single_line(source_license, 200)),
    CONSTRAINT locations_source_is_complete_or_absent
        CHECK (num_nulls(source_dataset, source_id, source_license) IN (0, 3)),
    -- By this an import finds the row again, which so keeps its id.
    CONSTRAINT locations_source_is_unique UNIQUE (source_dataset, source_id)
);

CREATE INDEX locations_geog_idx ON locations USING gist (geog);
CREATE INDEX locations_geocentric_idx ON locations USING gist (geocentric gist_geometry_ops_nd);

COMMENT ON TABLE locations IS
    'Points of interest. Written in spatial order (ORDER BY geog) the table answers several times faster.';
COMMENT ON COLUMN locations.latitude IS 'WGS 84 degrees, as given; exact distances use this.';
COMMENT ON COLUMN locations.longitude IS 'WGS 84 degrees, as given; exact distances use this.';
COMMENT ON COLUMN locations.source_dataset IS 'The dataset the row came from, such as poi-seed-world.';
COMMENT ON COLUMN locations.source_id IS 'The dataset''s own, stable id of the place.';
COMMENT ON COLUMN locations.source_license IS 'An SPDX identifier where there is one.';
COMMENT ON COLUMN locations.geog IS 'For queries in the terms of PostGIS; compare with location_point(latitude, longitude).';
COMMENT ON COLUMN locations.geocentric IS 'For the nearest places; compare with geocentric_point(latitude, longitude) by <<->> and ST_3DDWithin.';

-- migrate:down

DROP TABLE locations;
DROP FUNCTION is_single_line(text, integer);
