-- migrate:up

-- From where datasets are refreshed, and how that went: poi refresh. Not in datasets, since their rows are for everybody; nor
-- with a key to them, since a first refresh may fail before there is a dataset.
CREATE TABLE dataset_refreshes (
    dataset text PRIMARY KEY,
    -- May have a password or a token. Null until a file from there was imported, as are the next three.
    source text,
    -- What the server said that file is in, so that it is downloaded again only when it has changed.
    etag text,
    last_modified text,
    import_id bigint,
    attempted_at timestamptz NOT NULL DEFAULT now(),
    succeeded_at timestamptz,
    -- Whether the last success was that the file is still the one of the import.
    is_unchanged boolean NOT NULL DEFAULT false,
    failed_at timestamptz,
    failure text,

    CONSTRAINT dataset_refreshes_dataset_is_single_line CHECK (is_single_line(dataset, 100)),
    CONSTRAINT dataset_refreshes_failure_has_time CHECK ((failure IS NULL) = (failed_at IS NULL))
);

COMMENT ON TABLE dataset_refreshes IS
    'From where datasets are refreshed, and how that went. A source may have a password: other roles read the rest.';

-- What there was before gets what is new beside it.
ALTER FUNCTION grant_roles() RENAME TO grant_roles_until_0214;

CREATE FUNCTION grant_roles() RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM grant_roles_until_0214();
    IF to_regrole('poi_serve') IS NOT NULL THEN
        -- How refreshes went, and not from where.
        GRANT SELECT (dataset, import_id, attempted_at, succeeded_at, is_unchanged, failed_at, failure)
            ON dataset_refreshes TO poi_serve;
    END IF;
END;
$$;

COMMENT ON FUNCTION grant_roles() IS
    'Gives the roles of deploy/postgres/roles.sql their rights, where there are such roles. Call it as the tables'' owner.';

REVOKE EXECUTE ON FUNCTION grant_roles() FROM PUBLIC;

SELECT grant_roles();

-- migrate:down

DROP FUNCTION grant_roles();
ALTER FUNCTION grant_roles_until_0214() RENAME TO grant_roles;
DROP TABLE dataset_refreshes;
