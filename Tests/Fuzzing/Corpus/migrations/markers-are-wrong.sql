SELECT 1;
-- migrate:up
-- migrate:up transaction:maybe
-- migrate:sideways
-- migrate:down
