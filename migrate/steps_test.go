package migrate

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sqlOf(t *testing.T, dialect string) map[string]string {
	t.Helper()
	fsys, err := steps(dialect)
	if err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, file := range files {
		text, err := fs.ReadFile(fsys, file)
		if err != nil {
			t.Fatal(err)
		}
		all[file] = string(text)
	}
	return all
}

// All dialects have the same steps, by number and name, without gaps.
func TestSameSteps(t *testing.T) {
	for _, d := range dialects {
		names := map[int64]string{}
		for version, step := range goSteps {
			names[version] = step.name
		}
		for file := range sqlOf(t, d.name) {
			var version int64
			if _, err := fmt.Sscanf(file, "%05d_", &version); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			_, name, _ := strings.Cut(strings.TrimSuffix(path.Base(file), ".sql"), "_")
			names[version] = name
		}
		if diff := cmp.Diff(map[int64]string{1: "tables", 2: "seed", 3: "leases", 4: "readers", 5: "sign_in", 6: "change_notes", 7: "past_states", 8: "horizons", 9: "additions", 10: "evaluations", 11: "change_events", 12: "webhooks", 13: "favorites"}, names); diff != "" {
			t.Errorf("%s (-want +got):\n%s", d.name, diff)
		}
	}
}

// CockroachDB has the schema of PostgreSQL, except that it does not accept the collation
// "C" for columns. Its strings are ordered like that anyway.
func TestCockroachIsPostgres(t *testing.T) {
	blanks := regexp.MustCompile(` +`)
	postgres := sqlOf(t, "postgres")
	for file, text := range postgres {
		postgres[file] = blanks.ReplaceAllString(strings.ReplaceAll(text, ` COLLATE "C"`, ""), " ")
	}
	cockroach := sqlOf(t, "cockroach")
	for file, text := range cockroach {
		cockroach[file] = blanks.ReplaceAllString(text, " ")
	}
	if diff := cmp.Diff(postgres, cockroach); diff != "" {
		t.Errorf("(-postgres +cockroach):\n%s", diff)
	}
}

// The schema only uses features that all databases have, including CockroachDB, on which no
// test runs. Steps that do not run in a transaction must be safe to run again. The exceptions are
// the index of deletions, which is a partial one except on MySQL, and the events, which are a
// column with a default, for the writes of earlier releases, and replace an index.
func TestCommonSubset(t *testing.T) {
	ofDeletions := regexp.MustCompile(`CREATE INDEX (?:IF NOT EXISTS )?changes_by_deletion ON changes \(namespace_key, revision, seq\) WHERE action = 'delete';|(?s:SET @changes_by_deletion = .*DEALLOCATE PREPARE changes_by_deletion;)`)
	ofEvents := regexp.MustCompile(`ALTER TABLE changes ADD COLUMN (?:IF NOT EXISTS )?event [^;]* DEFAULT '';|DROP INDEX (?:IF EXISTS )?changes_by_time;|(?s:SET @change_events = .*DEALLOCATE PREPARE change_events;)`)
	comments := regexp.MustCompile(`(?m)^--.*$`)
	forbidden := regexp.MustCompile(`(?i)\b(REFERENCES|FOREIGN|TRIGGER|FUNCTION|PROCEDURE|SERIAL|SEQUENCE|IDENTITY|AUTO_INCREMENT|DEFAULT (?:[^C]|C[^H])|JSONB?|TIMESTAMP(?:TZ)?|UUID|GIN|EXTENSION|LOCK|pg_\w+|ENUM|PARTIAL|WHERE|DROP|RENAME|INSERT|UPDATE|DELETE)\b`)
	for _, d := range dialects {
		for file, text := range sqlOf(t, d.name) {
			statements := ofEvents.ReplaceAllString(ofDeletions.ReplaceAllString(comments.ReplaceAllString(text, ""), ""), "")
			if found := forbidden.FindString(statements); found != "" {
				t.Errorf("%s/%s uses %s", d.name, file, found)
			}
			if d.name == "sqlite" {
				continue
			}
			if !strings.Contains(text, "-- +goose NO TRANSACTION") {
				t.Errorf("%s/%s: runs in the same transaction as the record of the step", d.name, file)
			}
			for statement := range strings.SplitSeq(statements, ";") {
				if s := strings.TrimSpace(statement); s != "" && !strings.Contains(s, "IF NOT EXISTS") {
					t.Errorf("%s/%s: not safe to run again: %s", d.name, file, s)
				}
			}
		}
	}
}
