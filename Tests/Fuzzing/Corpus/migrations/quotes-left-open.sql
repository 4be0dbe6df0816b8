SELECT ('a'); $q$ ; $r$
