package handler

import (
	"fmt"
	"net/http"
	"time"

	"github.com/guidonhq/guidon"
)

// HealthStatus is the status of a service.
type HealthStatus uint8

// The values of HealthStatus.
const (
	HealthUnknown    HealthStatus = iota // there is no such service
	HealthServing                        // ready
	HealthNotServing                     // not ready, or stopping
)

// serveHealth responds with the health of the service that the query names, or of the
// whole instance (contract 11). With the parameter full it adds that of the database.
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

// healthBody returns the body of a healthy response. The instance stays healthy while
// the database is unavailable: stopping an instance that can still evaluate would make
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
