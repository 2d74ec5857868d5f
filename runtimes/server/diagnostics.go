package server

import (
	"log"
	"net/http"
	"time"
)

// Bounds of the listener for diagnostics, which has few clients. Package pprof puts
// the write timeout off by the time that a profile takes.
const (
	diagnosticsConnections    = 64
	diagnosticsReadTimeout    = 10 * time.Second
	diagnosticsWriteTimeout   = time.Minute
	diagnosticsIdleTimeout    = time.Minute
	diagnosticsMaxHeaderBytes = 16 << 10
)

// newDiagnosticsServer returns the server of the listener for diagnostics.
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
