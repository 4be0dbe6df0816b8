-- migrate:up

-- What people say is wrong with places, or missing. A place that goes leaves its reports: they have no key to it.
CREATE TABLE place_reports (
    -- Made by the app, so that a report that is sent again is there once.
    id uuid PRIMARY KEY,
    -- The order in which they came.
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY UNIQUE,
    reported_at timestamptz NOT NULL DEFAULT now(),
    place_id bigint,
    latitude double precision CHECK (latitude BETWEEN -90 AND 90),
    longitude double precision CHECK (longitude BETWEEN -180 AND 180),
    reason text NOT NULL CHECK (reason IN ('closed', 'moved', 'wrong', 'duplicate', 'missing', 'other')),
    text text CHECK (char_length(text) BETWEEN 1 AND 500),
    status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'done', 'rejected')),
    note text CHECK (char_length(note) BETWEEN 1 AND 500),
    -- The editor who set the status or the note last, and when.
    changed_by text,
    changed_at timestamptz,
    CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CHECK (place_id IS NOT NULL OR latitude IS NOT NULL)
);

COMMENT ON TABLE place_reports IS
    'What people say is wrong with places. Their texts are personal data: poi reports maintain deletes old ones.';

CREATE INDEX place_reports_page_idx ON place_reports (status, number);
CREATE INDEX place_reports_reported_at_idx ON place_reports (reported_at);

-- Deletes the oldest reports that are kept no longer, at most max_count, NULL for all, and returns how many there were.
CREATE FUNCTION delete_outdated_place_reports(retention_days integer, max_count bigint) RETURNS bigint
LANGUAGE sql
AS $$
    WITH outdated AS (
        DELETE FROM place_reports WHERE id = ANY (ARRAY(
            SELECT id FROM place_reports WHERE reported_at < now() - retention_days * interval '1 day'
            ORDER BY reported_at LIMIT max_count FOR UPDATE SKIP LOCKED))
        RETURNING id)
    SELECT count(*) FROM outdated
$$;

-- Stores a report, unless there is one with its id, and deletes a few outdated ones, so that no server needs a cron job.
CREATE FUNCTION store_place_report(
    report_id uuid, place_id bigint, latitude double precision, longitude double precision, reason text, report_text text,
    retention_days integer
) RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
AS $$
BEGIN
    PERFORM delete_outdated_place_reports(retention_days, 10);
    INSERT INTO place_reports (id, place_id, latitude, longitude, reason, text)
        VALUES (report_id, place_id, latitude, longitude, reason, report_text) ON CONFLICT DO NOTHING;
END;
$$;

-- The newest reports of a status that came before the one with a number, or NULL for no such bound.
CREATE FUNCTION place_reports_page(wanted_status text, before_number bigint, max_count integer) RETURNS SETOF place_reports
LANGUAGE sql
STABLE
SECURITY DEFINER
AS $$
    SELECT * FROM place_reports
    WHERE status = wanted_status AND number < coalesce(before_number, 9223372036854775807)
    ORDER BY number DESC LIMIT max_count
$$;

-- Sets a report's status, unless that is NULL, and its note where that is to change. Returns the report; no row if there is none.
CREATE FUNCTION settle_place_report(report_id uuid, new_status text, changes_note boolean, new_note text, editor text)
RETURNS SETOF place_reports
LANGUAGE sql
SECURITY DEFINER
AS $$
    UPDATE place_reports SET status = coalesce(new_status, status),
        note = CASE WHEN changes_note THEN new_note ELSE note END, changed_by = editor, changed_at = now()
    WHERE id = report_id RETURNING *
$$;

-- Removes all that is known of a report; whether there was one.
CREATE FUNCTION delete_place_report(report_id uuid) RETURNS boolean
LANGUAGE sql
SECURITY DEFINER
AS $$
    WITH deleted AS (DELETE FROM place_reports WHERE id = report_id RETURNING id) SELECT EXISTS (SELECT FROM deleted)
$$;

DO $$
DECLARE
    signature regprocedure;
BEGIN
    FOR signature IN
        SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND proname = ANY (ARRAY[
            'delete_outdated_place_reports', 'store_place_report', 'place_reports_page', 'settle_place_report',
            'delete_place_report'])
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', signature, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', signature);
    END LOOP;
END;
$$;

SELECT grant_roles();

-- migrate:down

DROP FUNCTION delete_place_report(uuid);
DROP FUNCTION settle_place_report(uuid, text, boolean, text, text);
DROP FUNCTION place_reports_page(text, bigint, integer);
DROP FUNCTION store_place_report(uuid, bigint, double precision, double precision, text, text, integer);
DROP FUNCTION delete_outdated_place_reports(integer, bigint);
DROP TABLE place_reports;
