package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/cmd/internal/secrets"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/runtimes/lambda"
	"github.com/guidonhq/guidon/service/count"
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
	counter := instance.NewCounter(c.Analytics, db)
	service, err := instance.NewService(c, instance.Watch(snapshots, logger), counter)
	if err != nil {
		return nil, err
	}
	service, deliveries := instance.WithWebhooks(c, service, db, version, logger)
	deliveries.Audit(c, db, instance.AuditSenders(c, version, out), logger)
	h, err := instance.HandlerConfig(c, service, db, db, nil, instance.BuildInfo(version, commit, date),
		instance.Runtime{RemovedPath: lambda.RemovedPath}, logger)
	if err != nil {
		return nil, err
	}
	schema := &schema{db: db, timeout: c.DB.StatementTimeout}
	h.Ready = schema.check
	h.AllowedHosts = []string{"*"} // AWS serves only host names that it has assigned, so DNS rebinding is impossible
	if shared, ok := snapshots.(interface{ Outage() time.Duration }); ok {
		h.Outage = shared.Outage
	}
	if c.Metrics.EMF {
		h.Observer = &emf{out: out, function: os.Getenv("AWS_LAMBDA_FUNCTION_NAME"), now: time.Now}
	}
	jobs := jobs{config: c, db: db, schema: schema, service: service, deliveries: deliveries, logger: logger, now: time.Now}
	return lambda.New(lambda.Config{
		Handler:  flushing(handler.New(h), counter, c.Analytics.Buffer.FlushPeriod, logger),
		Jobs:     map[string]lambda.Job{"migrate": jobs.migrate, "cleanup": jobs.cleanup, "tick": jobs.tick},
		Schedule: "cleanup",
		BasePath: c.Lambda.BasePath, Streaming: c.Lambda.Streaming,
		Logger: logger,
	}), nil
}

// flushTimeout limits how long an invocation takes longer to store counts of evaluations.
const flushTimeout = 2 * time.Second

// flushing returns the handler, which also stores counts of evaluations once in each period, before a request
// ends: nothing runs between two requests.
func flushing(h http.Handler, counter *count.Counter, period time.Duration, logger *slog.Logger) http.Handler {
	if counter == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), flushTimeout)
		defer cancel()
		if err := counter.FlushEach(ctx, period); err != nil {
			logger.Warn("cannot store counts of evaluations", "error", err)
		}
	})
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
	if c.Audit.Sinks.Kafka.Enabled {
		problems = append(problems,
			errors.New("audit.sinks.kafka.enabled (GUIDON_AUDIT_SINKS_KAFKA_ENABLED): is not supported on AWS Lambda; use another sink"))
	}
	return errors.Join(problems...)
}

// noTerminal is the [instance.Console] of a function.
func noTerminal(io.Writer, slog.Level) slog.Handler { return nil }
