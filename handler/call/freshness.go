package call

import (
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/internal/clock"
	"github.com/guidonhq/guidon/service"
)

// The headers for how fresh a response must be, and for how old it is.
const (
	MinRevisionHeader = "Guidon-Min-Revision"
	StaleHeader       = "Guidon-Stale"
)

// demand returns how current the state that answers the request must be.
//
// no-cache requires validation (RFC 9111 5.2.1.4), in every mode of the cache. All other
// directives are ignored. In particular, no-store forbids storing any part of the
// exchange, and nothing of it is stored anyway.
func (o *Operation) demand(request *Request) (service.Demand, error) {
	atLeast, err := minRevision(request.MinRevision)
	return service.Demand{
		// By the clock that the cache uses, and not the start of the event: a stream runs
		// its operation many times during one event.
		Begun: clock.Tick(),
		Fresh: hasDirective(request.CacheControl, "no-cache"), AtLeast: atLeast, MayBeStale: o.Has(ServesStale) || request.MayBeStale,
	}, err
}

// minRevision returns the revision that the header requires, or 0 if there is none.
func minRevision(header string) (int64, error) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, nil
	}
	number, err := strconv.ParseUint(header, 10, 63)
	if err != nil {
		return 0, guidon.Errorf(guidon.InvalidArgument, "invalid header %s: must be a revision", MinRevisionHeader)
	}
	return int64(number), nil // #nosec G115 -- 63 bits
}

// hasDirective reports whether the value of a Cache-Control header has the directive,
// with or without an argument.
func hasDirective(header, directive string) bool {
	if header == "" {
		return false
	}
	for item := range strings.SplitSeq(header, ",") {
		name, _, _ := strings.Cut(item, "=")
		if strings.EqualFold(strings.TrimSpace(name), directive) {
			return true
		}
	}
	return false
}

// StaleSeconds returns the value of the header Guidon-Stale for a response of that age:
// whole seconds, rounded up. It returns "" if the response is not stale.
func StaleSeconds(age time.Duration) string {
	if age <= 0 {
		return ""
	}
	return strconv.FormatInt(int64((age+time.Second-1)/time.Second), 10)
}
