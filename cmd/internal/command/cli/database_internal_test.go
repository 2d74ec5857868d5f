package cli

import (
	"testing"
)

func TestDatabaseURL(t *testing.T) {
	for text, want := range map[string]string{
		"guidon.db":             "file:guidon.db",
		"/data/guidon.db":       "file:/data/guidon.db",
		"file:guidon.db":        "file:guidon.db",
		"sqlite:///data/x.db":   "sqlite:///data/x.db",
		"postgres://db/guidon":  "postgres://db/guidon",
		"./folder/a:b/guidon.x": "file:./folder/a:b/guidon.x",
		"oracle://db/guidon":    "oracle://db/guidon", // rejected later
		"u:p@tcp(db:3306)/x":    "u:p@tcp(db:3306)/x",
		"host=db dbname=x":      "host=db dbname=x",
	} {
		if got := DatabaseURL(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
