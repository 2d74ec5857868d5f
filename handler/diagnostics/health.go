package diagnostics

import (
	"encoding/json"
	"fmt"

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
	if !full {
		return []byte(`{"status":"SERVING"}`)
	}
	return fmt.Appendf(nil, `{"status":"SERVING","database":%s}`, d.databaseHealth())
}

// databaseHealth returns the state of the database in JSON.
func (d Diagnostics) databaseHealth() string {
	if d.DatabaseFault != nil {
		if err := d.DatabaseFault(); err != nil {
			reason, _ := json.Marshal(guidon.PublicMessage(err)) // a string cannot fail
			return fmt.Sprintf(`{"status":"NOT_SERVING","reason":%s}`, reason)
		}
	}
	if d.Outage != nil {
		if outage := d.Outage(); outage > 0 {
			return fmt.Sprintf(`{"status":"NOT_SERVING","staleSeconds":%s}`, call.StaleSeconds(outage))
		}
	}
	return `{"status":"SERVING"}`
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
