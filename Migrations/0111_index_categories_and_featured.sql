-- poi:oldest-program 0.1.0
-- migrate:up

-- What PostgreSQL finds places by where it is asked directly: those of a category and the featured ones, wherever they are.
-- What is near is found by locations_geocentric_idx; the planner combines both, or takes the better one.
CREATE INDEX locations_category_idx ON locations (category);

CREATE INDEX locations_featured_idx ON locations (id) WHERE featured;

-- migrate:down

DROP INDEX locations_featured_idx;
DROP INDEX locations_category_idx;
