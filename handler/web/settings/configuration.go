package settings

import (
	"encoding/json"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/guidonhq/guidon/handler/web/page"
)

// configuration is the part of the configuration of the server that the pages need, as
// /meta/config has it: no secrets.
type configuration struct {
	DB struct {
		URL string `json:"url"`
	} `json:"db"`
	Cache struct {
		Mode string `json:"mode"`
	} `json:"cache"`
	Changes struct {
		Retention int64 `json:"retention"` // in nanoseconds
	} `json:"changes"`
	Authorization struct {
		Required     bool `json:"required"`
		DefaultRoles struct {
			Token string `json:"token"`
		} `json:"defaultRoles"`
	} `json:"authorization"`
}

// readConfiguration returns the configuration, which only administrators may read.
func readConfiguration(v *page.Visit) (configuration, error) {
	var c configuration
	body, err := page.GetConfiguration.Run(v, &emptypb.Empty{})
	if err != nil {
		return c, err
	}
	return c, json.Unmarshal(body.GetData(), &c)
}

// databaseKinds are the databases by the scheme of the URL.
var databaseKinds = map[string]string{
	"file": "SQLite", "sqlite": "SQLite", "postgres": "PostgreSQL", "postgresql": "PostgreSQL", "cockroachdb": "CockroachDB",
	"cockroach": "CockroachDB", "mysql": "MySQL or MariaDB", "mariadb": "MySQL or MariaDB",
}

// database returns the kind of the database. Nothing else of the URL is for pages.
func (c configuration) database() string {
	scheme, _, _ := strings.Cut(c.DB.URL, ":")
	return databaseKinds[strings.ToLower(scheme)]
}
