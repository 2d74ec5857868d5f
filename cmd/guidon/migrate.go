package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

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

func (p *program) migrateCommand() *cobra.Command {
	var database string
	migrate := p.action(func(ctx context.Context, _ []string) error { return p.migrateUp(ctx, database) })
	up := &cobra.Command{
		Use:   "up",
		Short: "Apply the pending steps",
		Long: `Apply the pending schema steps. An SQLite file is created if it does not exist, and
rejected if another process is using it. On a database server, any number of
processes may run this concurrently: one applies the steps, the others wait for it.
It can be killed at any time and run again.`,
		Example: `  guidon migrate up
  guidon migrate up --db /data/guidon.db`,
		Args: cobra.NoArgs,
		RunE: migrate,
	}
	var format outputFormat
	status := &cobra.Command{
		Use:     "status",
		Short:   "List the steps",
		Long:    "List the schema steps and when they were applied. Nothing is changed.",
		Example: `  guidon migrate status`,
		Args:    cobra.NoArgs,
		RunE:    p.action(func(ctx context.Context, _ []string) error { return p.migrateStatus(ctx, database, format) }),
	}
	format.flag(status, "the pending steps")
	var timeout time.Duration
	wait := &cobra.Command{
		Use:   "wait",
		Short: "Wait until the schema is up to date",
		Long: `Wait until another process has applied the pending schema steps. It also waits while
the database cannot be reached, but not if it rejects the connection. Run it before a server if a separate job migrates
the database. Nothing is changed.`,
		Example: `  guidon migrate wait && guidon server
  guidon migrate wait --timeout 30s`,
		Args: cobra.NoArgs,
		RunE: p.action(func(ctx context.Context, _ []string) error { return p.migrateWait(ctx, database, timeout) }),
	}
	wait.Flags().DurationVar(&timeout, "timeout", 5*time.Minute, "longest `time` to wait; 0 waits forever")
	command := group("migrate", "Update the database schema", migrateHelp, up, status, wait)
	command.RunE, command.Example = migrate, up.Example
	for _, command := range []*cobra.Command{command, up, status, wait} {
		databaseFlag(command, &database)
	}
	return command
}

func (p *program) migrateUp(ctx context.Context, database string) (err error) {
	c, err := p.loadConfig(ctx, database)
	if err != nil {
		return err
	}
	db, end, err := p.openDatabase(ctx, c, writing)
	if _, held := errors.AsType[heldError](err); held {
		return fmt.Errorf("%w; stop it first (a server also updates the schema when it starts)", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	err = instance.WaitReady(ctx, c.DB, db.DB, func(err error, next time.Duration) {
		fmt.Fprintf(p.err, "cannot reach the database %s yet: %v; next attempt in %s\n", db.Path(), err, clock.Text(next.Round(time.Millisecond)))
	})
	if err != nil {
		return err
	}
	progress := p.startProgress("migrating", "steps", 0)
	total := 0
	applied, err := migrate.UpEach(ctx, db.SQL(), db.Dialect(), func(next migrate.Step, pending int) {
		if total == 0 {
			total = pending
			progress.expect(total)
		}
		progress.at(total-pending, fmt.Sprintf("applying %d %s", next.Version, next.Name))
	})
	progress.stop()
	for _, step := range applied {
		fmt.Fprintf(p.out, "applied %d %s\n", step.Version, step.Name)
	}
	if err != nil {
		return db.Explain(err)
	}
	if len(applied) == 0 {
		fmt.Fprintln(p.out, "nothing to do: the schema is up to date")
	}
	return nil
}

func (p *program) migrateWait(ctx context.Context, database string, timeout time.Duration) (err error) {
	c, err := p.loadConfig(ctx, database)
	if err != nil {
		return err
	}
	db, end, err := p.openDatabase(ctx, c, reading)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	bounded := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	if migrate.Check(bounded, db.SQL(), db.Dialect()) != nil {
		fmt.Fprintf(p.err, "waiting for the schema of %s\n", db.Path())
	}
	if err := reachable(ctx, db.DB, timeout); err != nil {
		return err
	}
	if err := migrate.Wait(bounded, db.SQL(), db.Dialect()); err != nil {
		return err
	}
	fmt.Fprintln(p.out, "the schema is up to date")
	return nil
}

// reachable waits until a database server responds. A timeout of 0 means any time.
func reachable(ctx context.Context, db *store.DB, timeout time.Duration) error {
	if !db.Shared() {
		return nil
	}
	return db.WaitReady(ctx, time.Now().Add(cmp.Or(timeout, math.MaxInt64)), nil)
}

func (p *program) migrateStatus(ctx context.Context, database string, format outputFormat) (err error) {
	c, err := p.loadConfig(ctx, database)
	if err != nil {
		return err
	}
	db, end, err := p.openDatabase(ctx, c, reading)
	if err != nil {
		return err
	}
	defer func() { err = closing(err, end) }()
	steps, err := migrate.Status(ctx, db.SQL(), db.Dialect())
	if err != nil {
		return db.Explain(err)
	}
	return p.show(format, shownSteps(steps))
}

// migrationStep is a schema step in JSON.
type migrationStep struct {
	Step      int        `json:"step"`
	Name      string     `json:"name"`
	AppliedAt *time.Time `json:"appliedAt"` // null if it is pending
}

func shownSteps(steps []migrate.Step) shown {
	list, pending := make([]migrationStep, len(steps)), []string(nil)
	for i, step := range steps {
		list[i] = migrationStep{Step: int(step.Version), Name: step.Name}
		if step.AppliedAt.IsZero() {
			pending = append(pending, stepName(step.Name))
		} else {
			list[i].AppliedAt = &step.AppliedAt
		}
	}
	return shown{data: dataOfValue(list), names: pending, table: func(out io.Writer) error { return printSteps(out, steps) }}
}

func printSteps(out io.Writer, steps []migrate.Step) error {
	table := newTable(out, "STEP\tNAME\tAPPLIED")
	for _, step := range steps {
		fmt.Fprintf(table, "%d\t%s\t%s\n", step.Version, stepName(step.Name), timeOr(step.AppliedAt, "pending"))
	}
	return table.Flush()
}

// closing calls end. It returns err, or else the error of end.
func closing(err error, end func() error) error {
	if later := end(); err == nil {
		return later
	}
	return err
}

// stepName returns the name of a step, or a text for a step of a newer release.
func stepName(name string) string {
	if name == "" {
		return "(unknown to this program)"
	}
	return name
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// timeOr formats t for a table. It returns none if t is zero.
func timeOr(t time.Time, none string) string {
	if t.IsZero() {
		return none
	}
	return t.UTC().Format(time.RFC3339)
}
