-- poi:oldest-program 1.2
-- migrate:up
SELECT 1;
-- migrate:down
