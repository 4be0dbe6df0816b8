-- poi:oldest-program 0.1.0
-- migrate:up
CREATE TABLE a (b text CHECK (b <> ';'));
INSERT INTO a VALUES ('x');
-- migrate:down
DROP TABLE a;
