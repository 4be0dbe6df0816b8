-- migrate:up

-- Well-known places of central San José, California: plain facts, compiled for this project.
-- Positions are good to about 100 m. A slug is the place's id for good: a later seed that
-- corrects a place finds it by its slug.
INSERT INTO locations (
    name, category, latitude, longitude, featured, address, website,
    source_dataset, source_id, source_license
)
SELECT
    name, category, latitude, longitude, featured, street || ', San José, CA', website,
    'poi-seed-san-jose', slug, 'CC0-1.0'
FROM (VALUES
    -- Museums, galleries and arts centres
    ('tech-interactive',                       'The Tech Interactive',                     'museum',      37.3316, -121.8901, true,  '201 S Market St',   'https://www.thetech.org/'),
    ('san-jose-museum-of-art',                 'San José Museum of Art',                   'museum',      37.3337, -121.8900, true,  '110 S Market St',   'https://sjmusart.org/'),
    ('childrens-discovery-museum-of-san-jose', 'Children''s Discovery Museum of San José', 'museum',      37.3267, -121.8921, true,  '180 Woz Way',       'https://www.cdm.org/'),
    ('san-jose-museum-of-quilts-and-textiles', 'San José Museum of Quilts & Textiles',     'museum',      37.3283, -121.8843, false, '520 S 1st St',      NULL),
    ('institute-of-contemporary-art-san-jose', 'Institute of Contemporary Art San José',   'gallery',     37.3279, -121.8840, false, '560 S 1st St',      'https://www.icasanjose.org/'),
    ('macla',                                  'MACLA',                                    'arts_centre', 37.3285, -121.8844, false, '510 S 1st St',      'https://maclaarte.org/'),
    ('anno-domini',                            'Anno Domini',                              'gallery',     37.3307, -121.8862, false, '366 S 1st St',      NULL),
    ('local-color',                            'Local Color',                              'arts_centre', 37.3354, -121.8907, false, NULL,                NULL),
    ('japanese-american-museum-of-san-jose',   'Japanese American Museum of San José',     'museum',      37.3480, -121.8938, false, '535 N 5th St',      'https://www.jamsj.org/'),
    ('rosicrucian-egyptian-museum',            'Rosicrucian Egyptian Museum',              'museum',      37.3335, -121.9230, true,  '1660 Park Ave',     'https://egyptianmuseum.org/'),
    ('history-park',                           'History Park',                             'museum',      37.3192, -121.8585, false, '635 Phelan Ave',    'https://historysanjose.org/'),
    ('school-of-visual-philosophy',            'School of Visual Philosophy',              'arts_centre', 37.3318, -121.9110, false, NULL,                NULL),
    ('alameda-artworks',                       'The Alameda ArtWorks',                     'arts_centre', 37.3309, -121.9110, false, NULL,                NULL),
    ('childrens-musical-theater-san-jose',     'Children''s Musical Theater San Jose',     'arts_centre', 37.3176, -121.9168, false, '1545 Parkmoor Ave', NULL),

    -- Theatres and halls
    ('san-jose-civic',                          'San Jose Civic',                          'theatre',   37.3307, -121.8897, false, '135 W San Carlos St',      NULL),
    ('montgomery-theater',                      'Montgomery Theater',                      'theatre',   37.3309, -121.8893, false, NULL,                       NULL),
    ('california-theatre',                      'California Theatre',                      'theatre',   37.3306, -121.8872, false, '345 S 1st St',             NULL),
    ('san-jose-center-for-the-performing-arts', 'San Jose Center for the Performing Arts', 'theatre',   37.3297, -121.8925, false, '255 S Almaden Blvd',       NULL),
    ('hammer-theatre-center',                   'Hammer Theatre Center',                   'theatre',   37.3338, -121.8865, false, '101 Paseo de San Antonio', 'https://hammertheatre.com/'),
    ('san-jose-stage-company',                  'San Jose Stage Company',                  'theatre',   37.3290, -121.8848, false, '490 S 1st St',             'https://www.thestage.org/'),
    ('city-lights-theater-company',             'City Lights Theater Company',             'theatre',   37.3284, -121.8839, false, '529 S 2nd St',             'https://cltc.org/'),
    ('san-jose-improv',                         'San Jose Improv',                         'theatre',   37.3356, -121.8883, false, '62 S 2nd St',              NULL),
    ('tabard-theatre',                          'Tabard Theatre',                          'theatre',   37.3355, -121.8935, false, '29 N San Pedro St',        NULL),
    ('hoover-theatre',                          'Hoover Theatre',                          'theatre',   37.3328, -121.9233, false, NULL,                       NULL),
    ('northside-theatre-company',               'Northside Theatre Company',               'theatre',   37.3377, -121.8670, false, '848 E William St',         NULL),
    ('le-petit-trianon',                        'Le Petit Trianon',                        'theatre',   37.3394, -121.8867, false, '72 N 5th St',              NULL),
    ('ritz',                                    'The Ritz',                                'nightclub', 37.3301, -121.8856, false, '400 S 1st St',             NULL),
    ('morris-dailey-auditorium',                'Morris Dailey Auditorium',                'theatre',   37.3353, -121.8831, false, NULL,                       NULL),

    -- Conventions, sport and games
    ('san-jose-mcenery-convention-center',  'San Jose McEnery Convention Center',  'conference_centre', 37.3290, -121.8888, true,  '150 W San Carlos St',  NULL),
    ('sap-center',                          'SAP Center',                          'stadium',           37.3328, -121.9013, true,  '525 W Santa Clara St', 'https://www.sapcenter.com/'),
    ('provident-credit-union-event-center', 'Provident Credit Union Event Center', 'stadium',           37.3348, -121.8799, false, '290 S 7th St',         NULL),
    ('cefcu-stadium',                       'CEFCU Stadium',                       'stadium',           37.3197, -121.8683, false, '1251 S 10th St',       NULL),
    ('excite-ballpark',                     'Excite Ballpark',                     'stadium',           37.3206, -121.8624, false, '588 E Alma Ave',       NULL),
    ('paypal-park',                         'PayPal Park',                         'stadium',           37.3513, -121.9246, false, '1123 Coleman Ave',     NULL),

    -- Squares, parks and gardens
    ('plaza-de-cesar-chavez',          'Plaza de César Chávez',          'square', 37.3322, -121.8899, true,  NULL,             NULL),
    ('circle-of-palms-plaza',          'Circle of Palms Plaza',          'square', 37.3333, -121.8898, false, NULL,             NULL),
    ('fountain-alley',                 'Fountain Alley',                 'square', 37.3354, -121.8891, false, NULL,             NULL),
    ('st-james-park',                  'St. James Park',                 'park',   37.3387, -121.8906, false, NULL,             NULL),
    ('discovery-meadow',               'Discovery Meadow',               'park',   37.3273, -121.8930, false, NULL,             NULL),
    ('arena-green',                    'Arena Green',                    'park',   37.3331, -121.8985, false, NULL,             NULL),
    ('guadalupe-river-park',           'Guadalupe River Park',           'park',   37.3411, -121.9023, false, NULL,             'https://www.grpg.org/'),
    ('cahill-park',                    'Cahill Park',                    'park',   37.3293, -121.9055, false, NULL,             NULL),
    ('ryland-park',                    'Ryland Park',                    'park',   37.3427, -121.8957, false, NULL,             NULL),
    ('backesto-park',                  'Backesto Park',                  'park',   37.3512, -121.8845, false, NULL,             NULL),
    ('roosevelt-park',                 'Roosevelt Park',                 'park',   37.3449, -121.8722, false, NULL,             NULL),
    ('kelley-park',                    'Kelley Park',                    'park',   37.3234, -121.8612, false, '1300 Senter Rd', NULL),
    ('japanese-friendship-garden',     'Japanese Friendship Garden',     'garden', 37.3225, -121.8608, false, NULL,             NULL),
    ('san-jose-municipal-rose-garden', 'San José Municipal Rose Garden', 'garden', 37.3320, -121.9284, true,  NULL,             NULL),
    ('overfelt-gardens-park',          'Overfelt Gardens Park',          'garden', 37.3665, -121.8562, false, NULL,             NULL),
    ('emma-prusch-farm-park',          'Emma Prusch Farm Park',          'park',   37.3406, -121.8459, false, '647 S King Rd',  NULL),
    ('rosicrucian-park',               'Rosicrucian Park',               'garden', 37.3338, -121.9226, false, '1660 Park Ave',  NULL),

    -- Historic sites and government
    ('peralta-adobe-and-fallon-house',    'Peralta Adobe and Fallon House',     'historic_site', 37.3369, -121.8949, false, '175 W St John St',      NULL),
    ('bank-of-italy-building',            'Bank of Italy Building',             'historic_site', 37.3358, -121.8900, false, '12 S 1st St',           NULL),
    ('old-santa-clara-county-courthouse', 'Old Santa Clara County Courthouse',  'historic_site', 37.3384, -121.8924, false, '161 N 1st St',          NULL),
    ('st-james-park-post-office',         'St. James Park Post Office',         'historic_site', 37.3378, -121.8917, false, '105 N 1st St',          NULL),
    ('winchester-mystery-house',          'Winchester Mystery House',           'historic_site', 37.3184, -121.9510, true,  '525 S Winchester Blvd', 'https://winchestermysteryhouse.com/'),
    ('mission-santa-clara-de-asis',       'Mission Santa Clara de Asís',        'historic_site', 37.3493, -121.9416, false, NULL,                    NULL),
    ('san-jose-city-hall',                'San José City Hall',                 'government',    37.3378, -121.8862, true,  '200 E Santa Clara St',  'https://www.sanjoseca.gov/'),
    ('robert-f-peckham-federal-building', 'Robert F. Peckham Federal Building', 'government',    37.3322, -121.8868, false, '280 S 1st St',          NULL),

    -- Universities, schools and libraries
    ('san-jose-state-university',             'San José State University',             'university',    37.3352, -121.8811, false, '1 Washington Sq',       'https://www.sjsu.edu/'),
    ('tower-hall',                            'Tower Hall',                            'historic_site', 37.3352, -121.8834, false, NULL,                    NULL),
    ('dr-martin-luther-king-jr-library',      'Dr. Martin Luther King, Jr. Library',   'library',       37.3355, -121.8850, false, '150 E San Fernando St', 'https://www.sjpl.org/'),
    ('east-san-jose-carnegie-branch-library', 'East San José Carnegie Branch Library', 'library',       37.3465, -121.8683, false, '1102 E Santa Clara St', NULL),
    ('bellarmine-college-preparatory',        'Bellarmine College Preparatory',        'school',        37.3428, -121.9180, false, '960 W Hedding St',      'https://www.bcp.org/'),

    -- Places of worship
    ('cathedral-basilica-of-st-joseph',        'Cathedral Basilica of St. Joseph',       'place_of_worship', 37.3341, -121.8904, true,  '80 S Market St',        NULL),
    ('trinity-episcopal-cathedral',            'Trinity Episcopal Cathedral',            'place_of_worship', 37.3378, -121.8907, false, '81 N 2nd St',           NULL),
    ('first-unitarian-church-of-san-jose',     'First Unitarian Church of San José',     'place_of_worship', 37.3397, -121.8899, false, '160 N 3rd St',          NULL),
    ('first-church-of-christ-scientist',       'First Church of Christ, Scientist',      'historic_site',    37.3396, -121.8923, false, '43 E St James St',      NULL),
    ('our-lady-of-la-vang-parish',             'Our Lady of La Vang Parish',             'place_of_worship', 37.3402, -121.8831, false, NULL,                    NULL),
    ('first-immanuel-lutheran-church',         'First Immanuel Lutheran Church',         'place_of_worship', 37.3318, -121.8840, false, '374 S 3rd St',          NULL),
    ('st-pauls-united-methodist-church',       'St. Paul''s United Methodist Church',    'place_of_worship', 37.3341, -121.8770, false, NULL,                    NULL),
    ('grace-baptist-church',                   'Grace Baptist Church',                   'place_of_worship', 37.3389, -121.8790, false, '484 E San Fernando St', NULL),
    ('sacred-heart-of-jesus-church',           'Sacred Heart of Jesus Church',           'place_of_worship', 37.3177, -121.8851, false, '325 Willow St',         NULL),
    ('antioch-baptist-church',                 'Antioch Baptist Church',                 'place_of_worship', 37.3431, -121.8878, false, '268 E Julian St',       NULL),
    ('san-jose-buddhist-church-betsuin',       'San Jose Buddhist Church Betsuin',       'place_of_worship', 37.3501, -121.8946, false, '640 N 5th St',          'https://www.sjbetsuin.com/'),
    ('wesley-united-methodist-church',         'Wesley United Methodist Church',         'place_of_worship', 37.3484, -121.8936, false, '566 N 5th St',          NULL),
    ('holy-cross-church',                      'Holy Cross Church',                      'place_of_worship', 37.3522, -121.8867, false, '580 E Jackson St',      NULL),
    ('five-wounds-portuguese-national-church', 'Five Wounds Portuguese National Church', 'place_of_worship', 37.3496, -121.8638, false, '1375 E Santa Clara St', NULL),
    ('st-leo-the-great-church',                'St. Leo the Great Church',               'place_of_worship', 37.3289, -121.9114, false, '88 Race St',            NULL),
    ('temple-emanu-el',                        'Temple Emanu-El',                        'place_of_worship', 37.3403, -121.9203, false, '1010 University Ave',   NULL),
    ('westminster-presbyterian-church',        'Westminster Presbyterian Church',        'place_of_worship', 37.3325, -121.9140, false, '1100 Shasta Ave',       NULL),
    ('st-nicholas-greek-orthodox-church',      'St. Nicholas Greek Orthodox Church',     'place_of_worship', 37.3405, -121.9275, false, '1260 Davis St',         NULL),

    -- Public art and memorials
    ('plumed-serpent-quetzalcoatl',           'Plumed Serpent (Quetzalcóatl)',          'public_art', 37.3308, -121.8884, false, NULL,           NULL),
    ('idea-tree',                             'Idea Tree',                              'public_art', 37.3303, -121.8892, false, NULL,           NULL),
    ('san-jose-semaphore',                    'San José Semaphore',                     'public_art', 37.3308, -121.8943, false, '345 Park Ave', NULL),
    ('figure-holding-the-sun',                'Figure Holding the Sun',                 'public_art', 37.3337, -121.8900, false, NULL,           NULL),
    ('sophie-holding-the-world-up',           'Sophie Holding the World Up',            'public_art', 37.3266, -121.8918, false, NULL,           NULL),
    ('man-of-fire',                           'Man of Fire',                            'public_art', 37.3335, -121.8857, false, NULL,           NULL),
    ('show-your-stripes',                     'Show Your Stripes',                      'public_art', 37.3351, -121.8873, false, NULL,           NULL),
    ('sensing-you',                           'Sensing YOU',                            'public_art', 37.3308, -121.8966, false, NULL,           NULL),
    ('waterscape',                            'Waterscape',                             'public_art', 37.3379, -121.8867, false, NULL,           NULL),
    ('victory-salute',                        'Victory Salute',                         'public_art', 37.3354, -121.8826, false, NULL,           NULL),
    ('arch-of-dignity-equality-and-justice',  'Arch of Dignity, Equality, and Justice', 'public_art', 37.3358, -121.8813, false, NULL,           NULL),
    ('japanese-american-internment-memorial', 'Japanese American Internment Memorial',  'memorial',   37.3323, -121.8866, false, '280 S 1st St', NULL),
    ('veterans-memorial',                     'Veterans Memorial',                      'memorial',   37.3292, -121.8955, false, NULL,           NULL),
    ('monopoly-in-the-park',                  'Monopoly in the Park',                   'public_art', 37.3274, -121.8925, false, NULL,           'https://www.monopolyinthepark.com/'),
    ('weavers-gift',                          'The Weavers'' Gift',                     'public_art', 37.3336, -121.8961, false, NULL,           NULL),
    ('spirit-gate',                           'Spirit Gate',                            'public_art', 37.3338, -121.9146, false, NULL,           NULL),
    ('dolores-huerta-mural',                  'Dolores Huerta Mural',                   'public_art', 37.3334, -121.8777, false, NULL,           NULL),

    -- Stations and the airport
    ('san-jose-diridon-station',              'San Jose Diridon Station',              'transit_station', 37.3302, -121.9027, false, '65 Cahill St',      NULL),
    ('diridon-station-vta',                   'Diridon Station (VTA)',                 'transit_station', 37.3287, -121.9035, false, NULL,                NULL),
    ('san-fernando-station',                  'San Fernando Station',                  'transit_station', 37.3304, -121.8981, false, NULL,                NULL),
    ('convention-center-station',             'Convention Center Station',             'transit_station', 37.3302, -121.8898, false, NULL,                NULL),
    ('childrens-discovery-museum-station',    'Children''s Discovery Museum Station',  'transit_station', 37.3278, -121.8937, false, NULL,                NULL),
    ('virginia-station',                      'Virginia Station',                      'transit_station', 37.3198, -121.8901, false, NULL,                NULL),
    ('tamien-station',                        'Tamien Station',                        'transit_station', 37.3116, -121.8846, false, NULL,                NULL),
    ('paseo-de-san-antonio-station',          'Paseo de San Antonio Station',          'transit_station', 37.3333, -121.8875, false, NULL,                NULL),
    ('santa-clara-station-vta',               'Santa Clara Station (VTA)',             'transit_station', 37.3357, -121.8895, false, NULL,                NULL),
    ('st-james-station',                      'St. James Station',                     'transit_station', 37.3384, -121.8914, false, NULL,                NULL),
    ('japantown-ayer-station',                'Japantown/Ayer Station',                'transit_station', 37.3450, -121.8971, false, NULL,                NULL),
    ('civic-center-station',                  'Civic Center Station',                  'transit_station', 37.3514, -121.9020, false, NULL,                NULL),
    ('race-station',                          'Race Station',                          'transit_station', 37.3172, -121.9108, false, NULL,                NULL),
    ('metro-airport-station',                 'Metro/Airport Station',                 'transit_station', 37.3695, -121.9155, false, NULL,                NULL),
    ('berryessa-transit-center',              'Berryessa Transit Center',              'transit_station', 37.3696, -121.8748, false, NULL,                NULL),
    ('san-jose-mineta-international-airport', 'San José Mineta International Airport', 'airport',         37.3630, -121.9286, false, '1701 Airport Blvd', 'https://www.flysanjose.com/'),

    -- Hotels
    ('signia-by-hilton-san-jose',     'Signia by Hilton San Jose',     'hotel', 37.3330, -121.8894, false, '170 S Market St',      NULL),
    ('san-jose-marriott',             'San Jose Marriott',             'hotel', 37.3302, -121.8885, false, '301 S Market St',      NULL),
    ('hilton-san-jose',               'Hilton San Jose',               'hotel', 37.3294, -121.8910, false, '300 Almaden Blvd',     NULL),
    ('westin-san-jose',               'The Westin San Jose',           'hotel', 37.3308, -121.8881, false, '302 S Market St',      NULL),
    ('hyatt-place-san-jose-downtown', 'Hyatt Place San Jose Downtown', 'hotel', 37.3298, -121.8914, false, '282 Almaden Blvd',     NULL),
    ('hotel-de-anza',                 'Hotel De Anza',                 'hotel', 37.3343, -121.8948, false, '233 W Santa Clara St', NULL),
    ('ac-hotel-san-jose-downtown',    'AC Hotel San Jose Downtown',    'hotel', 37.3331, -121.8968, false, '350 W Santa Clara St', NULL),
    ('hotel-clariana',                'Hotel Clariana',                'hotel', 37.3369, -121.8879, false, '100 E Santa Clara St', NULL),
    ('hotel-valencia-santana-row',    'Hotel Valencia Santana Row',    'hotel', 37.3211, -121.9480, false, '355 Santana Row',      NULL),

    -- Restaurants, cafés and bars
    ('original-joes',                    'Original Joe''s',                'restaurant', 37.3312, -121.8873, false, '301 S 1st St',            'https://www.originaljoes.com/'),
    ('caffe-frascati',                   'Caffe Frascati',                 'cafe',       37.3311, -121.8871, false, '315 S 1st St',            NULL),
    ('henrys-world-famous-hi-life',      'Henry''s World Famous Hi-Life',  'restaurant', 37.3353, -121.8973, false, '301 W St John St',        NULL),
    ('back-a-yard-caribbean-grill',      'Back A Yard Caribbean Grill',    'restaurant', 37.3368, -121.8926, false, '80 N Market St',          NULL),
    ('oflahertys-irish-pub',             'O''Flaherty''s Irish Pub',       'bar',        37.3353, -121.8933, false, '25 N San Pedro St',       NULL),
    ('la-victoria-taqueria',             'La Victoria Taqueria',           'restaurant', 37.3325, -121.8843, false, '140 E San Carlos St',     NULL),
    ('good-karma-artisan-ales-and-cafe', 'Good Karma Artisan Ales & Cafe', 'bar',        37.3354, -121.8902, false, '37 S 1st St',             NULL),
    ('gombei',                           'Gombei',                         'restaurant', 37.3488, -121.8946, false, '193 Jackson St',          NULL),
    ('roys-station-coffee-and-teas',     'Roy''s Station Coffee & Teas',   'cafe',       37.3489, -121.8944, false, '197 Jackson St',          NULL),
    ('shuei-do-manju-shop',              'Shuei-Do Manju Shop',            'shop',       37.3491, -121.8939, false, '217 Jackson St',          NULL),
    ('greenlees-bakery',                 'Greenlee''s Bakery',             'cafe',       37.3317, -121.9113, false, '1081 The Alameda',        NULL),
    ('art-boutiki',                      'The Art Boutiki',                'shop',       37.3305, -121.9117, false, '44 Race St',              NULL),
    ('falafels-drive-in',                'Falafel''s Drive-In',            'restaurant', 37.3236, -121.9357, false, '2301 Stevens Creek Blvd', NULL),

    -- Markets and shops
    ('san-pedro-square-market',          'San Pedro Square Market',            'marketplace',     37.3364, -121.8947, true,  '87 N San Pedro St', 'https://www.sanpedrosquaremarket.com/'),
    ('downtown-san-jose-farmers-market', 'Downtown San Jose Farmers'' Market', 'marketplace',     37.3356, -121.8932, false, NULL,                NULL),
    ('nijiya-market',                    'Nijiya Market',                      'shop',            37.3491, -121.8935, false, '240 Jackson St',    NULL),
    ('san-jose-flea-market',             'San Jose Flea Market',               'marketplace',     37.3676, -121.8769, false, '1590 Berryessa Rd', NULL),
    ('recycle-bookstore',                'Recycle Bookstore',                  'shop',            37.3313, -121.9110, false, '1066 The Alameda',  'https://www.recyclebookstore.com/'),
    ('hicklebees',                       'Hicklebee''s',                       'shop',            37.3041, -121.8974, false, '1378 Lincoln Ave',  'https://www.hicklebees.com/'),
    ('zanottos-family-market',           'Zanotto''s Family Market',           'shop',            37.3278, -121.9314, false, '1970 Naglee Ave',   NULL),
    ('santana-row',                      'Santana Row',                        'shopping_centre', 37.3207, -121.9480, false, NULL,                'https://www.santanarow.com/'),
    ('westfield-valley-fair',            'Westfield Valley Fair',              'shopping_centre', 37.3256, -121.9457, false, NULL,                NULL),

    -- Community, health
    ('billy-defrank-lgbtq-plus-community-center', 'Billy DeFrank LGBTQ+ Community Center', 'community_centre', 37.3313, -121.9080, false, '938 The Alameda',      'https://www.defrankcenter.org/'),
    ('italian-american-heritage-foundation',      'Italian American Heritage Foundation',  'community_centre', 37.3445, -121.8929, false, '425 N 4th St',         NULL),
    ('gardner-community-center',                  'Gardner Community Center',              'community_centre', 37.3197, -121.8955, false, '520 W Virginia St',    NULL),
    ('roosevelt-community-center',                'Roosevelt Community Center',            'community_centre', 37.3454, -121.8719, false, '901 E Santa Clara St', NULL),
    ('oconnor-hospital',                          'O''Connor Hospital',                    'hospital',         37.3281, -121.9382, false, '2105 Forest Ave',      NULL),
    ('santa-clara-valley-medical-center',         'Santa Clara Valley Medical Center',     'hospital',         37.3135, -121.9353, false, '751 S Bascom Ave',     NULL)
) AS place (slug, name, category, latitude, longitude, featured, street, website)
-- Neighbours on the map become neighbours on the page.
ORDER BY location_point(latitude, longitude);

-- migrate:down

DELETE FROM locations WHERE source_dataset = 'poi-seed-san-jose';
