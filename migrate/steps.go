package migrate

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed sql
var files embed.FS

func steps(dialect string) (fs.FS, error) {
	return fs.Sub(files, "sql/"+dialect)
}

// The steps that are written in Go, because they need a clock or random numbers, or change
// rows. They are the same for every dialect.
var goSteps = map[int64]struct {
	name string
	run  func(ctx context.Context, tx *sql.Tx) error
}{
	2:             {"seed", seed},
	8:             {"horizons", findHorizons},
	additionsStep: {"additions", func(context.Context, *sql.Tx) error { return nil }},
}

// additionsStep changes nothing. It keeps releases that do not know it, and so cannot read
// what [guidon.Flag.Additions] and [guidon.Segment.Additions] are about, from starting on the
// database. It may be applied after later steps, or never; see [Additions].
const additionsStep = 9

// goMigrations returns the Go steps in the form of goose.
func goMigrations() []*goose.Migration {
	var all []*goose.Migration
	for version, step := range goSteps {
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: step.run}, nil))
	}
	return all
}

// stepName returns the name of a step. For an SQL step it is the file name without the
// number.
func stepName(source *goose.Source) string {
	if step, ok := goSteps[source.Version]; ok {
		return step.name
	}
	name := strings.TrimSuffix(path.Base(source.Path), ".sql")
	_, name, _ = strings.Cut(name, "_")
	return name
}

// seed stores the initial state of an installation (contract 4.7): the protected namespace
// "default" at revision 1, its change record, and the revision of the authentications. The
// JSON is written literally, so that the step does not change with the domain types. All
// values are generated here, so the queries need no placeholders, whose form depends on
// the dialect.
func seed(ctx context.Context, tx *sql.Tx) error {
	now := time.Now().UTC().Truncate(time.Second)
	text := now.Format(time.RFC3339)
	body := fmt.Sprintf(`{"key":"default","name":"Default","description":"Default namespace","protected":true,"createdAt":"%s","updatedAt":"%s"}`, text, text)
	stamp := rand.Int64() // #nosec G404 -- distinguishes copies of a database, not a secret
	for _, statement := range []string{
		fmt.Sprintf(`INSERT INTO namespaces (namespace_key, revision, stamp, deleted, created_seq, body)
			VALUES ('default', 1, %d, 0, 1, '%s')`, stamp, body),
		fmt.Sprintf(`INSERT INTO changes (namespace_key, revision, seq, stamp, kind, object_key, action,
			actor, actor_name, actor_method, happened_at, request_id, body_size, before_body, after_body)
			VALUES ('default', 1, 0, %d, 'namespace', 'default', 'create',
			'system:migrate', '', '', %d, '', %d, NULL, '%s')`, stamp, now.UnixMicro(), len(body), body),
		fmt.Sprintf(`INSERT INTO namespaces (namespace_key, revision, stamp, deleted, created_seq, body)
			VALUES ('(authentications)', 0, %d, 0, 0, '{}')`, rand.Int64()), // #nosec G404 -- as above
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// findHorizons states which namespaces have lost change records before there was the table
// change_horizons. Such records are not known, but leave gaps: revisions without records,
// numbers that are missing in a revision, objects that are not created first. Of these
// namespaces, no state before this step can be computed with certainty.
func findHorizons(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO change_horizons (namespace_key, revision, happened_at)
		SELECT n.namespace_key, n.revision, COALESCE((SELECT MAX(m.happened_at) FROM changes m
			WHERE m.namespace_key = n.namespace_key AND m.revision = n.revision), 0)
		FROM namespaces n
		WHERE NOT EXISTS (SELECT 1 FROM change_horizons o WHERE o.namespace_key = n.namespace_key)
		AND (n.revision > (SELECT COUNT(DISTINCT r.revision) FROM changes r WHERE r.namespace_key = n.namespace_key)
			OR EXISTS (SELECT 1 FROM changes s WHERE s.namespace_key = n.namespace_key AND s.seq > 0
				AND NOT EXISTS (SELECT 1 FROM changes q WHERE q.namespace_key = s.namespace_key AND q.revision = s.revision AND q.seq = s.seq - 1))
			OR EXISTS (SELECT 1 FROM changes c WHERE c.namespace_key = n.namespace_key AND c.action <> 'create'
				AND NOT EXISTS (SELECT 1 FROM changes p WHERE p.namespace_key = c.namespace_key AND p.object_key = c.object_key AND p.kind = c.kind
					AND (p.revision < c.revision OR p.revision = c.revision AND p.seq < c.seq))))`)
	return err
}
