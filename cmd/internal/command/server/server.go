// Package server has the commands that run the service and check its health.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/cmd/internal/command/cli"
	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/cmd/internal/instance"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/audit"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/login"
	"github.com/guidonhq/guidon/handler/stream"
	"github.com/guidonhq/guidon/runtimes/server"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
	"github.com/guidonhq/guidon/runtimes/server/telemetry"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
)

const serverHelp = `Start the service and run until it is stopped.

The configuration is a file and the environment; "guidon config init" writes a
file to start from. An SQLite file is created if it does not exist, and its schema
is updated. The schema of a database that several servers share must be up to date
(see "guidon migrate"), unless db.migrate_on_start is true. If static tokens are
enabled and the database never had one, a first token is created. Unless it was
configured, it is shown once in the log.

SIGTERM or SIGINT stops the server. Health changes to NOT_SERVING. For
server.shutdown_delay, requests are still accepted and clients are told to close
their connections. Requests in progress then have server.shutdown_timeout to
finish, and the database is closed. A second signal ends the process immediately.`

// ServerCommand returns the command "server".
func ServerCommand(p *cli.Program, build diagnostics.Info) *cobra.Command {
	return p.Command(cli.Verb{
		Use: "server", Short: "Start the service", Long: serverHelp,
		Example: `  guidon server
  guidon server --config guidon.yml
  GUIDON_SERVER_HTTP_PORT=8081 GUIDON_DB_URL=file:/data/guidon.db guidon server`,
		Run: func(ctx context.Context, _ []string) error { return serve(ctx, p, build) },
	})
}

// ballast is how much memory the server allocates and never touches, so that it is
// never backed by physical memory. The garbage collector runs when the heap has
// doubled. With only a few megabytes of flags that would be dozens of times a second,
// which slows down every request: with one flag and 32 connections the ballast serves 17 %
// more requests per second. Unlike a higher GOGC, it makes no difference to a server with
// many flags.
const ballast = 16 << 20

// logDelay is how long log lines may be delayed, so that a busy server writes several
// of them together.
const logDelay = 10 * time.Millisecond

// serve starts the server in the order of operations 4.6 (configuration, log,
// database, service, listeners) and stops it in reverse order.
func serve(ctx context.Context, p *cli.Program, build diagnostics.Info) (err error) {
	defer runtime.KeepAlive(make([]byte, ballast))
	c, err := p.LoadConfig(ctx, "")
	if err != nil {
		return err
	}
	logger, closeLog, err := instance.OpenLog(c.Log, p.Stdout, p.Console, logDelay)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			logger.Error("server failed", "error", err)
			if c.Log.File == "" && ctx.Err() == nil { // the log has said it where it would be printed
				err = &cli.ExitError{Code: cli.ExitFailure}
			}
		}
		err = errors.Join(err, closeLog())
	}()
	grpcMessages.to(logger, instance.LogLevel(c.Log.GRPCLevel))
	defer grpcMessages.to(nil, 0)

	tracer, err := openTracer(ctx, c, build.Version, logger)
	if err != nil {
		return err
	}
	if tracer != nil {
		p.Trace = tracer.Query
		defer tracer.Close()
	}
	db, err := p.OpenDatabase(ctx, c, cli.Serving)
	if err != nil {
		return cli.AdviseHeld(err, "stop it first, or set another file with db.url (GUIDON_DB_URL)")
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := instance.Prepare(ctx, c.DB, db.DB, c.DB.Migrates(), logger); err != nil {
		return db.Explain(err)
	}
	logger.Info("database ready", "path", db.Path())

	senders := instance.AuditSenders(c, build.Version, p.Stdout)
	if c.Audit.Sinks.Kafka.Enabled {
		producer, err := openKafka(c.Audit.Sinks.Kafka, c.Server.PublicURL)
		if err != nil {
			return err
		}
		defer producer.Close()
		senders["kafka"] = producer
	}
	instance.RegisterSinks(ctx, db.DB, senders, logger)
	parts, err := newParts(c, db, build, tracer, senders, logger)
	if err != nil {
		return err
	}
	if parts.metrics != nil && c.Metrics.Exporter == config.ExporterOTLP {
		stop, err := parts.metrics.Push(ctx, collector(c.Metrics.OTLP, build.Version, logger))
		if err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
		defer stop()
	}
	if err := instance.Bootstrap(ctx, c.Authentication, parts.service, logger); err != nil {
		return fmt.Errorf("cannot create the bootstrap token: %w", db.Explain(err))
	}
	for _, warning := range c.Warnings {
		logger.Warn(warning)
	}
	if !c.Authentication.Required {
		logger.Warn("authentication is disabled: anyone who can reach the listeners can change flags", "host", c.Server.Host)
	}
	if c.Diagnostics.Profiling.Enabled && !c.Authentication.Required && c.Server.DiagnosticsAddress == "" {
		logger.Warn("the profiler is enabled but cannot be reached: set server.diagnostics_address, or require authentication")
	}
	if err := server.Run(ctx, parts.runtime(c, logger)); err != nil {
		return &cli.ExitError{Code: cli.ExitFailure, Err: err} // not exitInterrupted: requests may have been cut off
	}
	parts.flushLast(ctx, logger)
	logger.Info("stopped")
	return nil
}

