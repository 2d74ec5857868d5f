package handler

import (
	"net/http"

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
// names none (contract 11).
func (h *Handler) serveHealth(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	x.event.quiet = true
	switch h.health(r.URL.Query().Get("service")) {
	case HealthServing:
		body := `{"status":"SERVING"}`
		if x.pretty() {
			body = "{\n  \"status\": \"SERVING\"\n}"
		}
		x.reply(http.StatusOK, contentJSON, []byte(body))
	case HealthNotServing:
		x.replyError(guidon.Errorf(guidon.Unavailable, "not serving"))
	default:
		x.replyError(guidon.Errorf(guidon.NotFound, "unknown service"))
	}
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
