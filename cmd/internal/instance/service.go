// Package instance creates the parts of the service that are the same for all runtimes
// from the configuration: log, database, cache, handler, first token, cleanup.
package instance

import (
	"log/slog"
	"math"
	"net/http"
	"runtime"
	"runtime/debug"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/diagnostics"
	"github.com/guidonhq/guidon/handler/evaluation"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/handler/login"
	"github.com/guidonhq/guidon/handler/login/loginstate"
	"github.com/guidonhq/guidon/handler/management"
	"github.com/guidonhq/guidon/handler/web"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// Runtime describes the runtime of the handler for pages.
type Runtime struct {
	Streams bool // it has event streams
	// RemovedPath returns the prefix that the runtime has removed from the path of the
	// request. It is nil if the runtime removes none.
	RemovedPath func(*http.Request) string
}

// HandlerConfig returns the configuration of the handler, except the parts that depend on
// the runtime: health, outage, metrics, profiler. favorites keeps those of accounts. observer,
// which may be nil, is notified of attempts to sign in.
func HandlerConfig(c *config.Config, svc *service.Service, secrets service.SecretStore, favorites service.FavoriteStore, observer login.Observer, info diagnostics.Info, runtime Runtime, logger *slog.Logger) (handler.Config, error) {
	signIn, err := newSignIn(c, secrets, observer, logger)
	if err != nil {
		return handler.Config{}, err
	}
	shown := pages(c, info, runtime)
	shown.Favorites = favorites
	site := web.New(shown)
	h := handler.Config{
		SignIn: signIn, Session: sessionCookie(c), MaxSessions: c.Authentication.Session.MaxPerIdentity, StepError: site.ErrorPage,
		Pages:   site.Mount,
		Service: svc,
		Authentication: call.AuthenticationConfig{
			Required:          c.Authentication.Required,
			ExcludeManagement: c.Authentication.Exclude.Management,
			ExcludeEvaluation: c.Authentication.Exclude.Evaluation,
			ExcludeOFREP:      c.Authentication.Exclude.OFREP,
			TokenMethod:       c.Authentication.Methods.Token.Enabled,
		},
		AllowedHosts: c.Server.Hosts(),
		PublicOrigin: c.Server.PublicOrigin(), TrustedOrigins: c.Authentication.Session.CSRF.TrustedOrigins,
		Info:          info,
		UI:            diagnostics.UI{Theme: c.UI.DefaultTheme, TopbarColor: c.UI.Topbar.Color},
		Configuration: c.JSON,
		Logger:        logger,
		Timeout:       c.Server.RequestTimeout,
		ImportMemory:  importMemory(),
		Budget:        newBudget(c.Server.RequestMemory),
		Failures:      newFailures(c.Authentication.FailureLimit),
		Requests:      newRequests(c.Authentication.RequestLimit),
		Proxies:       c.Server.TrustedNetworks(),
		RecordAddress: c.Authentication.RecordAddress,
		ReadOnly:      c.Server.ReadOnly,
	}
	if c.Log.Evaluations.Enabled {
		h.Evaluations = evaluation.NewLog(logger, c.Log.Evaluations.Entities)
	}
	if c.CORS.Enabled {
		h.CORS = &exchange.CORSConfig{AllowedOrigins: c.CORS.AllowedOrigins, AllowedHeaders: c.CORS.AllowedHeaders}
	}
	return h, nil
}

// pages returns the configuration of the pages.
func pages(c *config.Config, info diagnostics.Info, runtime Runtime) page.Config {
	return page.Config{
		PublicPath: c.Server.PublicPath(), PublicURL: c.Server.PublicURL, RemovedPath: runtime.RemovedPath,
		Required: c.Authentication.Required, Session: sessionCookie(c), CheckReturnTo: loginstate.CheckReturnTo,
		Version: info.Version, ReadOnly: c.Server.ReadOnly, Streams: runtime.Streams, Counts: c.Analytics.Enabled,
		Retention: c.Changes.Retention,
		Interface: page.Interface{
			Disabled: !c.UI.Enabled, DefaultTheme: page.Theme(c.UI.DefaultTheme),
			TopbarColor: c.UI.Topbar.Color, TopbarLabel: c.UI.Topbar.Label,
			DefaultNamespace: c.UI.DefaultNamespace, Message: c.UI.Message,
		},
	}
}

// newRequests returns the limit of requests, or nil if there is none.
func newRequests(c config.RequestLimit) *call.RequestLimiter {
	if c.PerToken == 0 {
		return nil
	}
	return call.NewRequestLimiter(c.PerToken, clock.Tick)
}

func newFailures(c config.FailureLimit) *limit.Failures {
	return limit.NewFailures(limit.FailureConfig{PerAddress: c.PerAddress, Total: c.Total, Loopback: c.Loopback, Now: clock.Tick})
}

// Limits on the memory of requests if not configured. The shares are the divisors of
// Go's memory limit.
const (
	leastRequestMemory   = 32 << 20
	defaultRequestMemory = 64 << 20
	requestMemoryShare   = 14
	importMemoryShare    = 5
	turnShare            = 4         // of all heavy operations at a time
	largeTurn            = 256 << 20 // for one with the largest objects
)

// newBudget returns the budget of the requests in progress. Heavy operations have a turn for
// every second processor, as far as the memory suffices, and at least one.
func newBudget(configured int) *limit.Budget {
	b := limit.NewBudget(requestMemory(configured))
	turn := b.Heavy.NewTurn()
	fitting := debug.SetMemoryLimit(-1) / turnShare / min(turn.Room(), largeTurn)
	b.Heavy = b.Heavy.WithTurns(int(max(1, min(fitting, int64(runtime.GOMAXPROCS(0)/2)))))
	return b
}

// requestMemory returns the limit, in bytes, on the memory of requests in progress.
// configured is in MiB; if it is 0, the limit depends on that of the Go runtime.
func requestMemory(configured int) int64 {
	if configured > 0 {
		return int64(configured) << 20
	}
	limit := debug.SetMemoryLimit(-1) // returns the current limit
	if limit == math.MaxInt64 {
		return defaultRequestMemory
	}
	return max(limit/requestMemoryShare, leastRequestMemory)
}

// importMemory returns the limit, in bytes, on the memory of an imported document. The
// garbage collector and the state that the import creates need as much again.
func importMemory() int64 {
	return min(debug.SetMemoryLimit(-1)/importMemoryShare, management.DefaultImportMemory)
}
