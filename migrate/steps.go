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

// steps returns the SQL steps of the dialect.
func steps(dialect string) (fs.FS, error) {
	return fs.Sub(files, "sql/"+dialect)
}

// The steps that are written in Go, because they need a clock or chance. They
// are the same for every dialect.
var goSteps = map[int64]struct {
	name string
	run  func(ctx context.Context, tx *sql.Tx) error
}{
	2: {"seed", seed},
}

// goMigrations returns the Go steps as goose has them.
func goMigrations() []*goose.Migration {
	var all []*goose.Migration
	for version, step := range goSteps {
		all = append(all, goose.NewGoMigration(version, &goose.GoFunc{RunTx: step.run}, nil))
	}
	return all
}

// stepName returns the name of a step: that of the file, without number.
func stepName(source *goose.Source) string {
	if step, ok := goSteps[source.Version]; ok {
		return step.name
	}
	name := strings.TrimSuffix(path.Base(source.Path), ".sql")
	_, name, _ = strings.Cut(name, "_")
	return name
}

// seed stores the state of a fresh installation (contract 4.7): the protected
// namespace "default" at revision 1, with the record of its creation, and the
// revision of the authentications. The texts are written out, so that the step
// stays what it was when the types of the domain move on. All values are our
// own, hence no placeholders, whose form depends on the dialect.
func seed(ctx context.Context, tx *sql.Tx) error {
	now := time.Now().UTC().Truncate(time.Second)
	text := now.Format(time.RFC3339)
	body := fmt.Sprintf(`{"key":"default","name":"Default","description":"Default namespace","protected":true,"createdAt":"%s","updatedAt":"%s"}`, text, text)
	stamp := rand.Int64() // #nosec G404 -- tells copies of a database apart, keeps no secret
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