// parts are the components of a server.
type parts struct {
	build     diagnostics.Info
	db        *instance.Storage
	service   *service.Service
	counter   *count.Counter // nil if evaluations are not counted
	handler   *handler.Handler
	health    *server.Health
	metrics   *metrics.Registry
	streams   *stream.Hub // nil if disabled
	delay     *server.Delay
	freshness *freshness

	deliveries *instance.Deliveries
}

func newParts(
	c *config.Config, db *instance.Storage, build diagnostics.Info, tracer *telemetry.Tracer, senders map[string]audit.Sender, logger *slog.Logger,
) (parts, error) {
	snapshots := instance.NewCache(db, c.Cache)
	freshness := newFreshness(snapshots, db.Redis, c.Cache.Bound())
	watched := instance.Watch(snapshots, logger)
	counter := instance.NewCounter(c.Analytics, db.DB)
	svc, err := instance.NewService(c, watched, counter)
	if err != nil {
		return parts{}, err
	}
	svc, deliveries := instance.WithWebhooks(c, svc, db.DB, build.Version, logger)
	deliveries.Audit(c, db.DB, senders, logger)
	p := parts{
		build:     build,
		db:        db,
		service:   svc,
		counter:   counter,
		health:    server.NewHealth(),
		delay:     server.NewDelay(),
		freshness: freshness,

		deliveries: deliveries,
	}
	if c.Streams.Enabled {
		p.streams = stream.NewHub(stream.Config{
			Subscribe: snapshots.Subscribe, PublicURL: c.StreamsPublicURL(),
			MaxOFREP: c.Streams.MaxOFREP, MaxChanges: c.Streams.MaxChanges,
		})
	}
	signIns := metrics.NewSignIns()
	var observer login.Observer = signIns
	if tracer != nil {
		observer = tracedSignIns{signIns, tracer}
	}
	h, err := instance.HandlerConfig(c, p.service, db.DB, db.DB, observer, build, instance.Runtime{Streams: p.streams != nil}, logger)
	if err != nil {
		return parts{}, err
	}
	h.Health, h.Outage, h.Streams, h.Backup = p.health.Status, freshness.outage(), p.streams, openBackup(db.DB)
	h.DatabaseFault = db.CheckFile
	h.Overload = &call.OverloadConfig{Delay: p.delay.Current, Share: float64(c.Server.MaxWaitPercent) / 100}
	if c.Diagnostics.Profiling.Enabled {
		h.Profiling = server.Profiling()
	}
	if c.Metrics.Enabled {
		p.metrics = metrics.New(metrics.Config{
			Info: h.Info, Cache: freshness.metrics, Unreadable: watched.Count, Redis: freshness.redisMetrics(), Streams: p.streams,
			Counts: p.counter, Memory: h.Budget, Failures: h.Failures, SignIns: signIns, Logger: logger,
			Deliveries: func() metrics.Deliveries { return deliveriesOf(deliveries) },
		})
		h.Metrics, h.MetricsPublic = p.metrics.Handler(), c.Metrics.Public
		h.Observer, h.Evaluations = p.metrics, evaluation.Observers(p.metrics, h.Evaluations)
	}
	if tracer != nil {
		h.Tracer, h.Evaluations = tracer, evaluation.Observers(tracer, h.Evaluations)
	}
	p.handler = handler.New(h)
	return p, nil
}

