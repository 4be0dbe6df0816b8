-- What Prometheus should know of a machine with PostgreSQL, in its text format: for the textfile collector of the node
-- exporter, every five minutes, by poi-database-metrics.timer. See Documentation/backups.md.
\set backups `pgbackrest --output=json info`
\qecho '# HELP poi_backup_completed_timestamp_seconds When the newest backup was completed.'
\qecho '# TYPE poi_backup_completed_timestamp_seconds gauge'
SELECT format('poi_backup_completed_timestamp_seconds{stanza="%s"} %s', stanza ->> 'name', stop)
FROM jsonb_array_elements(:'backups') AS stanza, jsonb_path_query(stanza, '$.backup[last].timestamp.stop') AS stop;

\qecho '# HELP poi_archive_succeeded_timestamp_seconds When a segment of the log was last archived.'
\qecho '# TYPE poi_archive_succeeded_timestamp_seconds gauge'
SELECT format('poi_archive_succeeded_timestamp_seconds %s', extract(epoch FROM last_archived_time))
FROM pg_stat_archiver WHERE last_archived_time IS NOT NULL;

\qecho '# HELP poi_archive_failed_timestamp_seconds When a segment of the log last could not be archived.'
\qecho '# TYPE poi_archive_failed_timestamp_seconds gauge'
SELECT format('poi_archive_failed_timestamp_seconds %s', extract(epoch FROM last_failed_time))
FROM pg_stat_archiver WHERE last_failed_time IS NOT NULL;

\qecho '# HELP poi_transaction_ids_used Transactions since the oldest row that is not frozen.'
\qecho '# TYPE poi_transaction_ids_used gauge'
SELECT format('poi_transaction_ids_used{database="%s"} %s', datname, age(datfrozenxid)) FROM pg_database;
