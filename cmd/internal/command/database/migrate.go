// Package database has the commands that work on the database itself: schema, copies, backups and cleanup.
package database

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/store"
)

const migrateHelp = `Update the schema of the database, as "migrate up" does, or show its state.

"guidon server" updates an SQLite database automatically. If several servers share
a database, run "migrate up" as a separate job before the new release starts, or
set db.migrate_on_start. Servers of the previous release keep working during the
migration. Those of the new release refuse to start until it is done.`

// migration is one run of "migrate".
type migration struct {
	cli.Task
	timeout time.Duration // of "wait"
}

// MigrateCommand returns the command "migrate".
func MigrateCommand(p *cli.Program) *cobra.Command {
	m := &migration{Task: cli.Task{Program: p, Scope: cli.OnMachine}}
	commands := m.Commands([]cli.Verb{{
		Use: "up", Short: "Apply the pending steps",
		Long: `Apply the pending schema steps. An SQLite file is created if it does not exist, and
rejected if another process is using it. On a database server, any number of
processes may run this concurrently: one applies the steps, the others wait for it.
It can be killed at any time and run again.`,
		Example: `  guidon migrate up
  guidon migrate up --db /data/guidon.db`,
		Local: cli.Local{
			Access: cli.Writing, AnySchema: true, Held: "stop it first (a server also updates the schema when it starts)", Do: m.up,
		},
	}, {
		Use: "status", Short: "List the steps", Names: "the pending steps",
		Long:    "List the schema steps and when they were applied. Nothing is changed.",
		Example: `  guidon migrate status`,
		Local:   cli.Local{AnySchema: true, Do: status},
	}, {
		Use: "wait", Short: "Wait until the schema is up to date",
		Long: `Wait until another process has applied the pending schema steps. It also waits while
the database cannot be reached, but not if it rejects the connection. Run it before a server if a separate job migrates
the database. Nothing is changed.`,
		Example: `  guidon migrate wait && guidon server
  guidon migrate wait --timeout 30s`,
		Options: func(command *cobra.Command) {
			command.Flags().DurationVar(&m.timeout, "timeout", 5*time.Minute, "longest `time` to wait; 0 waits forever")
		},
		Local: cli.Local{AnySchema: true, Do: m.wait},
	}, {
		Use: "additions", Short: "Let the database store what earlier releases cannot read",
		Long: `Apply the optional schema step "additions" to an existing database, once no instance
of a release that does not know it is left. Until then, all that such a release cannot
read is refused, so that the way back to it is open. Afterwards it does not start on
the database. A database that this release has created has the step. Running servers
need not be restarted; one with an SQLite file must be stopped first.`,
		Example: `  guidon migrate additions`,
		Local:   cli.Local{Access: cli.Writing, Held: "stop it first", Do: m.additions},
	}})
	command := cli.Group("migrate", "Update the database schema", migrateHelp, commands...)
	command.RunE, command.Example = commands[0].RunE, commands[0].Example
	cli.DatabaseFlag(command, &m.Connection.Database)
	return command
}

func (m *migration) up(ctx context.Context, c *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
	err := instance.WaitReady(ctx, c.DB, db.DB, func(err error, next time.Duration) {
		fmt.Fprintf(m.Err, "cannot reach the database %s yet: %v; next attempt in %s\n",
			db.Path(), err, clock.Text(next.Round(time.Millisecond)))
	})
	if err != nil {
		return cli.Output{}, err
	}
	return m.report(m.applySteps(ctx, db))
}

// applySteps applies the pending steps, and returns them.
func (m *migration) applySteps(ctx context.Context, db *instance.Storage) ([]migrate.Step, error) {
	progress := m.StartProgress("migrating", "steps", 0)
	defer progress.Stop()
	total := 0
	applied, err := migrate.UpEach(ctx, db.SQL(), db.Dialect(), func(next migrate.Step, pending int) {
		if total == 0 {
			total = pending
			progress.Expect(total)
		}
		progress.At(total-pending, fmt.Sprintf("applying %d %s", next.Version, next.Name))
	})
	return applied, db.Explain(err)
}

func (m *migration) additions(ctx context.Context, _ *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
	applied, err := migrate.Additions(ctx, db.SQL(), db.Dialect())
	return m.report(applied, db.Explain(err))
}

// report prints the steps that were applied. It returns the error of the one that failed.
func (m *migration) report(applied []migrate.Step, err error) (cli.Output, error) {
	for _, step := range applied {
		fmt.Fprintf(m.Out, "applied %d %s\n", step.Version, step.Name)
	}
	if err == nil && len(applied) == 0 {
		fmt.Fprintln(m.Out, "nothing to do: the schema is up to date")
	}
	return cli.Output{}, err
}

func (m *migration) wait(ctx context.Context, _ *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
	bounded := ctx
	if m.timeout > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, m.timeout)
		defer cancel()
	}
	if migrate.Check(bounded, db.SQL(), db.Dialect()) != nil {
		fmt.Fprintf(m.Err, "waiting for the schema of %s\n", db.Path())
	}
	if err := reachable(ctx, db.DB, m.timeout); err != nil {
		return cli.Output{}, err
	}
	return cli.Output{Table: cli.Line("the schema is up to date")}, migrate.Wait(bounded, db.SQL(), db.Dialect())
}

// reachable waits until a database server responds. A timeout of 0 means any time.
func reachable(ctx context.Context, db *store.DB, timeout time.Duration) error {
	if !db.Shared() {
		return nil
	}
	return db.WaitReady(ctx, time.Now().Add(cmp.Or(timeout, math.MaxInt64)), nil)
}

func status(ctx context.Context, _ *config.Config, db *instance.Storage, _ []string) (cli.Output, error) {
	steps, err := migrate.Status(ctx, db.SQL(), db.Dialect())
	return shownSteps(steps), db.Explain(err)
}

// migrationStep is a schema step in JSON.
type migrationStep struct {
	Step      int        `json:"step"`
	Name      string     `json:"name"`
	Optional  bool       `json:"optional,omitempty"`
	AppliedAt *time.Time `json:"appliedAt"` // null if it is not applied
}

func shownSteps(steps []migrate.Step) cli.Output {
	list, pending := make([]migrationStep, len(steps)), []string(nil)
	for i, step := range steps {
		list[i] = migrationStep{Step: int(step.Version), Name: step.Name, Optional: step.Optional}
		switch {
		case !step.AppliedAt.IsZero():
			list[i].AppliedAt = &step.AppliedAt
		case !step.Optional:
			pending = append(pending, stepName(step.Name))
		}
	}
	return cli.Output{Data: cli.DataOfValue(list), Names: pending, Table: func(out io.Writer) error { return printSteps(out, steps) }}
}

func printSteps(out io.Writer, steps []migrate.Step) error {
	err := cli.Rows("STEP\tNAME\tAPPLIED", steps, func(step migrate.Step) []any {
		return []any{step.Version, stepName(step.Name), cli.TimeOr(step.AppliedAt, missing(step))}
	})(out)
	if err == nil && slices.ContainsFunc(steps, func(s migrate.Step) bool { return s.Optional && s.AppliedAt.IsZero() }) {
		_, err = fmt.Fprintln(out, "additions is optional: without it, "+
			"what instances of earlier releases cannot read is refused; once none is left, run guidon migrate additions")
	}
	return err
}

// missing says why a step that is not applied is missing.
func missing(step migrate.Step) string {
	if step.Optional {
		return "optional"
	}
	return "pending"
}

// stepName returns the name of a step, or a text for a step of a newer release.
func stepName(name string) string {
	return cmp.Or(name, "(unknown to this program)")
}
