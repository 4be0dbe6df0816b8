-- migrate:up

-- What is known of some seeds besides, and which of them a map labels first. Plain facts, compiled for this project.
UPDATE locations SET importance = described.importance, properties = described.properties::jsonb
FROM (VALUES
    -- San José
    ('winchester-mystery-house',           600, '{"opened": 1923, "rooms": 160, "built": {"from": 1886, "to": 1922}}'),
    ('san-jose-mcenery-convention-center', 500, '{"opened": 1989}'),
    ('sap-center',                         450, '{"opened": 1993, "seats": 17562, "also_known_as": ["San Jose Arena", "The Tank"]}'),
    ('excite-ballpark',                    200, '{"opened": 1942}'),
    ('san-jose-municipal-rose-garden',     300, '{"opened": 1937}'),
    ('rosicrucian-egyptian-museum',        300, '{"opened": 1966}'),

    -- The world
    ('royal-observatory-greenwich',        700, '{"world_heritage": true, "founded": 1675}'),
    ('eiffel-tower',                       950, '{"height_metres": 330, "opened": 1889, "material": "wrought iron"}'),
    ('sagrada-familia',                    850, '{"world_heritage": true, "architects": ["Antoni Gaudí", "Francisco de Paula del Villar"], "built": {"from": 1882, "to": null}}'),
    ('colosseum',                          900, '{"world_heritage": true, "built": {"from": 70, "to": 80}}'),
    ('matterhorn',                         750, '{"elevation_metres": 4478}'),
    ('acropolis-of-athens',                850, '{"world_heritage": true}'),
    ('hagia-sophia',                       850, '{"world_heritage": true, "built": {"from": 532, "to": 537}}'),
    ('great-pyramid-of-giza',              950, '{"world_heritage": true, "height_metres": 138.5}'),
    ('kilimanjaro',                        850, '{"world_heritage": true, "elevation_metres": 5895}'),
    ('victoria-falls',                     800, '{"world_heritage": true, "height_metres": 108}'),
    ('table-mountain',                     700, '{"elevation_metres": 1086}'),
    ('burj-khalifa',                       900, '{"height_metres": 828, "opened": 2010, "material": "reinforced concrete"}'),
    ('petra',                              850, '{"world_heritage": true}'),
    ('taj-mahal',                          950, '{"world_heritage": true, "material": "marble"}'),
    ('mount-everest',                     1000, '{"elevation_metres": 8848.86}'),
    ('angkor-wat',                         900, '{"world_heritage": true, "religions": ["Hinduism", "Buddhism"]}'),
    ('borobudur',                          800, '{"world_heritage": true, "religions": ["Buddhism"]}'),
    ('forbidden-city',                     900, '{"world_heritage": true, "built": {"from": 1406, "to": 1420}}'),
    ('tokyo-tower',                        800, '{"height_metres": 333, "opened": 1958, "material": "steel"}'),
    ('golden-gate-bridge',                 900, '{"world_heritage": false, "length_metres": 2737, "opened": 1937, "material": "steel"}'),
    ('statue-of-liberty',                  950, '{"world_heritage": true, "height_metres": 93, "opened": 1886, "material": "copper"}'),
    ('denali',                             750, '{"elevation_metres": 6190}'),
    ('chichen-itza',                       850, '{"world_heritage": true}'),
    ('machu-picchu',                       950, '{"world_heritage": true}'),
    ('christ-the-redeemer',                900, '{"height_metres": 30, "opened": 1931, "material": "reinforced concrete"}'),
    ('angel-falls',                        750, '{"height_metres": 979}'),
    ('sydney-opera-house',                 950, '{"world_heritage": true, "opened": 1973}'),
    ('uluru',                              850, '{"world_heritage": true, "elevation_metres": 863}'),
    ('sky-tower',                          600, '{"height_metres": 328, "opened": 1997, "material": "reinforced concrete"}')
) AS described (slug, importance, properties)
WHERE source_dataset LIKE 'poi-seed-%' AND source_id = described.slug;

-- Names in other languages, and others by which some of them are known.
UPDATE locations SET names = named.names::jsonb, other_names = string_to_array(named.others, '; ')
FROM (VALUES
    ('eiffel-tower',          '{"fr": "Tour Eiffel", "de": "Eiffelturm", "ja": "エッフェル塔", "zh": "埃菲尔铁塔", "ar": "برج إيفل"}', NULL),
    ('colosseum',             '{"it": "Colosseo", "de": "Kolosseum"}', 'Flavian Amphitheatre'),
    ('matterhorn',            '{"it": "Cervino", "fr": "Cervin"}', 'Monte Cervino; Mont Cervin'),
    ('acropolis-of-athens',   '{"el": "Ακρόπολη Αθηνών"}', NULL),
    ('hagia-sophia',          '{"tr": "Ayasofya", "el": "Αγία Σοφία"}', NULL),
    ('red-square',            '{"ru": "Красная площадь", "de": "Roter Platz"}', NULL),
    ('great-pyramid-of-giza', '{"ar": "الهرم الأكبر", "de": "Cheops-Pyramide"}', 'Pyramid of Khufu; Pyramid of Cheops'),
    ('taj-mahal',             '{"hi": "ताज महल"}', NULL),
    ('mount-everest',         '{"ne": "सगरमाथा", "zh": "珠穆朗玛峰", "zh-Hant": "聖母峰"}', 'Sagarmatha; Qomolangma'),
    ('angkor-wat',            '{"km": "អង្គរវត្ត"}', NULL),
    ('forbidden-city',        '{"zh": "紫禁城", "de": "Verbotene Stadt"}', 'Palace Museum'),
    ('tokyo-tower',           '{"ja": "東京タワー"}', NULL),
    ('burj-khalifa',          '{"ar": "برج خليفة"}', 'Burj Dubai'),
    ('statue-of-liberty',     '{"fr": "Statue de la Liberté", "de": "Freiheitsstatue", "es": "Estatua de la Libertad"}', NULL),
    ('christ-the-redeemer',   '{"pt": "Cristo Redentor"}', NULL),
    ('uluru',                 NULL, 'Ayers Rock'),
    ('denali',                NULL, 'Mount McKinley'),
    ('sydney-opera-house',    '{"zh": "悉尼歌剧院", "zh-Hant": "雪梨歌劇院"}', NULL),
    ('table-mountain',        '{"af": "Tafelberg"}', NULL)
) AS named (slug, names, others)
WHERE source_dataset LIKE 'poi-seed-%' AND source_id = named.slug;

-- Some of what is known of the seeds, so that there is something to filter by.
INSERT INTO filterable_properties (name, type) VALUES
    ('architects', 'text'),
    ('material', 'text'),
    ('religions', 'text'),
    ('world_heritage', 'boolean')
ON CONFLICT (name) DO NOTHING;

-- migrate:down

DELETE FROM filterable_properties WHERE name IN ('architects', 'material', 'religions', 'world_heritage');

UPDATE locations SET importance = 0, properties = NULL, names = NULL, other_names = NULL
WHERE source_dataset LIKE 'poi-seed-%';
