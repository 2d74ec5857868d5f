package service_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestTooLargeObject: import, plan and validation refuse the same objects as too large.
func TestTooLargeObject(t *testing.T) {
	large := strings.Repeat("x", service.MaxObjectSize)
	for name, document := range map[string]*service.Document{
		"flag": {Flags: []*guidon.Flag{{Key: "a", Name: "A", Description: large}}},
		"segment": {Segments: []*guidon.Segment{{Key: "a", Name: "A", Constraints: []*guidon.Constraint{
			{Type: guidon.StringComparison, Property: "p", Operator: guidon.OpEQ, Value: large}}}}},
	} {
		s := newService(t)
		_, _, planned := s.Plan(t.Context(), service.Caller{}, service.Demand{}, service.PlanRequest{Namespace: "default", Document: document}, nil)
		wantCode(t, name, planned, guidon.TooLarge)
		_, _, imported := s.Import(t.Context(), service.Write{}, "default", document, service.ImportCreate, false)
		wantCode(t, name, imported, guidon.TooLarge)
		if want := name + ` "default/a" is too large: `; !strings.HasPrefix(guidon.PublicMessage(imported), want) || !strings.HasPrefix(guidon.PublicMessage(planned), want) {
			t.Errorf("%s: import got %v, plan %v, want both to begin with %q", name, imported, planned, want)
		}
		found, _ := document.Problems(10)
		if len(found) != 1 || !strings.Contains(found[0].Message, "is too large: ") {
			t.Errorf("%s: validation found %v", name, found)
		}
	}
}
