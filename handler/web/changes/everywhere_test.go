package changes_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// TestEverywhere: the page has the changes of all namespaces that the visitor may see, in the words
// of histories, and its filter stands in the address.
func TestEverywhere(t *testing.T) {
	s := newSite(t, webtest.Options{})
	if _, _, err := s.Service.CreateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "warehouse", Name: "Warehouse"}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Service.CreateFlag(t.Context(), by("for the sale"), "warehouse", guidon.Flag{Key: "pick", Name: "Picking", Type: guidon.BooleanFlag, Enabled: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Service.DeleteFlag(t.Context(), by(""), "warehouse", "pick"); err != nil {
		t.Fatal(err)
	}
	s.flag(by(""), guidon.Flag{Key: "wish", Name: "Wishes"})
	r := s.Get("/changes").Check(200)
	r.Contains("Jonas Weber changed Wishes in Default", "Jonas Weber deleted Picking in Warehouse", "Jonas Weber created Picking in Warehouse", "for the sale")
	for query, want := range map[string]string{
		"?namespace=warehouse&event=deleted":                           "Jonas Weber deleted Picking in Warehouse",
		"?event=deleted&event=other":                                   "Jonas Weber changed Wishes in Default",
		"?actor=" + url.QueryEscape("oidc:google:jonas") + "&since=1h": "Jonas Weber created Picking in Warehouse",
		"?since=2001-11-24T09:00Z":                                     "Jonas Weber created Picking in Warehouse",
		"?since=2001-11-24T09:00Z&until=2001-11-24T10:00Z":             "No change matches these filters.",
		"?namespace=nope":                                              "No change matches these filters.",
	} {
		r := s.Get("/changes" + query).Check(200).Contains(want)
		if strings.Contains(query, "deleted") {
			r.Lacks("Jonas Weber created")
		}
	}
	s.Get("/changes?since=soon").Check(422).Contains("Write 2026-12-01", "No change is shown")
	s.Get("/changes?event=odd").Check(422).Contains("There are these events")
	s.Get("/changes?event=turned-off").Contains("Link with the time").Contains("No change matches these filters.")
	if body := s.Get("/changes?event=deleted").Body; !strings.Contains(body, "/changes?event=deleted&amp;since="+url.QueryEscape(time.Now().Add(-time.Hour).UTC().Format("2006-01-02T15"))) {
		t.Errorf("no link with the time: %s", body)
	}
	some := s.As(s.SignIn(service.TokenInput{Name: "some", Role: service.RoleViewer, Namespaces: []string{"warehouse"}}))
	some.Get("/changes").Check(200).Contains("Jonas Weber deleted Picking in Warehouse").Lacks("in Default")
	some.Get("/changes?namespace=default").Check(403)
	s.Get(ns + "/changes").Check(200).Contains("All namespaces").Lacks("Wishes in Default")
	some.Get("/namespaces/warehouse/changes").Check(200).Lacks("All namespaces")
}
