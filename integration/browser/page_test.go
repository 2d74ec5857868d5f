package browser

import (
	"fmt"
	"slices"
	"strings"
)

// openedPage is a page that a visitor opened, and what happened since.
type openedPage struct {
	URL    string // after redirects
	Status int
	HTML   string // as the server sent it

	Requests   []request // in order, that of the page included
	Console    []string  // errors and warnings
	Exceptions []string  // that no script caught
	Reports    []string  // violations of the content security policy
	Dialogs    []string  // alert and the like; they were accepted
	Shifts     []shift   // of the layout, without those that follow an input
}

// request is a request of a page.
type request struct {
	URL     string
	Type    string // such as Document or EventSource
	Status  int    // 0 without a response
	Bytes   int    // that were received: headers, and the compressed body
	Failure string // why there is no complete response, or ""

	loader string // of the document that it belongs to
	done   bool
}

// isStream reports whether the request has no end.
func (r request) isStream() bool { return r.Type == "EventSource" || r.Type == "WebSocket" }

// counts reports whether the request counts towards the budget. Streams do not, nor what
// the browser itself requests, which is the icon.
func (r request) counts() bool { return !r.isStream() && r.Type != "Other" }

// shift is a move of elements that were visible already.
type shift struct {
	Value float64 `json:"value"` // its part of the cumulative layout shift
	Nodes string  `json:"nodes"` // what moved
}

// finding is something that is wrong with a page.
type finding struct {
	Check  string // a word for the rule
	Detail string
}

// String implements [fmt.Stringer].
func (f finding) String() string { return f.Check + ": " + f.Detail }

// The budget of a page that is opened for the first time.
const (
	maxBytes    = 60 << 10 // compressed, with headers
	maxRequests = 4
)

// minShift is the least cumulative layout shift that counts: with three decimals, as tools
// report it, anything less is 0.
const minShift = 0.0005

// Findings returns what is wrong with what happened. All requests must stay within origin,
// which is such as "http://127.0.0.1:8080".
func (p *openedPage) Findings(origin string) (found []finding) {
	report := func(check, format string, args ...any) {
		found = append(found, finding{check, fmt.Sprintf(format, args...)})
	}
	for check, messages := range map[string][]string{"console": p.Console, "exception": p.Exceptions, "policy": p.Reports, "dialog": p.Dialogs} {
		for _, m := range messages {
			report(check, "%s", m)
		}
	}
	total := 0.0
	for _, s := range p.Shifts {
		total += s.Value
	}
	for _, s := range p.Shifts {
		if total >= minShift {
			report("shift", "%s moved by %.4f", s.Nodes, s.Value)
		}
	}
	bytes, requests := 0, 0
	for _, r := range p.Requests {
		if !strings.HasPrefix(r.URL, origin+"/") {
			report("origin", "%s", r.URL)
		}
		if r.Failure != "" || r.Status >= 400 && r.Type != "Document" {
			report("request", "%s: status %d %s", r.URL, r.Status, r.Failure)
		}
		if r.counts() {
			bytes += r.Bytes
			requests++
		}
	}
	if bytes > maxBytes {
		report("bytes", "the page has %d bytes, more than %d", bytes, maxBytes)
	}
	if requests > maxRequests {
		report("requests", "the page needs %d requests, more than %d: %v", requests, maxRequests, p.Requests)
	}
	slices.SortStableFunc(found, func(a, b finding) int { return strings.Compare(a.Check, b.Check) })
	return found
}
