-- migrate:up
SELECT 'ÿ©';
-- migrate:down
