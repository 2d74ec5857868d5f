package diagnostics

import (
	"fmt"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
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
func (d Diagnostics) serveHealth(x *exchange.Exchange) {
	x.Event.Quiet = true
	query := x.Request.URL.Query()
	switch d.health(query.Get("service")) {
	case HealthServing:
		x.ReplyRaw(exchange.ContentJSON, d.healthBody(query.Has("full")))
	case HealthNotServing:
		x.ReplyError(guidon.Errorf(guidon.Unavailable, "not serving"))
	default:
		x.ReplyError(guidon.Errorf(guidon.NotFound, "unknown service"))
	}
}

// healthBody returns the body of a healthy response. The instance stays healthy while
// the database is unavailable: stopping an instance that can still evaluate would make
// matters worse.
func (d Diagnostics) healthBody(full bool) []byte {
	outage := time.Duration(0)
	switch {
	case !full:
		return []byte(`{"status":"SERVING"}`)
	case d.Outage != nil:
		outage = d.Outage()
	}
	if outage == 0 {
		return []byte(`{"status":"SERVING","database":{"status":"SERVING"}}`)
	}
	return fmt.Appendf(nil, `{"status":"SERVING","database":{"status":"NOT_SERVING","staleSeconds":%s}}`, call.StaleSeconds(outage))
}

func (d Diagnostics) health(service string) HealthStatus {
	switch {
	case d.Health != nil:
		return d.Health(service)
	case service == "":
		return HealthServing
	}
	return HealthUnknown
}
