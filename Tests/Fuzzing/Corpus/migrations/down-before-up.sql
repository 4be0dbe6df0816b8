-- migrate:down
SELECT 1;
-- migrate:up
