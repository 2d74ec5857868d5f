package segment_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

const (
	segmentsPath = "/namespaces/default/segments"
	riskyPath    = segmentsPath + "/risky-orders"
	newPath      = "/namespaces/default/new-segment"
)

// press sends the form with the id "segment" of a page with a button, after changing fields:
// names and values in turn. "-" as a value removes the field.
func press(t *testing.T, s *webtest.Server, r *webtest.Reply, do string, changes ...string) *webtest.Reply {
	t.Helper()
	action, fields := r.Form("segment")
	return s.Post(action, with(fields, do, changes...))
}

// with returns the fields with a button pressed, after changing some.
func with(fields url.Values, do string, changes ...string) url.Values {
	all := url.Values{}
	for name, values := range fields {
		all[name] = slices.Clone(values)
	}
	for i := 0; i+1 < len(changes); i += 2 {
		if changes[i+1] == "-" {
			all.Del(changes[i])
		} else {
			all.Set(changes[i], changes[i+1])
		}
	}
	all.Set("do", do)
	return all
}

// stored returns a segment as the service has it.
func stored(t *testing.T, s *webtest.Server, key string) *guidon.Segment {
	t.Helper()
	v, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	g, err := v.Segment(key)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// constraints returns the constraints of a segment as lines.
func constraints(g *guidon.Segment) (lines []string) {
	for _, c := range g.Constraints {
		lines = append(lines, strings.TrimSpace(strings.Join([]string{c.Property, c.Operator, c.Value}, " ")))
	}
	return lines
}

// revision returns the revision of the namespace default.
func revision(t *testing.T, s *webtest.Server) int64 {
	t.Helper()
	v, err := s.Service.View(t.Context(), "default", service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	return v.Revision
}

// replace saves a segment by the service, as somebody else.
func replace(t *testing.T, s *webtest.Server, key string, g *guidon.Segment) {
	t.Helper()
	w := service.Write{By: service.Caller{Actor: change.Actor{ID: "token:x", Name: "Jonas", Method: "token"}}}
	if _, _, err := s.Service.ReplaceSegment(t.Context(), w, "default", key, g, nil); err != nil {
		t.Fatal(err)
	}
}
