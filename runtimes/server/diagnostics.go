package server

import (
	"log"
	"net/http"
	"time"
)

// Limits of the diagnostics listener, which has few clients. Package pprof extends the
// write timeout by the duration of a profile.
const (
	diagnosticsConnections    = 64
	diagnosticsReadTimeout    = 10 * time.Second
	diagnosticsWriteTimeout   = time.Minute
	diagnosticsIdleTimeout    = time.Minute
	diagnosticsMaxHeaderBytes = 16 << 10
)

func newDiagnosticsServer(config Config) *http.Server {
	return &http.Server{
		Handler:        config.Handler.Diagnostics(),
		ReadTimeout:    diagnosticsReadTimeout,
		WriteTimeout:   diagnosticsWriteTimeout,
		IdleTimeout:    diagnosticsIdleTimeout,
		MaxHeaderBytes: diagnosticsMaxHeaderBytes,
		ErrorLog:       log.New(&httpErrorWriter{logger: config.Logger}, "", 0),
	}
}
