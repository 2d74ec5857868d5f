package handler

import (
	"strconv"
	"strings"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/wire/evaluation"
	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// The headers that say how fresh an answer has to be, and how old it is.
const (
	minRevisionHeader = "Guidon-Min-Revision"
	staleHeader       = "Guidon-Stale"
)

// demand puts into the call how fresh the answer to the request has to be.
//
// no-cache asks for what validation finds to be current (RFC 9111 5.2.1.4), in
// every mode of the cache. No other directive changes anything: no-store is about
// what may be kept of this exchange, of which nothing is.
func (o *Operation) demand(request *Request, call *guidon.Call) (err error) {
	call.MinRevision, err = minRevision(request.MinRevision)
	call.Fresh = hasDirective(request.CacheControl, "no-cache")
	call.MayBeStale = o.stale
	// By the clock of the process, which the cache compares it with, and not since the
	// event began: that of a stream lasts.
	call.Begun = tick()
	return err
}

// minRevision returns the revision that the header demands, 0 for none.
func minRevision(header string) (int64, error) {
	header = strings.TrimSpace(header)
	if header == "" {
		return 0, nil
	}
	number, err := strconv.ParseUint(header, 10, 63)
	if err != nil {
		return 0, guidon.Errorf(guidon.InvalidArgument, "invalid header %s: must be a revision", minRevisionHeader)
	}
	return int64(number), nil // #nosec G115 -- 63 bits
}

// hasDirective tells whether the value of a Cache-Control header has the
// directive, with or without an argument.
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

// StaleSeconds returns how old an answer is as the header Guidon-Stale has it:
// whole seconds, rounded up, and nothing for one that is not stale.
func StaleSeconds(age time.Duration) string {
	if age <= 0 {
		return ""
	}
	return strconv.FormatInt(int64((age+time.Second-1)/time.Second), 10)
}

// names returns the namespace that the request is most likely about, or "" if that is
// none. A token that is limited to one may mean another. Before the message has been
// read it is the namespace of the path, if any, and otherwise the default one.
func (r *Request) names() string {
	if r.ofrep != nil {
		return guidon.NamespaceKey(r.ofrep.namespace)
	}
	switch m := r.Message.(type) {
	case nil:
		return guidon.NamespaceKey(r.path)
	// A namespace's own key is its namespace.
	case *flipt.GetNamespaceRequest:
		return guidon.NamespaceKey(m.GetKey())
	case *evaluation.EvaluationNamespaceSnapshotRequest:
		return guidon.NamespaceKey(m.GetKey())
	case *evaluation.BatchEvaluationRequest:
		if items := m.GetRequests(); len(items) > 0 {
			return guidon.NamespaceKey(items[0].GetNamespaceKey())
		}
	case interface{ GetNamespaceKey() string }:
		return guidon.NamespaceKey(m.GetNamespaceKey())
	}
	return ""
}
