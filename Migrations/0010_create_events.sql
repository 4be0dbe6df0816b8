-- migrate:up

-- What apps tell of their use, a partition a month by the phone's own time, so that an event that is sent again
-- meets its first self. A clock that is far off leads into the DEFAULT partition and never to a refusal; when an
-- event really came is for the server to say.
CREATE TABLE events (
    id uuid NOT NULL,
    time timestamptz NOT NULL,
    received_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    user_id text NOT NULL,
    name text NOT NULL,
    value jsonb NOT NULL DEFAULT '{}',
    is_test boolean NOT NULL DEFAULT false,
    PRIMARY KEY (id, time)
) PARTITION BY RANGE (time);

COMMENT ON TABLE events IS
    'Tracking events, once each. Partitions are made by make_events_partition and dropped by drop_events_partitions: poi events maintain.';
COMMENT ON COLUMN events.time IS 'When it happened, by the phone''s clock.';
COMMENT ON COLUMN events.user_id IS 'Who did it, or a keyed hash of that.';

CREATE TABLE events_default PARTITION OF events DEFAULT;

-- Rows lie in the order in which they came, and exports ask for a range of that.
CREATE INDEX events_received_at_idx ON events USING brin (received_at);

-- migrate:down

DROP TABLE events;
