-- poi:oldest-program 1.2.3
-- migrate:up transaction:false
CREATE INDEX CONCURRENTLY a ON b (c);
-- migrate:down transaction:true
DROP INDEX a;
