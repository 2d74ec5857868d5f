package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/runtimes/lambda"
)

// newFunction returns the configured function. It makes no connections, because a
// request waits for the start of the function.
func newFunction(environ []string, file string, out io.Writer) (*lambda.Function, error) {
	var aws secrets.AWS
	c, err := config.Load(context.Background(), file, environ, &aws)
	if err != nil {
		return nil, err
	}
	if err := checkSupported(c); err != nil {
		return nil, err
	}
	// The log is written without delay, because the function is frozen between
	// requests. Its file, if any, is closed at the end of the process.
	logger, _, err := instance.OpenLog(c.Log, out, noTerminal, 0)
	if err != nil {
		return nil, err
	}
	for _, warning := range c.Warnings {
		logger.Warn(warning)
	}
	db, err := instance.OpenDatabase(context.Background(), c.DB, &aws, false, nil)
	if err != nil {
		return nil, err
	}
	storage, err := instance.WithRedis(db, c.Cache, false, nil)
	if err != nil {
		return nil, err
	}
	snapshots := instance.NewCache(storage, c.Cache)
	schema := &schema{db: db, timeout: c.DB.StatementTimeout}
	service, err := instance.NewService(c, instance.Watch(checkedStore{snapshots, schema}, logger))
	if err != nil {
		return nil, err
	}
	h, err := instance.HandlerConfig(c, service, checkedSecrets{db, schema}, nil, instance.BuildInfo(version, commit, date),
		instance.Runtime{RemovedPath: lambda.RemovedPath}, logger)
	if err != nil {
		return nil, err
	}
	h.AllowedHosts = []string{"*"} // AWS serves only host names that it has assigned, so DNS rebinding is impossible
	if shared, ok := snapshots.(interface{ Outage() time.Duration }); ok {
		h.Outage = shared.Outage
	}
	jobs := jobs{config: c, db: db, schema: schema, service: service, logger: logger}
	return lambda.New(lambda.Config{
		Handler:  handler.New(h),
		Jobs:     map[string]lambda.Job{"migrate": jobs.migrate, "cleanup": jobs.cleanup},
		Schedule: "cleanup",
		BasePath: c.Lambda.BasePath, Streaming: c.Lambda.Streaming,
		Logger: logger,
	}), nil
}

// checkSupported returns an error for settings that only a server supports.
func checkSupported(c *config.Config) error {
	var problems []error
	if !c.DB.Shared() {
		problems = append(problems, errors.New("db.url (GUIDON_DB_URL): must be the URL of a database server (postgres://, cockroachdb:// or mysql://), because a function has no persistent files"))
	}
	if c.DB.MigrateOnStart == "true" {
		problems = append(problems, fmt.Errorf("db.migrate_on_start (GUIDON_DB_MIGRATE_ON_START): is not supported on AWS Lambda; invoke the function with %s", migrateEvent))
	}
	if c.Diagnostics.Profiling.Enabled {
		problems = append(problems,
			errors.New("diagnostics.profiling.enabled (GUIDON_DIAGNOSTICS_PROFILING_ENABLED): is not supported on AWS Lambda"))
	}
	return errors.Join(problems...)
}

// noTerminal is the [instance.Console] of a function.
func noTerminal(io.Writer, slog.Level) slog.Handler { return nil }
