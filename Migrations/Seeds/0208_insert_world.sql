-- migrate:up

-- Famous places around the world, so that every centre has a nearest place: all continents, remote
-- islands, both poles, the meridian of Greenwich and both sides of the antimeridian. Plain facts,
-- compiled for this project; a slug is the place's id for good.
INSERT INTO locations (
    name, category, latitude, longitude, address,
    source_dataset, source_id, source_license
)
SELECT
    name, category, latitude, longitude, address,
    'poi-seed-world', slug, 'CC0-1.0'
FROM (VALUES
    -- The poles and their surroundings
    ('amundsen-scott-south-pole-station', 'Amundsen–Scott South Pole Station', 'research_station',      -90,        0, 'South Pole, Antarctica'),
    ('geographic-north-pole',             'Geographic North Pole',             'natural_feature',        90,        0, 'Arctic Ocean'),
    ('mcmurdo-station',                   'McMurdo Station',                   'research_station', -77.8463, 166.6683, 'Ross Island, Antarctica'),
    ('vostok-station',                    'Vostok Station',                    'research_station', -78.4645, 106.8373, 'Antarctica'),
    ('villa-las-estrellas',               'Villa Las Estrellas',               'town',             -62.2003, -58.9628, 'King George Island, Antarctica'),
    ('longyearbyen',                      'Longyearbyen',                      'town',              78.2232,  15.6267, 'Svalbard, Norway'),
    ('alert',                             'Alert',                             'town',              82.5018, -62.3481, 'Nunavut, Canada'),

    -- Europe
    ('royal-observatory-greenwich', 'Royal Observatory Greenwich', 'observatory',      51.4779,        0, 'London, United Kingdom'),
    ('eiffel-tower',                'Eiffel Tower',                'tower',            48.8584,   2.2945, 'Paris, France'),
    ('sagrada-familia',             'Sagrada Família',             'place_of_worship', 41.4036,   2.1744, 'Barcelona, Spain'),
    ('colosseum',                   'Colosseum',                   'historic_site',    41.8902,  12.4922, 'Rome, Italy'),
    ('matterhorn',                  'Matterhorn',                  'mountain',         45.9764,   7.6586, 'Switzerland and Italy'),
    ('acropolis-of-athens',         'Acropolis of Athens',         'historic_site',    37.9715,  23.7267, 'Athens, Greece'),
    ('hagia-sophia',                'Hagia Sophia',                'place_of_worship', 41.0086,  28.9802, 'Istanbul, Türkiye'),
    ('red-square',                  'Red Square',                  'square',           55.7539,  37.6208, 'Moscow, Russia'),
    ('north-cape',                  'North Cape',                  'viewpoint',        71.1710,  25.7837, 'Nordkapp, Norway'),
    ('hallgrimskirkja',             'Hallgrímskirkja',             'place_of_worship', 64.1417, -21.9266, 'Reykjavík, Iceland'),

    -- Africa
    ('great-pyramid-of-giza',  'Great Pyramid of Giza',  'historic_site',     29.9792, 31.1342, 'Giza, Egypt'),
    ('jemaa-el-fnaa',          'Jemaa el-Fnaa',          'square',            31.6258, -7.9891, 'Marrakesh, Morocco'),
    ('great-mosque-of-djenne', 'Great Mosque of Djenné', 'place_of_worship',  13.9053, -4.5553, 'Djenné, Mali'),
    ('independence-arch',      'Independence Arch',      'memorial',           5.5487, -0.1925, 'Accra, Ghana'),
    ('kilimanjaro',            'Kilimanjaro',            'mountain',          -3.0674, 37.3556, 'Tanzania'),
    ('victoria-falls',         'Victoria Falls',         'waterfall',        -17.9243, 25.8572, 'Zambia and Zimbabwe'),
    ('table-mountain',         'Table Mountain',         'mountain',         -33.9628, 18.4098, 'Cape Town, South Africa'),
    ('avenue-of-the-baobabs',  'Avenue of the Baobabs',  'natural_feature',  -20.2508, 44.4186, 'Morondava, Madagascar'),

    -- Asia
    ('burj-khalifa',     'Burj Khalifa',     'tower',            25.1972,   55.2744, 'Dubai, United Arab Emirates'),
    ('petra',            'Petra',            'historic_site',    30.3285,   35.4444, 'Ma''an, Jordan'),
    ('registan',         'Registan',         'square',           39.6547,   66.9758, 'Samarkand, Uzbekistan'),
    ('taj-mahal',        'Taj Mahal',        'historic_site',    27.1751,   78.0421, 'Agra, India'),
    ('mount-everest',    'Mount Everest',    'mountain',         27.9881,   86.9250, 'Nepal and China'),
    ('angkor-wat',       'Angkor Wat',       'historic_site',    13.4125,  103.8670, 'Siem Reap, Cambodia'),
    ('marina-bay-sands', 'Marina Bay Sands', 'hotel',             1.2834,  103.8607, 'Singapore'),
    ('borobudur',        'Borobudur',        'place_of_worship', -7.6079,  110.2038, 'Magelang, Indonesia'),
    ('forbidden-city',   'Forbidden City',   'historic_site',    39.9163,  116.3972, 'Beijing, China'),
    ('tokyo-tower',      'Tokyo Tower',      'tower',            35.6586,  139.7454, 'Tokyo, Japan'),
    ('olkhon-island',    'Olkhon Island',    'natural_feature',  53.1500,  107.4000, 'Lake Baikal, Russia'),
    ('anadyr',           'Anadyr',           'town',             64.7337,  177.5089, 'Chukotka, Russia'),
    ('uelen',            'Uelen',            'town',             66.1593, -169.8091, 'Chukotka, Russia'),

    -- North and Central America
    ('golden-gate-bridge', 'Golden Gate Bridge', 'bridge',           37.8199, -122.4783, 'San Francisco, California, United States'),
    ('statue-of-liberty',  'Statue of Liberty',  'memorial',         40.6892,  -74.0445, 'New York, United States'),
    ('mather-point',       'Mather Point',       'viewpoint',        36.0617, -112.1077, 'Grand Canyon, Arizona, United States'),
    ('denali',             'Denali',             'mountain',         63.0692, -151.0070, 'Alaska, United States'),
    ('nuuk-cathedral',     'Nuuk Cathedral',     'place_of_worship', 64.1790,  -51.7440, 'Nuuk, Greenland'),
    ('chichen-itza',       'Chichén Itzá',       'historic_site',    20.6843,  -88.5678, 'Yucatán, Mexico'),
    ('morro-castle',       'Morro Castle',       'castle',           23.1506,  -82.3570, 'Havana, Cuba'),

    -- South America
    ('machu-picchu',              'Machu Picchu',              'historic_site', -13.1631, -72.5450, 'Cusco, Peru'),
    ('christ-the-redeemer',       'Christ the Redeemer',       'memorial',      -22.9519, -43.2105, 'Rio de Janeiro, Brazil'),
    ('amazon-theatre',            'Amazon Theatre',            'theatre',        -3.1303, -60.0234, 'Manaus, Brazil'),
    ('angel-falls',               'Angel Falls',               'waterfall',       5.9675, -62.5356, 'Bolívar, Venezuela'),
    ('les-eclaireurs-lighthouse', 'Les Éclaireurs Lighthouse', 'lighthouse',    -54.8715, -68.0833, 'Ushuaia, Argentina'),

    -- Australia and New Zealand
    ('sydney-opera-house', 'Sydney Opera House', 'theatre',         -33.8568, 151.2153, 'Sydney, Australia'),
    ('uluru',              'Uluru',              'natural_feature', -25.3444, 131.0369, 'Northern Territory, Australia'),
    ('bell-tower',         'The Bell Tower',     'tower',           -31.9590, 115.8580, 'Perth, Australia'),
    ('sky-tower',          'Sky Tower',          'tower',           -36.8485, 174.7622, 'Auckland, New Zealand'),

    -- Islands, and both sides of the antimeridian
    ('180th-meridian-marker',       '180th Meridian Marker',       'memorial',         -16.8420,       180, 'Taveuni, Fiji'),
    ('haamonga-a-maui',             'Haʻamonga ʻa Maui',           'historic_site',    -21.1366, -175.0481, 'Tongatapu, Tonga'),
    ('moai-of-ahu-tongariki',       'Moai of Ahu Tongariki',       'historic_site',    -27.1258, -109.2770, 'Rapa Nui, Chile'),
    ('mauna-kea-observatories',     'Mauna Kea Observatories',     'observatory',       19.8260, -155.4747, 'Hawaii, United States'),
    ('adamstown',                   'Adamstown',                   'town',             -25.0667, -130.1000, 'Pitcairn Islands'),
    ('edinburgh-of-the-seven-seas', 'Edinburgh of the Seven Seas', 'town',             -37.0675,  -12.3111, 'Tristan da Cunha'),
    ('port-aux-francais',           'Port-aux-Français',           'research_station', -49.3500,   70.2167, 'Kerguelen Islands'),
    ('jamestown',                   'Jamestown',                   'town',             -15.9244,   -5.7181, 'Saint Helena'),
    ('male-friday-mosque',          'Male Friday Mosque',          'place_of_worship',   4.1780,   73.5122, 'Malé, Maldives')
) AS place (slug, name, category, latitude, longitude, address)
-- Neighbours on the map become neighbours on the page.
ORDER BY location_point(latitude, longitude);

-- migrate:down

DELETE FROM locations WHERE source_dataset = 'poi-seed-world';
