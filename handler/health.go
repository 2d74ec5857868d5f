package handler

import (
	"fmt"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
)

// HealthStatus says whether a service can be used.
type HealthStatus uint8

// The statuses.
const (
	HealthUnknown    HealthStatus = iota // there is no such service
	HealthServing                        // ready
	HealthNotServing                     // not ready, or stopping
)

// serveHealth answers for the service that the query names, the whole where it
// names none (contract 11); with the parameter full, of what it stands on, too.
func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	x.event.quiet = true
	query := r.URL.Query()
	switch h.health(query.Get("service")) {
	case HealthServing:
		x.replyRaw(contentJSON, h.healthBody(query.Has("full")))
	case HealthNotServing:
		x.replyError(guidon.Errorf(guidon.Unavailable, "not serving"))
	default:
		x.replyError(guidon.Errorf(guidon.NotFound, "unknown service"))
	}
}

// healthBody returns the body of a healthy answer. It is one also while the
// database does not answer: to end an instance that still evaluates would make
// matters worse.
func (h *Handler) healthBody(full bool) []byte {
	outage := time.Duration(0)
	switch {
	case !full:
		return []byte(`{"status":"SERVING"}`)
	case h.config.Outage != nil:
		outage = h.config.Outage()
	}
	if outage == 0 {
		return []byte(`{"status":"SERVING","database":{"status":"SERVING"}}`)
	}
	return fmt.Appendf(nil, `{"status":"SERVING","database":{"status":"NOT_SERVING","staleSeconds":%s}}`, StaleSeconds(outage))
}

func (h *Handler) health(service string) HealthStatus {
	switch {
	case h.config.Health != nil:
		return h.config.Health(service)
	case service == "":
		return HealthServing
	}
	return HealthUnknown
}
