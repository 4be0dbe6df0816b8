-- migrate:up transaction:false
SELECT 1; SELECT 2;
-- migrate:down
