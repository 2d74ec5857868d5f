package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/runtimes/lambda"
)

// newFunction returns the function of the configuration. It connects to nothing:
// who waits for a start waits for a request.
func newFunction(environ []string, file string, out io.Writer) (*lambda.Function, error) {
	var aws secrets.AWS
	c, err := config.Load(context.Background(), file, environ, &aws)
	if err != nil {
		return nil, err
	}
	if err := checkSupported(c); err != nil {
		return nil, err
	}
	// The log is written at once, as the function is frozen between requests, and
	// its file, if any, ends with the process.
	logger, _, err := instance.OpenLog(c.Log, out, func(any) bool { return false }, 0)
	if err != nil {
		return nil, err
	}
	db, err := instance.OpenDatabase(context.Background(), c.DB, &aws, false)
	if err != nil {
		return nil, err
	}
	storage, err := instance.WithRedis(db, c.Cache, false)
	if err != nil {
		return nil, err
	}
	snapshots := instance.NewCache(storage, c.Cache)
	schema := &schema{db: db, timeout: c.DB.StatementTimeout}
	service := guidon.NewService(checkedStore{snapshots, schema}, time.Now)

	h := instance.HandlerConfig(c, service, instance.BuildInfo(version, commit, date), logger)
	h.AllowedHosts = []string{"*"} // AWS answers only under names that it has given, which no page can own
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

// checkSupported returns an error for what a server can be told and a function cannot.
func checkSupported(c *config.Config) error {
	var problems []error
	if !c.DB.Shared() {
		problems = append(problems, errors.New("db.url (GUIDON_DB_URL): must name a database server, since a function has no file that lasts: postgres://, cockroachdb:// or mysql://"))
	}
	if c.DB.MigrateOnStart == "true" {
		problems = append(problems, fmt.Errorf("db.migrate_on_start (GUIDON_DB_MIGRATE_ON_START): is for servers; invoke the function with %s", migrateEvent))
	}
	if c.Diagnostics.Profiling.Enabled {
		problems = append(problems, errors.New("diagnostics.profiling.enabled (GUIDON_DIAGNOSTICS_PROFILING_ENABLED): is for servers"))
	}
	return errors.Join(problems...)
}
