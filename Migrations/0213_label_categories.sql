-- migrate:up

-- What a category is called, and what people type who look for its places. A team labels its own categories with an UPDATE.
--
-- In strict mode, since the lax one looks into an array in an array. Types are asked first, so that nothing is unknown.
ALTER TABLE categories
    ADD COLUMN labels jsonb NOT NULL DEFAULT '{}',
    ADD CONSTRAINT categories_labels_are_by_language CHECK (jsonb_path_exists(labels, 'strict $ ? (
        @.type() == "object" && !exists(@.keyvalue() ? (
            !(@.key like_regex "^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")
            || @.value.type() != "array" || @.value.size() < 1 || @.value.size() > 20
            || exists(@.value[*] ? (@.type() != "string" || !(@ like_regex "^.{1,50}$")))
        ))
    )'));

COMMENT ON COLUMN categories.labels IS
    'The words for the category by language, {"de": ["Brücke", "Brücken"]}: the first one is shown as its label, and by each of them a search by relevance finds the category''s places.';

-- What the mappings that come with the server add to the vocabulary has labels, too.
INSERT INTO categories (name) VALUES ('bank'), ('cinema'), ('fast_food'), ('pharmacy') ON CONFLICT DO NOTHING;

-- The first one is a label in a list, the others are what people type. Singulars and plurals are both there, since a text
-- that is one of the words counts as naming the category, and one that only begins a word counts much less. Accents make no
-- difference, so "Läden" is "Laden" too.
UPDATE categories SET labels = built_in.labels::jsonb FROM (VALUES
    ('airport', '{
        "en": ["Airport", "airports", "airfield", "airfields", "aerodrome", "aerodromes", "heliport", "heliports"],
        "de": ["Flughafen", "Flugplatz", "Flugplätze", "Airport", "Airports", "Landeplatz", "Landeplätze", "Heliport",
            "Heliports"],
        "fr": ["Aéroport", "aéroports", "aérodrome", "aérodromes", "aérogare", "aérogares", "héliport", "héliports"],
        "es": ["Aeropuerto", "aeropuertos", "aeródromo", "aeródromos", "terminal aérea", "terminales aéreas", "helipuerto",
            "helipuertos"]
    }'),
    ('arts_centre', '{
        "en": ["Arts centre", "arts centres", "arts center", "arts centers", "cultural centre", "cultural centres",
            "cultural center", "cultural centers", "arts venue", "arts venues"],
        "de": ["Kulturzentrum", "Kulturzentren", "Kulturhaus", "Kulturhäuser", "Kulturstätte", "Kulturstätten",
            "Kunstzentrum", "Kunstzentren"],
        "fr": ["Centre culturel", "centres culturels", "centre artistique", "centres artistiques", "centre d''art",
            "centres d''art", "espace culturel", "espaces culturels", "lieu culturel", "lieux culturels",
            "maison de la culture", "maisons de la culture"],
        "es": ["Centro cultural", "centros culturales", "centro de arte", "centros de arte", "centro artístico",
            "centros artísticos", "espacio cultural", "espacios culturales", "casa de la cultura", "casas de la cultura"]
    }'),
    ('bank', '{
        "en": ["Bank", "banks", "cash machine", "cash machines", "ATM", "ATMs"],
        "de": ["Bank", "Banken", "Bankfiliale", "Bankfilialen", "Sparkasse", "Sparkassen", "Geldautomat", "Geldautomaten"],
        "fr": ["Banque", "banques", "distributeur de billets", "distributeurs de billets"],
        "es": ["Banco", "bancos", "caja de ahorros", "cajas de ahorros", "cajero automático", "cajeros automáticos"]
    }'),
    ('bar', '{
        "en": ["Bar", "bars", "pub", "pubs", "tavern", "taverns", "beer garden", "beer gardens", "wine bar", "wine bars",
            "cocktail bar", "cocktail bars"],
        "de": ["Bar", "Bars", "Kneipe", "Kneipen", "Pub", "Pubs", "Biergärten", "Weinbar", "Weinbars", "Weinstube",
            "Weinstuben", "Cocktailbar", "Cocktailbars"],
        "fr": ["Bar", "bars", "pub", "pubs", "taverne", "tavernes", "bar à vins", "bars à vins", "bar à cocktails",
            "bars à cocktails", "bar à bières", "bars à bières", "boire un verre"],
        "es": ["Bar", "bares", "pub", "pubs", "taberna", "tabernas", "cervecería", "cervecerías", "coctelería", "coctelerías",
            "bar de copas", "bares de copas", "bar de tapas", "bares de tapas", "bar de vinos", "bares de vinos", "cantina",
            "cantinas"]
    }'),
    ('bridge', '{
        "en": ["Bridge", "bridges", "footbridge", "footbridges", "viaduct", "viaducts"],
        "de": ["Brücke", "Brücken", "Fußgängerbrücke", "Fußgängerbrücken", "Viadukt", "Viadukte"],
        "fr": ["Pont", "ponts", "passerelle", "passerelles", "viaduc", "viaducs"],
        "es": ["Puente", "puentes", "pasarela", "pasarelas", "viaducto", "viaductos"]
    }'),
    ('cafe', '{
        "en": ["Café", "cafés", "coffee", "coffee shop", "coffee shops", "coffee house", "coffee houses", "coffeehouse",
            "coffeehouses", "tea room", "tea rooms", "tearoom", "tearooms", "tea house", "tea houses"],
        "de": ["Café", "Cafés", "Kaffee", "Kaffeehaus", "Kaffeehäuser", "Teestube", "Teestuben", "Teehaus", "Teehäuser"],
        "fr": ["Café", "cafés", "salon de thé", "salons de thé", "maison de thé", "maisons de thé", "coffee shop",
            "coffee shops"],
        "es": ["Cafetería", "cafeterías", "café", "cafés", "salón de té", "salones de té", "casa de té", "casas de té"]
    }'),
    ('castle', '{
        "en": ["Castle", "castles", "fort", "forts", "fortress", "fortresses", "citadel", "citadels", "palace", "palaces",
            "château", "châteaux"],
        "de": ["Burg/Schloss", "Burg", "Burgen", "Schloss", "Schlösser", "Festung", "Festungen", "Palast", "Paläste",
            "Palais", "Zitadelle", "Zitadellen", "Kastell", "Kastelle"],
        "fr": ["Château", "châteaux", "château fort", "châteaux forts", "forteresse", "forteresses", "citadelle",
            "citadelles", "palais"],
        "es": ["Castillo", "castillos", "fortaleza", "fortalezas", "palacio", "palacios", "alcázar",
            "alcázares", "alcazaba", "alcazabas", "ciudadela", "ciudadelas"]
    }'),
    ('cinema', '{
        "en": ["Cinema", "cinemas", "movie theater", "movie theaters", "movie theatre", "movie theatres", "movies", "film",
            "films"],
        "de": ["Kino", "Kinos", "Lichtspielhaus", "Lichtspielhäuser", "Film", "Filme", "Programmkino", "Programmkinos"],
        "fr": ["Cinéma", "cinémas", "salle de cinéma", "salles de cinéma", "film", "films"],
        "es": ["Cine", "cines", "sala de cine", "salas de cine", "película", "películas"]
    }'),
    ('community_centre', '{
        "en": ["Community centre", "community centres", "community center", "community centers", "community hall",
            "community halls", "village hall", "village halls", "neighbourhood centre", "neighbourhood centres",
            "neighborhood center", "neighborhood centers", "youth centre", "youth centres", "youth center", "youth centers"],
        "de": ["Gemeinschaftszentrum", "Gemeinschaftszentren", "Gemeinschaftshaus", "Gemeinschaftshäuser", "Gemeindezentrum",
            "Gemeindezentren", "Bürgerhaus", "Bürgerhäuser", "Begegnungsstätte", "Begegnungsstätten", "Nachbarschaftshaus",
            "Nachbarschaftshäuser", "Jugendzentrum", "Jugendzentren"],
        "fr": ["Centre socioculturel", "centres socioculturels", "centre communautaire", "centres communautaires",
            "centre social", "centres sociaux", "maison de quartier", "maisons de quartier", "maison des associations",
            "maisons des associations", "maison des jeunes", "maisons des jeunes", "salle des fêtes", "salles des fêtes",
            "salle polyvalente", "salles polyvalentes"],
        "es": ["Centro comunitario", "centros comunitarios", "centro cívico", "centros cívicos", "centro social",
            "centros sociales", "centro vecinal", "centros vecinales", "centro de barrio", "centros de barrio",
            "centro juvenil", "centros juveniles"]
    }'),
    ('conference_centre', '{
        "en": ["Conference centre", "conference centres", "conference center", "conference centers", "convention centre",
            "convention centres", "convention center", "convention centers", "congress centre", "congress centres",
            "exhibition centre", "exhibition centres", "exhibition center", "exhibition centers", "exhibition hall",
            "exhibition halls", "trade fair", "trade fairs", "event venue", "event venues"],
        "de": ["Kongresszentrum", "Kongresszentren", "Kongresshalle", "Kongresshallen", "Konferenzzentrum",
            "Konferenzzentren", "Tagungszentrum", "Tagungszentren", "Messezentrum", "Messezentren", "Messegelände",
            "Messehalle", "Messehallen", "Veranstaltungszentrum", "Veranstaltungszentren", "Veranstaltungsort",
            "Veranstaltungsorte"],
        "fr": ["Centre de congrès", "centres de congrès", "palais des congrès", "centre de conférences",
            "centres de conférences", "centre de conventions", "centres de conventions", "parc des expositions",
            "parcs des expositions", "hall d''exposition", "halls d''exposition", "lieu événementiel", "lieux événementiels"],
        "es": ["Centro de congresos", "centros de congresos", "palacio de congresos", "palacios de congresos",
            "centro de convenciones", "centros de convenciones", "centro de conferencias", "centros de conferencias",
            "centro de exposiciones", "centros de exposiciones", "recinto ferial", "recintos feriales", "feria de muestras",
            "ferias de muestras"]
    }'),
    ('fast_food', '{
        "en": ["Fast food", "fast-food restaurant", "fast-food restaurants", "takeaway", "takeaways", "takeout", "snack bar",
            "snack bars", "burger", "burgers"],
        "de": ["Schnellrestaurant", "Schnellrestaurants", "Imbiss", "Imbisse", "Imbissbude", "Imbissbuden", "Fast Food",
            "Burger"],
        "fr": ["Restauration rapide", "fast-food", "fast-foods", "burger", "burgers", "snack", "snacks", "plats à emporter"],
        "es": ["Comida rápida", "hamburguesería", "hamburgueserías", "hamburguesa", "hamburguesas", "comida para llevar"]
    }'),
    ('gallery', '{
        "en": ["Art gallery", "art galleries", "galleries", "art exhibition", "art exhibitions", "exhibition space", "exhibition spaces"],
        "de": ["Galerie", "Galerien", "Kunstgalerie", "Kunstgalerien", "Kunsthalle", "Kunsthallen", "Kunstausstellung",
            "Kunstausstellungen", "Ausstellung", "Ausstellungen"],
        "fr": ["Galerie d''art", "galeries d''art", "galerie", "galeries", "exposition d''art", "expositions d''art"],
        "es": ["Galería de arte", "galerías de arte", "galería", "galerías", "exposición de arte",
            "exposiciones de arte", "sala de arte",
            "salas de arte", "sala de exposiciones", "salas de exposiciones"]
    }'),
    ('garden', '{
        "en": ["Garden", "gardens", "botanical garden", "botanical gardens", "flower garden", "flower gardens",
            "community garden", "community gardens", "arboretum", "arboretums"],
        "de": ["Garten", "botanischer Garten", "botanische Gärten", "Gartenanlage", "Gartenanlagen", "Rosengärten",
            "Gemeinschaftsgärten", "Arboretum", "Arboreten"],
        "fr": ["Jardin", "jardins", "jardin botanique", "jardins botaniques", "jardin partagé", "jardins partagés",
            "roseraie", "roseraies", "arboretum", "arboretums"],
        "es": ["Jardín", "jardines", "jardín botánico", "jardines botánicos", "rosaleda", "rosaledas", "huerto comunitario",
            "huertos comunitarios", "arboreto", "arboretos"]
    }'),
    ('government', '{
        "en": ["Government building", "government buildings", "government office", "government offices", "town hall",
            "town halls", "city hall", "city halls", "courthouse", "courthouses", "law court", "law courts", "ministry",
            "ministries", "parliament", "parliaments", "public authority", "public authorities"],
        "de": ["Behörde", "Behörden", "Amt", "Ämter", "Rathaus", "Rathäuser", "Gerichtsgebäude", "Regierungsgebäude",
            "Ministerium", "Ministerien", "Parlament", "Parlamente", "Verwaltung", "Bürgerbüro", "Bürgerbüros"],
        "fr": ["Administration", "administrations", "service public", "services publics", "bâtiment public",
            "bâtiments publics", "mairie", "mairies", "préfecture", "préfectures", "tribunal", "tribunaux", "ministère",
            "ministères", "parlement", "parlements", "gouvernement"],
        "es": ["Administración pública", "administraciones públicas", "edificio público", "edificios públicos",
            "edificio gubernamental", "edificios gubernamentales", "ayuntamiento", "ayuntamientos", "alcaldía", "alcaldías",
            "juzgado", "juzgados", "tribunal", "tribunales", "ministerio", "ministerios", "parlamento", "parlamentos",
            "gobierno"]
    }'),
    ('historic_site', '{
        "en": ["Historic site", "historic sites", "historical site", "historical sites", "historic building",
            "historic buildings", "archaeological site", "archaeological sites", "archeological site", "archeological sites",
            "ruin", "ruins", "monument", "monuments", "landmark", "landmarks", "heritage", "sightseeing",
            "tourist attraction", "tourist attractions"],
        "de": ["Historische Stätte", "historische Stätten", "historisches Gebäude", "historische Gebäude",
            "archäologische Stätte", "archäologische Stätten", "Ausgrabungsstätte", "Ausgrabungsstätten", "Ruine", "Ruinen",
            "Denkmal", "Denkmäler", "Baudenkmal", "Baudenkmäler", "Wahrzeichen", "Sehenswürdigkeit", "Sehenswürdigkeiten",
            "Attraktion", "Attraktionen"],
        "fr": ["Site historique", "sites historiques", "lieu historique", "lieux historiques", "monument historique",
            "monuments historiques", "site archéologique", "sites archéologiques", "ruine", "ruines", "vestige", "vestiges",
            "patrimoine", "curiosité", "curiosités", "site touristique", "sites touristiques", "attraction touristique",
            "attractions touristiques"],
        "es": ["Sitio histórico", "sitios históricos", "lugar histórico", "lugares históricos", "edificio histórico",
            "edificios históricos", "monumento histórico", "monumentos históricos", "sitio arqueológico",
            "sitios arqueológicos", "yacimiento arqueológico", "yacimientos arqueológicos", "ruina", "ruinas", "patrimonio",
            "lugar de interés", "lugares de interés", "atracción turística", "atracciones turísticas"]
    }'),
    ('hospital', '{
        "en": ["Hospital", "hospitals", "medical centre", "medical centres", "medical center", "medical centers", "clinic",
            "clinics", "emergency room", "emergency rooms"],
        "de": ["Krankenhaus", "Krankenhäuser", "Klinik", "Kliniken", "Klinikum", "Spital", "Spitäler", "Hospital",
            "Hospitäler", "Notaufnahme", "Notaufnahmen"],
        "fr": ["Hôpital", "hôpitaux", "centre hospitalier", "centres hospitaliers", "clinique", "cliniques", "CHU",
            "urgences"],
        "es": ["Hospital", "hospitales", "centro hospitalario", "centros hospitalarios", "centro médico", "centros médicos",
            "clínica", "clínicas", "sanatorio", "sanatorios", "urgencias"]
    }'),
    ('hotel', '{
        "en": ["Hotel", "hotels", "hostel", "hostels", "motel", "motels", "inn", "inns", "guest house", "guest houses",
            "guesthouse", "guesthouses", "bed and breakfast", "resort", "resorts", "lodging", "lodgings", "accommodation",
            "accommodations"],
        "de": ["Hotel", "Hotels", "Hostel", "Hostels", "Motel", "Motels", "Pension", "Pensionen", "Gästehaus", "Gästehäuser",
            "Gasthof", "Gasthöfe", "Jugendherberge", "Jugendherbergen", "Herberge", "Herbergen", "Unterkunft", "Unterkünfte",
            "Übernachtung", "Übernachtungen"],
        "fr": ["Hôtel", "hôtels", "auberge de jeunesse", "auberges de jeunesse", "motel", "motels", "pension", "pensions",
            "gîte", "gîtes", "maison d''hôtes", "maisons d''hôtes", "chambre d''hôtes", "chambres d''hôtes", "hébergement",
            "hébergements"],
        "es": ["Hotel", "hoteles", "hostal", "hostales", "hostel", "hostels", "albergue", "albergues", "motel", "moteles",
            "pensión", "pensiones", "posada", "posadas", "casa rural", "casas rurales", "hospedaje", "hospedajes",
            "alojamiento", "alojamientos"]
    }'),
    ('library', '{
        "en": ["Library", "libraries", "reading room", "reading rooms"],
        "de": ["Bibliothek", "Bibliotheken", "Bücherei", "Büchereien", "Mediathek", "Mediatheken", "Lesesaal", "Lesesäle"],
        "fr": ["Bibliothèque", "bibliothèques", "médiathèque", "médiathèques", "salle de lecture", "salles de lecture"],
        "es": ["Biblioteca", "bibliotecas", "mediateca", "mediatecas", "sala de lectura", "salas de lectura"]
    }'),
    ('lighthouse', '{
        "en": ["Lighthouse", "lighthouses", "light house", "light houses", "beacon", "beacons"],
        "de": ["Leuchtturm", "Leuchttürme", "Leuchtfeuer"],
        "fr": ["Phare", "phares"],
        "es": ["Faro", "faros"]
    }'),
    ('marketplace', '{
        "en": ["Market", "markets", "marketplace", "marketplaces", "street market", "street markets", "market hall",
            "market halls", "farmers market", "farmers markets", "flea market", "flea markets", "bazaar", "bazaars"],
        "de": ["Markt", "Märkte", "Marktplatz", "Marktplätze", "Markthalle", "Markthallen", "Wochenmarkt", "Wochenmärkte",
            "Bauernmarkt", "Bauernmärkte", "Flohmarkt", "Flohmärkte", "Trödelmarkt", "Trödelmärkte", "Basar", "Basare"],
        "fr": ["Marché", "marchés", "marché couvert", "marchés couverts", "marché de producteurs", "marchés de producteurs",
            "marché aux puces", "marchés aux puces", "place du marché", "places du marché", "halles", "bazar", "bazars"],
        "es": ["Mercado", "mercados", "mercado municipal", "mercados municipales", "mercado de abastos",
            "mercados de abastos", "mercado de pulgas", "mercados de pulgas", "mercadillo", "mercadillos", "tianguis",
            "bazar", "bazares"]
    }'),
    ('memorial', '{
        "en": ["Memorial", "memorials", "monument", "monuments", "war memorial", "war memorials", "cenotaph", "cenotaphs",
            "commemorative plaque", "commemorative plaques", "sightseeing", "tourist attraction", "tourist attractions"],
        "de": ["Denkmal", "Denkmäler", "Gedenkstätte", "Gedenkstätten", "Gedenktafel", "Gedenktafeln", "Mahnmal", "Mahnmale",
            "Ehrenmal", "Ehrenmale", "Kriegerdenkmal", "Kriegerdenkmäler", "Monument", "Monumente", "Sehenswürdigkeit",
            "Sehenswürdigkeiten", "Attraktion", "Attraktionen"],
        "fr": ["Mémorial", "mémoriaux", "monument commémoratif", "monuments commémoratifs", "monument aux morts",
            "monuments aux morts", "lieu de mémoire", "lieux de mémoire", "plaque commémorative", "plaques commémoratives",
            "cénotaphe", "cénotaphes", "stèle", "stèles", "curiosité", "curiosités", "attraction touristique",
            "attractions touristiques"],
        "es": ["Monumento conmemorativo", "monumentos conmemorativos", "monumento a los caídos", "monumentos a los caídos",
            "memorial", "memoriales", "lugar de memoria", "lugares de memoria", "placa conmemorativa",
            "placas conmemorativas", "cenotafio", "cenotafios", "lugar de interés", "lugares de interés",
            "atracción turística", "atracciones turísticas"]
    }'),
    ('mountain', '{
        "en": ["Mountain", "mountains", "peak", "peaks", "summit", "summits", "volcano", "volcanoes", "hill", "hills"],
        "de": ["Berg", "Berge", "Gipfel", "Berggipfel", "Gebirge", "Vulkan", "Vulkane", "Hügel"],
        "fr": ["Montagne", "montagnes", "mont", "monts", "sommet", "sommets", "pic", "pics", "cime", "cimes", "volcan",
            "volcans", "colline", "collines"],
        "es": ["Montaña", "montañas", "monte", "montes", "cerro", "cerros", "pico", "picos", "cumbre", "cumbres", "cima",
            "cimas", "volcán", "volcanes", "colina", "colinas"]
    }'),
    ('museum', '{
        "en": ["Museum", "museums", "exhibition", "exhibitions", "exhibit", "exhibits"],
        "de": ["Museum", "Museen", "Ausstellung", "Ausstellungen"],
        "fr": ["Musée", "musées", "muséum", "muséums", "exposition", "expositions"],
        "es": ["Museo", "museos", "pinacoteca", "pinacotecas", "exposición", "exposiciones"]
    }'),
    ('natural_feature', '{
        "en": ["Natural feature", "natural features", "natural wonder", "natural wonders", "nature", "landscape",
            "landscapes", "beach", "beaches", "cave", "caves", "cliff", "cliffs", "glacier", "glaciers", "hot spring",
            "hot springs", "geyser", "geysers"],
        "de": ["Natursehenswürdigkeit", "Natursehenswürdigkeiten", "Naturdenkmal", "Naturdenkmäler", "Naturwunder",
            "Landschaft", "Landschaften", "Strand", "Strände", "Höhle", "Höhlen", "Klippe", "Klippen", "Felsen", "Gletscher",
            "heiße Quelle", "heiße Quellen", "Geysir", "Geysire"],
        "fr": ["Site naturel", "sites naturels", "merveille naturelle", "merveilles naturelles", "curiosité naturelle",
            "curiosités naturelles", "paysage", "paysages", "plage", "plages", "grotte", "grottes", "falaise", "falaises",
            "source chaude", "sources chaudes", "geyser", "geysers"],
        "es": ["Paraje natural", "parajes naturales", "maravilla natural", "maravillas naturales", "monumento natural",
            "monumentos naturales", "naturaleza", "paisaje", "paisajes", "playa", "playas", "cueva", "cuevas", "acantilado",
            "acantilados", "glaciar", "glaciares", "aguas termales", "géiser", "géiseres"]
    }'),
    ('nightclub', '{
        "en": ["Nightclub", "nightclubs", "night club", "night clubs", "dance club", "dance clubs", "clubbing", "disco",
            "discos", "discotheque", "discotheques", "nightlife", "dancing"],
        "de": ["Nachtclub", "Nachtclubs", "Nachtklub", "Nachtklubs", "Club", "Clubs", "Klub", "Klubs", "Disco", "Discos",
            "Discothek", "Discotheken", "Diskothek", "Diskotheken", "Tanzlokal", "Tanzlokale", "Nachtleben", "Tanzen"],
        "fr": ["Boîte de nuit", "boîtes de nuit", "discothèque", "discothèques", "night-club", "night-clubs", "nightclub",
            "nightclubs", "dancing", "dancings", "vie nocturne", "danser"],
        "es": ["Discoteca", "discotecas", "club nocturno", "clubes nocturnos", "club", "clubs", "sala de fiestas",
            "salas de fiestas", "sala de baile", "salas de baile", "vida nocturna", "bailar"]
    }'),
    ('observatory', '{
        "en": ["Observatory", "observatories", "planetarium", "planetariums", "telescope", "telescopes", "astronomy",
            "stargazing"],
        "de": ["Sternwarte", "Sternwarten", "Observatorium", "Observatorien", "Planetarium", "Planetarien", "Teleskop",
            "Teleskope", "Astronomie"],
        "fr": ["Observatoire", "observatoires", "planétarium", "planétariums", "télescope", "télescopes", "astronomie"],
        "es": ["Observatorio", "observatorios", "planetario", "planetarios", "telescopio", "telescopios", "astronomía"]
    }'),
    ('park', '{
        "en": ["Park", "parks", "national park", "national parks", "nature reserve", "nature reserves", "recreation ground",
            "recreation grounds", "green space", "green spaces", "playground", "playgrounds"],
        "de": ["Park", "Parks", "Parkanlage", "Parkanlagen", "Grünanlage", "Grünanlagen", "Grünfläche", "Grünflächen",
            "Nationalpark", "Nationalparks", "Naturpark", "Naturparks", "Naturschutzgebiet", "Naturschutzgebiete",
            "Spielplatz", "Spielplätze"],
        "fr": ["Parc", "parcs", "parc national", "parcs nationaux", "parc naturel", "parcs naturels", "jardin public",
            "jardins publics", "espace vert", "espaces verts", "réserve naturelle", "réserves naturelles", "aire de jeux",
            "aires de jeux"],
        "es": ["Parque", "parques", "parque nacional", "parques nacionales", "parque natural", "parques naturales",
            "parque infantil", "parques infantiles", "reserva natural", "reservas naturales", "zona verde", "zonas verdes",
            "área verde", "áreas verdes"]
    }'),
    ('pharmacy', '{
        "en": ["Pharmacy", "pharmacies", "chemist", "chemists", "chemist''s", "drugstore", "drugstores"],
        "de": ["Apotheke", "Apotheken"],
        "fr": ["Pharmacie", "pharmacies"],
        "es": ["Farmacia", "farmacias"]
    }'),
    ('place_of_worship', '{
        "en": ["Place of worship", "places of worship", "church", "churches", "cathedral", "cathedrals", "chapel", "chapels",
            "mosque", "mosques", "synagogue", "synagogues", "temple", "temples", "shrine", "shrines", "monastery",
            "monasteries", "abbey", "abbeys"],
        "de": ["Gotteshaus", "Gotteshäuser", "Gebetshaus", "Gebetshäuser", "Kirche", "Kirchen", "Dom", "Dome", "Kathedrale",
            "Kathedralen", "Kapelle", "Kapellen", "Klöster", "Moschee", "Moscheen", "Synagoge", "Synagogen", "Tempel",
            "Schrein", "Schreine"],
        "fr": ["Lieu de culte", "lieux de culte", "église", "églises", "cathédrale", "cathédrales", "basilique", "basiliques",
            "chapelle", "chapelles", "abbaye", "abbayes", "monastère", "monastères", "mosquée", "mosquées", "synagogue",
            "synagogues", "temple", "temples"],
        "es": ["Lugar de culto", "lugares de culto", "iglesia", "iglesias", "catedral", "catedrales", "basílica", "basílicas",
            "capilla", "capillas", "ermita", "ermitas", "monasterio", "monasterios", "mezquita", "mezquitas", "sinagoga",
            "sinagogas", "templo", "templos"]
    }'),
    ('public_art', '{
        "en": ["Public art", "artwork", "artworks", "street art", "sculpture", "sculptures", "statue", "statues", "mural",
            "murals", "art installation", "art installations"],
        "de": ["Kunst im öffentlichen Raum", "Kunstwerk", "Kunstwerke", "Skulptur", "Skulpturen", "Statue", "Statuen", "Wandbild", "Wandbilder", "Wandmalerei", "Wandmalereien", "Streetart", "Street-Art"],
        "fr": ["Art public", "œuvre d''art", "œuvres d''art", "art urbain", "street art", "sculpture", "sculptures", "statue",
            "statues", "fresque", "fresques", "peinture murale", "peintures murales"],
        "es": ["Arte público", "obra de arte", "obras de arte", "arte urbano", "arte callejero", "escultura", "esculturas",
            "estatua", "estatuas", "mural", "murales"]
    }'),
    ('research_station', '{
        "en": ["Research station", "research stations", "research base", "research bases", "scientific station",
            "scientific stations", "polar station", "polar stations", "Antarctic station", "Antarctic stations"],
        "de": ["Forschungsstation", "Forschungsstationen", "wissenschaftliche Station", "wissenschaftliche Stationen",
            "Polarstation", "Polarstationen", "Antarktisstation", "Antarktisstationen"],
        "fr": ["Station de recherche", "stations de recherche", "base de recherche", "bases de recherche",
            "station scientifique", "stations scientifiques", "base scientifique", "bases scientifiques", "station polaire",
            "stations polaires", "base antarctique", "bases antarctiques"],
        "es": ["Estación de investigación", "estaciones de investigación", "base de investigación", "bases de investigación",
            "estación científica", "estaciones científicas", "base científica", "bases científicas", "base polar",
            "bases polares", "base antártica", "bases antárticas"]
    }'),
    ('restaurant', '{
        "en": ["Restaurant", "restaurants", "food", "eatery", "eateries", "dining", "lunch", "dinner", "diner", "diners",
            "bistro", "bistros", "brasserie", "brasseries"],
        "de": ["Restaurant", "Restaurants", "Mittagessen", "Abendessen", "Gaststätte", "Gaststätten", "Gasthaus",
            "Gasthäuser", "Wirtshaus", "Wirtshäuser", "Speiselokal", "Speiselokale", "Lokal", "Lokale", "Bistro", "Bistros",
            "Gastronomie"],
        "fr": ["Restaurant", "restaurants", "resto", "restos", "manger", "repas", "déjeuner", "dîner", "bistrot", "bistrots",
            "bistro", "bistros", "brasserie", "brasseries", "gastronomie"],
        "es": ["Restaurante", "restaurantes", "comida", "comer", "almuerzo", "almorzar", "cenar", "mesón", "mesones", "fonda",
            "fondas", "casa de comidas", "casas de comidas", "gastronomía"]
    }'),
    ('school', '{
        "en": ["School", "schools", "primary school", "primary schools", "elementary school", "elementary schools",
            "middle school", "middle schools", "secondary school", "secondary schools", "high school", "high schools",
            "preschool", "preschools"],
        "de": ["Schule", "Schulen", "Grundschule", "Grundschulen", "Volksschule", "Volksschulen", "Hauptschule",
            "Hauptschulen", "Realschule", "Realschulen", "Mittelschule", "Mittelschulen", "Oberschule", "Oberschulen",
            "Gesamtschule", "Gesamtschulen", "Gymnasium", "Gymnasien", "Berufsschule", "Berufsschulen"],
        "fr": ["École", "écoles", "école maternelle", "écoles maternelles", "école primaire", "écoles primaires",
            "école élémentaire", "écoles élémentaires", "collège", "collèges", "lycée", "lycées", "groupe scolaire",
            "groupes scolaires", "établissement scolaire", "établissements scolaires"],
        "es": ["Escuela", "escuelas", "escuela primaria", "escuelas primarias", "escuela secundaria", "escuelas secundarias",
            "colegio", "colegios", "instituto", "institutos", "liceo", "liceos", "centro educativo", "centros educativos"]
    }'),
    ('shop', '{
        "en": ["Shop", "shops", "store", "stores", "boutique", "boutiques", "retailer", "retailers", "shopping"],
        "de": ["Geschäft", "Geschäfte", "Läden", "Shop", "Shops", "Boutique", "Boutiquen", "Fachgeschäft", "Fachgeschäfte",
            "Einzelhandel", "Einkaufen", "Shopping"],
        "fr": ["Magasin", "magasins", "boutique", "boutiques", "commerce", "commerces", "shopping"],
        "es": ["Tienda", "tiendas", "comercio", "comercios", "boutique", "boutiques"]
    }'),
    ('shopping_centre', '{
        "en": ["Shopping centre", "shopping centres", "shopping center", "shopping centers", "shopping mall",
            "shopping malls", "shopping arcade", "shopping arcades", "department store", "department stores"],
        "de": ["Einkaufszentrum", "Einkaufszentren", "Einkaufspassage", "Einkaufspassagen", "Einkaufsgalerie",
            "Einkaufsgalerien", "Kaufhaus", "Kaufhäuser", "Warenhaus", "Warenhäuser", "Shoppingcenter", "Shopping-Center",
            "Mall", "Malls"],
        "fr": ["Centre commercial", "centres commerciaux", "galerie marchande", "galeries marchandes", "galerie commerciale",
            "galeries commerciales", "grand magasin", "grands magasins", "shopping"],
        "es": ["Centro comercial", "centros comerciales", "galería comercial", "galerías comerciales", "grandes almacenes",
            "mall", "malls", "shopping"]
    }'),
    ('square', '{
        "en": ["Square", "squares", "public square", "public squares", "plaza", "plazas", "piazza", "piazzas"],
        "de": ["Platz", "Plätze", "öffentlicher Platz", "öffentliche Plätze"],
        "fr": ["Place", "places", "place publique", "places publiques", "esplanade", "esplanades", "parvis"],
        "es": ["Plaza", "plazas", "plaza pública", "plazas públicas", "plaza mayor", "plazuela", "plazuelas", "plazoleta",
            "plazoletas", "explanada", "explanadas"]
    }'),
    ('stadium', '{
        "en": ["Stadium", "stadiums", "stadia", "arena", "arenas", "football ground", "football grounds", "ballpark",
            "ballparks", "sports ground", "sports grounds", "sports venue", "sports venues"],
        "de": ["Stadion", "Stadien", "Fußballstadion", "Fußballstadien", "Arena", "Arenen", "Sportstätte", "Sportstätten"],
        "fr": ["Stade", "stades", "stade de football", "stades de football", "arena", "arenas", "enceinte sportive",
            "enceintes sportives"],
        "es": ["Estadio", "estadios", "estadio de fútbol", "estadios de fútbol", "campo de fútbol", "campos de fútbol",
            "coliseo", "coliseos", "recinto deportivo", "recintos deportivos"]
    }'),
    ('theatre', '{
        "en": ["Theatre", "theatres", "theater", "theaters", "playhouse", "playhouses", "opera house", "opera houses",
            "concert hall", "concert halls", "performing arts", "amphitheatre", "amphitheatres", "amphitheater",
            "amphitheaters"],
        "de": ["Theater", "Bühne", "Bühnen", "Schauspielhaus", "Schauspielhäuser", "Opernhaus", "Opernhäuser", "Konzerthaus",
            "Konzerthäuser", "Konzertsaal", "Konzertsäle", "Amphitheater"],
        "fr": ["Théâtre", "théâtres", "opéra", "opéras", "salle de spectacles", "salles de spectacles", "salle de concert",
            "salles de concert", "arts de la scène", "amphithéâtre", "amphithéâtres"],
        "es": ["Teatro", "teatros", "teatro de ópera", "teatros de ópera", "sala de conciertos", "salas de conciertos",
            "auditorio", "auditorios", "artes escénicas", "espectáculo", "espectáculos", "anfiteatro", "anfiteatros"]
    }'),
    ('tower', '{
        "en": ["Tower", "towers", "observation tower", "observation towers", "television tower", "television towers",
            "clock tower", "clock towers", "bell tower", "bell towers", "watchtower", "watchtowers", "landmark", "landmarks",
            "sightseeing", "tourist attraction", "tourist attractions"],
        "de": ["Turm", "Türme", "Aussichtsturm", "Aussichtstürme", "Fernsehturm", "Fernsehtürme", "Glockenturm",
            "Glockentürme", "Uhrturm", "Uhrtürme", "Wachturm", "Wachtürme", "Wahrzeichen", "Sehenswürdigkeit",
            "Sehenswürdigkeiten", "Attraktion", "Attraktionen"],
        "fr": ["Tour", "tours", "tour panoramique", "tours panoramiques", "tour de télévision", "tours de télévision",
            "tour de guet", "tours de guet", "beffroi", "beffrois", "clocher", "clochers", "campanile", "campaniles",
            "curiosité", "curiosités", "attraction touristique", "attractions touristiques"],
        "es": ["Torre", "torres", "torre de observación", "torres de observación", "torre de televisión",
            "torres de televisión", "torre del reloj", "torres del reloj", "torreón", "torreones", "atalaya", "atalayas",
            "campanario", "campanarios", "lugar de interés", "lugares de interés", "atracción turística",
            "atracciones turísticas"]
    }'),
    ('town', '{
        "en": ["Town", "towns", "city", "cities", "village", "villages", "hamlet", "hamlets", "settlement", "settlements"],
        "de": ["Stadt", "Städte", "Ort", "Orte", "Ortschaft", "Ortschaften", "Kleinstadt", "Kleinstädte", "Großstadt",
            "Großstädte", "Dorf", "Dörfer", "Gemeinde", "Gemeinden", "Siedlung", "Siedlungen"],
        "fr": ["Ville", "villes", "localité", "localités", "village", "villages", "bourg", "bourgs", "hameau", "hameaux",
            "commune", "communes"],
        "es": ["Ciudad", "ciudades", "localidad", "localidades", "pueblo", "pueblos", "población", "poblaciones", "aldea",
            "aldeas", "municipio", "municipios"]
    }'),
    ('transit_station', '{
        "en": ["Transit station", "transit stations", "train station", "train stations", "railway station",
            "railway stations", "bus station", "bus stations", "metro station", "metro stations", "subway station",
            "subway stations", "light rail", "underground", "ferry terminal", "ferry terminals", "public transport", "train",
            "trains"],
        "de": ["Bahnhof", "Bahnhöfe", "Hauptbahnhof", "Hauptbahnhöfe", "Busbahnhof", "Busbahnhöfe", "U-Bahn-Station",
            "U-Bahn-Stationen", "S-Bahn-Station", "S-Bahn-Stationen", "Metrostation", "Metrostationen", "Haltestelle",
            "Haltestellen", "Fähranleger", "Nahverkehr", "ÖPNV"],
        "fr": ["Gare", "gares", "gare ferroviaire", "gares ferroviaires", "gare routière", "gares routières", "gare maritime",
            "gares maritimes", "station de métro", "stations de métro", "station de tramway", "stations de tramway", "train",
            "trains", "transport en commun", "transports en commun"],
        "es": ["Estación", "estaciones", "estación de tren", "estaciones de tren", "estación de ferrocarril",
            "estaciones de ferrocarril", "estación de metro", "estaciones de metro", "estación de autobuses",
            "estaciones de autobuses", "terminal de autobuses", "terminales de autobuses", "terminal de ferry",
            "terminales de ferry", "tren", "trenes", "transporte público"]
    }'),
    ('university', '{
        "en": ["University", "universities", "college", "colleges", "campus", "campuses", "higher education"],
        "de": ["Universität", "Universitäten", "Hochschule", "Hochschulen", "Fachhochschule", "Fachhochschulen", "Campus"],
        "fr": ["Université", "universités", "faculté", "facultés", "campus", "enseignement supérieur"],
        "es": ["Universidad", "universidades", "facultad", "facultades", "campus", "educación superior"]
    }'),
    ('viewpoint', '{
        "en": ["Viewpoint", "viewpoints", "scenic view", "scenic views", "lookout", "lookouts", "overlook", "overlooks",
            "observation deck", "observation decks", "vista", "vistas", "panorama", "panoramas"],
        "de": ["Aussichtspunkt", "Aussichtspunkte", "Aussichtsplattform", "Aussichtsplattformen", "Ausblick", "Ausblicke",
            "Panoramablick"],
        "fr": ["Point de vue", "points de vue", "vue panoramique", "vues panoramiques", "belvédère", "belvédères",
            "table d''orientation", "tables d''orientation", "panorama", "panoramas"],
        "es": ["Mirador", "miradores", "punto panorámico", "puntos panorámicos", "vista panorámica", "vistas panorámicas"]
    }'),
    ('waterfall', '{
        "en": ["Waterfall", "waterfalls", "falls", "cascade", "cascades", "cataract", "cataracts"],
        "de": ["Wasserfall", "Wasserfälle", "Kaskade", "Kaskaden"],
        "fr": ["Cascade", "cascades", "chute d''eau", "chutes d''eau", "cataracte", "cataractes"],
        "es": ["Cascada", "cascadas", "catarata", "cataratas", "salto de agua", "saltos de agua", "caída de agua",
            "caídas de agua"]
    }'),
    ('zoo', '{
        "en": ["Zoo", "zoos", "aquarium", "aquariums", "petting zoo", "petting zoos", "wildlife park", "wildlife parks",
            "safari park", "safari parks", "animal", "animals"],
        "de": ["Zoo", "Zoos", "Tierpark", "Tierparks", "Tiergärten", "Wildpark", "Wildparks", "Streichelzoo", "Streichelzoos",
            "Aquarium", "Aquarien"],
        "fr": ["Zoo", "zoos", "parc zoologique", "parcs zoologiques", "parc animalier", "parcs animaliers",
            "jardin zoologique", "jardins zoologiques", "aquarium", "aquariums", "ménagerie", "ménageries", "animal",
            "animaux"],
        "es": ["Zoológico", "zoológicos", "zoo", "zoos", "jardín zoológico", "jardines zoológicos", "parque zoológico",
            "parques zoológicos", "acuario", "acuarios", "animal", "animales"]
    }')
) AS built_in (name, labels) WHERE categories.name = built_in.name;

-- migrate:down

ALTER TABLE categories DROP COLUMN labels;
