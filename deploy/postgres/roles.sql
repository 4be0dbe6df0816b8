-- The four roles of the service and what each may do, for psql, in the service's database, by a DBA:
--
--   POI_MIGRATE_PASSWORD=… POI_SERVE_PASSWORD=… POI_EVENTS_PASSWORD=… POI_EDIT_PASSWORD=… \
--     psql -d points_of_interest -f roles.sql
--
-- Before the first migration, and again whenever something here changes: it may be repeated. A role whose password
-- isn't given keeps the one it has. A password may be a SCRAM verifier, so that the server's log can't get it.
--
--   poi_migrate  owns the schema: poi migrate, poi maintain, poi events export, poi import, poi reindex,
--                poi places, poi imports, poi history
--   poi_serve    reads places: DATABASE_URL and POI_READ_DATABASE_URL of poi serve
--   poi_events   adds events: POI_EVENTS_DATABASE_URL of poi serve
--   poi_edit     corrects places and stores reports by functions: poi places, by people who should have no other right, and
--                POI_EDIT_DATABASE_URL of poi serve
--
-- Where the schema was there before the roles, run SELECT grant_roles() afterwards, as poi_migrate. This script calls nothing
-- that poi_migrate has made: it would run with the rights of the DBA.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SET search_path = pg_catalog, pg_temp;

\if :{?migrate_password}
\else
    \set migrate_password ''
    \getenv migrate_password POI_MIGRATE_PASSWORD
\endif
\if :{?serve_password}
\else
    \set serve_password ''
    \getenv serve_password POI_SERVE_PASSWORD
\endif
\if :{?events_password}
\else
    \set events_password ''
    \getenv events_password POI_EVENTS_PASSWORD
\endif

\if :{?edit_password}
\else
    \set edit_password ''
    \getenv edit_password POI_EDIT_PASSWORD
\endif

BEGIN;

SELECT format('CREATE ROLE %I', name)
FROM unnest(ARRAY['poi_migrate', 'poi_serve', 'poi_events', 'poi_edit']) AS role (name)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

ALTER ROLE poi_migrate LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE poi_serve LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE poi_events LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
ALTER ROLE poi_edit LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;

SELECT format('ALTER ROLE %I PASSWORD %L', name, password)
FROM (VALUES
    ('poi_migrate', :'migrate_password'), ('poi_serve', :'serve_password'), ('poi_events', :'events_password'),
    ('poi_edit', :'edit_password')
) AS role (name, password)
WHERE password <> '' \gexec

-- PostGIS isn't a trusted extension: who isn't superuser can't make it, and the first migration finds it here.
CREATE EXTENSION IF NOT EXISTS postgis SCHEMA public;

-- Nobody comes in without being named. The schema is the migrating role's to fill, and nobody else's.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO poi_migrate, poi_serve, poi_events, poi_edit', current_database()) \gexec
-- An import puts its rows into a temporary table first.
SELECT format('GRANT TEMPORARY ON DATABASE %I TO poi_migrate', current_database()) \gexec
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO poi_migrate;
GRANT USAGE ON SCHEMA public TO poi_serve, poi_events, poi_edit;

-- What migrations make is nobody else's until they grant it (grant_roles), functions too.
ALTER DEFAULT PRIVILEGES FOR ROLE poi_migrate REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

-- Functions that PostgreSQL gives to everybody, and by which who may only read could stop all who write: advisory locks fill
-- the table of locks, large objects and messages in the write-ahead log the disk. They are their owner's to take away, a
-- superuser's. Managed databases have none for their customers, and leave them to everybody.
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure)
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND pg_has_role(proowner, 'USAGE')
    AND proname ~ '^(pg_advisory_|pg_try_advisory_|lo_|loread$|lowrite$|pg_logical_emit_message$)' \gexec
-- Servers send such a message where events of a batch are there already.
SELECT format('GRANT EXECUTE ON FUNCTION %s TO poi_migrate, poi_events', oid::regprocedure)
FROM pg_proc
WHERE pronamespace = 'pg_catalog'::regnamespace AND pg_has_role(proowner, 'USAGE')
    AND proname = 'pg_logical_emit_message' \gexec

-- What the program asks of each session, also for sessions through a pooler that ignores it. Its own time-outs come
-- first; these are what a connection of somebody else with the same role meets.
SELECT format('ALTER ROLE %I IN DATABASE %I SET %s', name, current_database(), setting)
FROM (VALUES
    ('poi_serve', 'default_transaction_read_only = on'),
    ('poi_serve', 'jit = off'),
    ('poi_serve', 'max_parallel_workers_per_gather = 0'),
    ('poi_serve', 'statement_timeout = ''5s'''),
    ('poi_serve', 'idle_in_transaction_session_timeout = ''10s'''),
    ('poi_events', 'jit = off'),
    ('poi_events', 'statement_timeout = ''30s'''),
    ('poi_events', 'lock_timeout = ''5s'''),
    ('poi_events', 'idle_in_transaction_session_timeout = ''10s'''),
    ('poi_edit', 'jit = off'),
    ('poi_edit', 'idle_in_transaction_session_timeout = ''10s'''),
    -- Whoever waits for a table's lock holds up everybody behind him: a migration gives up and is run again.
    ('poi_migrate', 'lock_timeout = ''10s''')
) AS role (name, setting) \gexec

COMMIT;
