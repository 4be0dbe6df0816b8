// What is compared with the server: GET /locations with Go's net/http and pgx, by the same search in SQL and with the same
// JSON, as somebody would write it at first.
//
// It does less, just as fastapi_app.py: PostGIS' order and distance, no entity tag, no link to the next page and no limits. pgx prepares the statement once a connection and reads its rows in binary form.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"github.com/jackc/pgx/v4/pgxpool"
)

type source struct {
	Dataset string  `json:"dataset"`
	ID      *string `json:"id"`
	License *string `json:"license"`
}

// place is as the server writes it: what a place doesn't have is left out.
type place struct {
	ID        int64   `json:"id"`
	Name      string  `json:"name"`
	Category  string  `json:"category"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
	Featured  bool    `json:"featured"`
	Distance  float64 `json:"distance"`
	Address   *string `json:"address,omitempty"`
	Website   *string `json:"website,omitempty"`
	Source    *source `json:"source,omitempty"`
}

func number(query url.Values, name string, low, high float64) (float64, error) {
	value, err := strconv.ParseFloat(query.Get(name), 64)
	if err == nil && !(value >= low && value <= high) {
		err = fmt.Errorf("%s must be from %v to %v", name, low, high)
	}
	return value, err
}

func nearby(ctx context.Context, pool *pgxpool.Pool, sql string, latitude, longitude float64, limit int) ([]place, error) {
	rows, err := pool.Query(ctx, sql, latitude, longitude)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	places := []place{}
	for rows.Next() && len(places) < limit {
		var found place
		var dataset, id, license *string
		err := rows.Scan(&found.ID, &found.Latitude, &found.Longitude, &found.Name, &found.Category, &found.Featured,
			&found.Address, &found.Website, &dataset, &id, &license, &found.Distance)
		if err != nil {
			return nil, err
		}
		found.Distance = math.Round(found.Distance*10) / 10
		if dataset != nil {
			found.Source = &source{*dataset, id, license}
		}
		places = append(places, found)
	}
	rows.Close()
	return places, rows.Err()
}

func main() {
	pool, err := pgxpool.Connect(context.Background(), os.Getenv("BENCHMARK_DATABASE"))
	if err != nil {
		log.Fatal(err)
	}
	sql := os.Getenv("BENCHMARK_SQL")
	http.HandleFunc("/locations", func(response http.ResponseWriter, request *http.Request) {
		query := request.URL.Query()
		latitude, err := number(query, "lat", -90, 90)
		longitude, err2 := number(query, "long", -180, 180)
		limit := 20.0
		var err3 error
		if query.Has("limit") {
			limit, err3 = number(query, "limit", 1, 20)
		}
		for _, err := range []error{err, err2, err3} {
			if err != nil {
				http.Error(response, err.Error(), http.StatusBadRequest)
				return
			}
		}
		places, err := nearby(request.Context(), pool, sql, latitude, longitude, int(limit))
		if err != nil {
			http.Error(response, err.Error(), http.StatusServiceUnavailable)
			return
		}
		response.Header().Set("Content-Type", "application/json")
		json.NewEncoder(response).Encode(places)
	})
	log.Fatal(http.ListenAndServe(os.Getenv("BENCHMARK_ADDRESS"), nil))
}
