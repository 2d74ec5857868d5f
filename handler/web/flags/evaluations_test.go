package flags_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service/count"
)

// TestSparks: each row has the evaluations of 24 hours, which are those of the API.
func TestSparks(t *testing.T) {
	now := time.Date(2026, 6, 3, 9, 5, 0, 0, time.UTC)
	s := webtest.New(t, webtest.Options{Counts: true, Open: true, Now: func() time.Time { return now }})
	for _, n := range []uint64{300, 1200, 600} {
		counts := count.Counts{"checkout-redesign": {"classic match": n - 100, "one-page match": 100}}
		if err := s.Counter.Report(t.Context(), "default", "test", counts); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Hour)
	}
	now = now.Add(-time.Hour + time.Minute)
	r := s.Get("/namespaces/default/flags", "Cookie", "guidon_preferences=zone=Europe%2FBerlin").Check(200)
	cells := make(map[string]string) // by key
	for _, td := range r.All("td") {
		if webtest.Attribute(td, "class") != "evals" {
			continue
		}
		key := webtest.Attribute(td.Parent, "data-row")
		if cells[key] = webtest.TextOf(td); key == "checkout-redesign" {
			cells[key] = webtest.Attribute(td.FirstChild, "aria-label")
		}
	}
	if got, want := cells["checkout-redesign"], "2,100 evaluations in 24 hours, most at 12:00"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := cells["wishlist"]; len(cells) != 26 || got != "none" {
		t.Errorf("got %q among %d cells, want none", got, len(cells))
	}
	var api struct{ Flags []struct{ Points []float64 } }
	if err := json.Unmarshal([]byte(s.Get("/api/v1/namespaces/default/evaluations?flagKeys=checkout-redesign&step=hour").Body), &api); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float64{300, 1200, 600}, api.Flags[0].Points); diff != "" {
		t.Errorf("the API (-want +got):\n%s", diff)
	}
	points := strings.Fields(webtest.Attribute(r.All("polyline")[0], "points"))
	if diff := cmp.Diff([]string{"80,19.0", "84,14.5", "88,1.0", "92,10.0"}, points[len(points)-4:]); diff != "" || len(points) != 24 {
		t.Errorf("%d points, the last ones (-want +got):\n%s", len(points), diff)
	}
}

// TestListWithoutEvaluations: the list does without evaluations that cannot be read.
func TestListWithoutEvaluations(t *testing.T) {
	s := webtest.New(t, webtest.Options{Counts: true})
	if _, err := s.DB.SQL().ExecContext(t.Context(), "DROP TABLE evaluation_minutes"); err != nil {
		t.Fatal(err)
	}
	if got := s.Get("/api/v1/namespaces/default/evaluations").Status; got != http.StatusInternalServerError {
		t.Errorf("the API: got %d, want 500", got)
	}
	s.Get("/namespaces/default/flags").Check(200).Contains("Checkout redesign").Lacks("Evaluations")
}