// runtime returns the configuration of the server runtime.
func (p parts) runtime(c *config.Config, logger *slog.Logger) server.Config {
	s := c.Server
	run := server.Config{
		Handler: p.handler, Health: p.health, Streams: p.streams, Delay: p.delay, Logger: logger,
		HTTP: server.HTTP{
			Address:     net.JoinHostPort(s.Host, strconv.Itoa(s.WebPort())),
			ReadTimeout: s.ReadTimeout, WriteTimeout: s.WriteTimeout, MaxConnections: s.MaxConnections,
		},
		GRPC: server.GRPC{
			Address:           net.JoinHostPort(s.Host, strconv.Itoa(s.GRPCPort)),
			MaxConnectionIdle: s.GRPCConnMaxIdleTime, ReceiveTimeout: s.ReadTimeout,
			MaxConnectionAge: s.GRPCConnMaxAge, MaxConnectionAgeGrace: s.GRPCConnMaxAgeGrace,
			MaxConnections: s.GRPCMaxConnections,
		},
		DiagnosticsAddress: s.DiagnosticsAddress,
		ShutdownDelay:      s.ShutdownDelay, ShutdownTimeout: s.ShutdownTimeout,
		OnReady: func(web, grpc net.Addr) {
			logger.Info("serving", "http", s.Protocol+"://"+web.String(), "grpc", strings.Replace(s.Protocol, "http", "grpc", 1)+"://"+grpc.String(),
				"version", p.build.Version)
		},
	}
	if s.TLS() {
		run.TLS = &server.TLS{CertFile: s.CertFile, KeyFile: s.CertKey}
	}
	run.Loops = p.loops(c, logger)
	return run
}

// loops returns the background work of the server.
func (p parts) loops(c *config.Config, logger *slog.Logger) []server.Loop {
	loops := p.freshness.loops(logger)
	if !p.db.Shared() {
		loops = append(loops, watchFile(p.db.CheckFile, logger))
	}
	clean := instance.NewCleaner(c, p.db.DB, p.service, change.Actor{ID: "system:cleanup"})
	cleanups := c.Authentication.Methods.Cleanups()
	for _, method := range c.Authentication.Methods.Enabled() {
		cleanup, cleaned := cleanups[method]
		if !cleaned {
			continue
		}
		loops = append(loops, server.Loop{
			Name: "cleanup of " + method.String(), Interval: cleanup.Interval,
			Run: func(ctx context.Context) error { return clean.LoopTokens(ctx, method, logger) },
		})
	}
	loops = append(loops, server.Loop{
		Name: "events of changes", Interval: c.Changes.CleanupInterval,
		Run: func(ctx context.Context) error { return clean.LoopEvents(ctx, logger) },
	})
	if c.Changes.Retention > 0 {
		loops = append(loops, server.Loop{
			Name: "change cleanup", Interval: c.Changes.CleanupInterval,
			Run: func(ctx context.Context) error { return clean.LoopChanges(ctx, logger) },
		})
	}
	for _, runner := range p.deliveries.Runners {
		loops = append(loops, server.Loop{Name: "delivery", Interval: deliver.Interval, Run: runner.Run})
	}
	if p.counter != nil {
		loops = append(loops, flushCounts(p.counter, c.Analytics.Buffer.FlushPeriod), server.Loop{
			Name: "roll-up of evaluations", Interval: rollUpInterval, Run: clean.LoopEvaluations,
		})
	}
	return loops
}

// deliveriesOf returns the numbers of deliveries for metrics.
func deliveriesOf(d *instance.Deliveries) metrics.Deliveries {
	s := d.Webhooks.Stats()
	m := metrics.Deliveries{Succeeded: s.Succeeded, Failed: s.Failed, Webhooks: map[string]int{}, Behind: map[string]time.Duration{}}
	for state, n := range s.States {
		m.Webhooks[string(state)] = n
	}
	for _, runner := range d.Runners {
		maps.Copy(m.Behind, runner.Behind())
	}
	return m
}
