-- poi:oldest-program 0.1.0
-- migrate:up

-- Some of what is known of the seeds, so that there is something to filter by.
INSERT INTO filterable_properties (name, type) VALUES
    ('architects', 'text'),
    ('material', 'text'),
    ('religions', 'text'),
    ('world_heritage', 'boolean')
ON CONFLICT (name) DO NOTHING;

-- migrate:down

DELETE FROM filterable_properties WHERE name IN ('architects', 'material', 'religions', 'world_heritage');
