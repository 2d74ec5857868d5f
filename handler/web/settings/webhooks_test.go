package settings_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// Parts of a webhook that no page may show.
const (
	hookURL    = "https://receiver.example/hooks/private-path"
	hookHeader = "Bearer private-value"
)

// sends answers tests of webhooks as a receiver does.
func sends(status int, problem, answer string) func(context.Context, *service.Webhook) service.WebhookDelivery {
	return func(_ context.Context, h *service.Webhook) service.WebhookDelivery {
		return service.WebhookDelivery{
			Webhook: h.ID, Attempt: 1, At: time.Now(), Took: 12 * time.Millisecond, Status: status, Error: problem, Answer: answer,
		}
	}
}

// hook creates a webhook of the namespace.
func hook(t *testing.T, s *webtest.Server, namespace string, in service.WebhookInput) *service.Webhook {
	t.Helper()
	if in.URL == "" {
		in.URL, in.Headers = hookURL, map[string]string{"Authorization": hookHeader}
	}
	view, _, err := s.Service.CreateWebhook(t.Context(), service.Write{}, namespace, in)
	if err != nil {
		t.Fatal(err)
	}
	return view.Webhook
}

// hooks returns the stored webhooks, with their private parts.
func hooks(t *testing.T, s *webtest.Server) []*service.Webhook {
	t.Helper()
	all, err := s.DB.Webhooks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// hookSecret returns the secret that the page shows, or "".
func hookSecret(r *webtest.Reply) string {
	for _, n := range r.All("input") {
		if webtest.Attribute(n, "aria-label") == "The secret" {
			return webtest.Attribute(n, "value")
		}
	}
	return ""
}

// formWith returns the fields of the form of the page that has the field.
func formWith(t *testing.T, r *webtest.Reply, field string) url.Values {
	t.Helper()
	for _, f := range r.Forms() {
		if f.Has(field) {
			return f
		}
	}
	t.Fatalf("no form has the field %s: %s", field, r.Text())
	return nil
}

// TestNewWebhook: a webhook is created as the form says, and its secret is shown in the response and nowhere else.
func TestNewWebhook(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Get("/settings/webhooks").Check(200).Contains("No webhooks", "New webhook")
	_, fields := s.Get("/settings/new-webhook").Check(200).Form("")
	fields = with(fields, "name", " Edge cache ", "url", hookURL, "namespaceKey", "warehouse", "keys", "pay-* checkout", "format", "cloudevents",
		"headers", "authorization: "+hookHeader+"\r\n\r\nX-Team: web\r\n")
	fields["kinds"], fields["actions"] = []string{"flag", "segment"}, []string{"update"}
	r := s.Post("/settings/new-webhook", fields).Check(200).Contains("Webhook “ Edge cache ” created", "Copy it now. It cannot be shown again.", "new Webhook(")
	secret := hookSecret(r)
	h := hooks(t, s)[0]
	if h.Private.Secrets[0].Value != secret || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Location") != "" {
		t.Fatalf("got the secret %q, headers %v", secret, r.Header)
	}
	type stored struct{ Name, Namespace, URL, Keys, Format, Kinds, Actions, Headers string }
	got := stored{
		h.Name, h.Namespace, h.Private.URL, strings.Join(h.Keys, " "), string(h.Format), joined(h.Kinds), joined(h.Actions),
		h.Private.Headers["Authorization"] + " " + h.Private.Headers["X-Team"],
	}
	want := stored{"Edge cache", "warehouse", hookURL, "pay-* checkout", "cloudevents", "flag segment", "update", hookHeader + " web"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("webhook (-want +got):\n%s", diff)
	}
	if again := s.Post("/settings/new-webhook", fields).Check(200).Contains("its secret shown once"); hookSecret(again) != "" || len(hooks(t, s)) != 1 {
		t.Errorf("a form that is sent twice creates two")
	}
	other := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	if r := other.Post("/settings/new-webhook", fields).Check(200); hookSecret(r) == "" || hookSecret(r) == secret || len(hooks(t, s)) != 2 {
		t.Errorf("another person who names a webhook like it gets none")
	}
	for _, theirs := range hooks(t, s) {
		if theirs.ID != h.ID {
			s.Post("/settings/webhooks/"+theirs.ID+"/delete", nil).Location()
		}
	}
	row := "Edge cache https://receiver.example Changes of flags, segments Warehouse Active None"
	if diff := cmp.Diff([]string{row}, rows(s.Get("/settings/webhooks").Check(200))); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	checkHidden(t, s, h, secret)
}

func joined[T ~string](values []T) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = string(value)
	}
	return strings.Join(texts, " ")
}

// checkHidden checks that neither pages nor the log have the private part of the webhook.
func checkHidden(t *testing.T, s *webtest.Server, h *service.Webhook, secrets ...string) {
	t.Helper()
	texts := map[string]string{"the log": s.Log.String()}
	for _, path := range []string{"/settings/webhooks", "/settings/webhooks/" + h.ID, "/settings/webhooks/" + h.ID + "/delete", "/settings/records?kind=webhook"} {
		texts[path] = s.Get(path).Check(200).Body
	}
	for where, text := range texts {
		for _, secret := range append(secrets, "private-path", "private-value") {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", where, secret)
			}
		}
	}
}

// TestWebhookProblems: each mistake has a message at its field, and what was entered stays.
func TestWebhookProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	h := hook(t, s, service.Everywhere, service.WebhookInput{Name: "Stored"})
	_, fresh := s.Get("/settings/new-webhook").Check(200).Form("")
	fresh = with(fresh, "name", "New", "url", hookURL)
	saved := with(formWith(t, s.Get("/settings/webhooks/"+h.ID).Check(200), "url"), "do", "save")
	for _, test := range []struct{ path, field, value, want string }{
		{"new", "name", " ", "This must not be empty."},
		{"new", "url", "", "This must not be empty."},
		{"new", "url", "ftp://receiver.example", "This must be https."},
		{"new", "namespaceKey", "nowhere", "There is no namespace with this key."},
		{"new", "events", "sunrise", "This must be change, authentication, binding or webhook."},
		{"new", "headers", "Authorization", "Write each header once"},
		{"new", "headers", "A: b\nA: c", "Write each header once"},
		{"new", "headers", "Authorization:", "Authorization must have a value"},
		{"new", "headers", "Host: a", "Host cannot be set."},
		{"save", "name", strings.Repeat("x", 101), "This must not be longer than 100 bytes"},
		{"save", "url", "https://other.example/", "Authorization must have a value; stored ones are only kept for the same host."},
		{"save", "kinds", "token", "This must be namespace, flag or segment."},
		{"save", "actions", "read", "This must be create, update or delete."},
		{"save", "keys", "a/b", "This must be keys or beginnings of keys"},
		{"save", "format", "xml", "This must be guidon, cloudevents"},
	} {
		path, fields := "/settings/new-webhook", fresh
		if test.path == "save" {
			path, fields = "/settings/webhooks/"+h.ID, saved
		}
		r := s.Post(path, with(fields, test.field, test.value)).Check(422).Contains("1 thing to fix", test.want)
		field, at := test.field, ""
		if test.path == "save" && test.field == "url" { // the headers are wrong then
			field = "headers"
		}
		for _, n := range r.All("p") {
			if webtest.Attribute(n, "id") == field+"-error" {
				at = webtest.TextOf(n)
			}
		}
		if !strings.Contains(at, test.want) {
			t.Errorf("%s %s=%q: the field has the message %q, want %q", test.path, test.field, test.value, at, test.want)
		}
		kept := formWith(t, r, "url")
		if got := kept.Get(test.field); got != strings.TrimSpace(test.value) && field != "kinds" && field != "actions" && field != "events" && field != "format" {
			t.Errorf("%s %s: the form has %q, want %q", test.path, test.field, got, test.value)
		}
	}
	if all := hooks(t, s); len(all) != 1 || all[0].Name != "Stored" || all[0].Private.URL != hookURL {
		t.Errorf("something was saved: %v", all)
	}
}

// TestTooManyWebhooks: the form says that there are too many.
func TestTooManyWebhooks(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for range 80 {
		hook(t, s, "default", service.WebhookInput{Name: "x"})
	}
	_, fields := s.Get("/settings/new-webhook").Check(200).Form("")
	s.Post("/settings/new-webhook", with(fields, "name", "New", "url", hookURL)).Check(422).Contains("There are 80 webhooks already; at most 80 are allowed.")
}

// TestSaveWebhook: what a form leaves out stays, and what somebody else has saved is not replaced by accident.
func TestSaveWebhook(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	h := hook(t, s, service.Everywhere, service.WebhookInput{Name: "Stored", Keys: []string{"a", "b-*"}})
	path := "/settings/webhooks/" + h.ID
	r := s.Get(path).Check(200).Contains("POST to https://receiver.example/… · Guidon JSON")
	fields := with(formWith(t, r, "url"), "name", "Renamed", "do", "save")
	if fields.Get("headers") != "Authorization:\n" || fields.Get("url") != "" || fields.Get("keys") != "a b-*" || fields.Get("events") != "change" {
		t.Errorf("the form has %v", fields)
	}
	fields["events"] = []string{"change", "binding"}
	if got := s.Post(path, fields).Location(); got != path+"?done=save" {
		t.Errorf("leads to %s", got)
	}
	got := hooks(t, s)[0]
	if got.Name != "Renamed" || got.Private.URL != hookURL || got.Private.Headers["Authorization"] != hookHeader || joined(got.Events) != "change binding" {
		t.Errorf("stored %+v %+v", got, got.Private)
	}
	s.Get(path+"?done=save").Check(200).Contains("Renamed", "Saved.")
	r = s.Post(path, with(fields, "name", "Mine")).Check(409).Contains("This webhook has changed since you opened this page, so nothing was done.")
	if again := formWith(t, r, "url"); again.Get("name") != "Mine" || hooks(t, s)[0].Name != "Renamed" {
		t.Errorf("the form has %v", again)
	}
	s.Post(path, with(formWith(t, r, "url"), "do", "save")).Location()
	if got := hooks(t, s)[0].Name; got != "Mine" {
		t.Errorf("the name is %q", got)
	}
	checkHidden(t, s, h)
}

// TestRotateWebhook: the new secret is shown once, and the old one signs for as long as chosen.
func TestRotateWebhook(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	h := hook(t, s, "default", service.WebhookInput{Name: "Stored"})
	path := "/settings/webhooks/" + h.ID
	fields := with(formWith(t, s.Get(path).Check(200), "overlap"), "do", "rotate", "overlap", "1h")
	s.Post(path, with(fields, "overlap", "169h")).Check(422).Contains("This must be between 0s and 168h.")
	s.Post(path, with(fields, "overlap", "soon")).Check(422).Contains("This must be between 0s and 168h.")
	r := s.Post(path, fields).Check(200).Contains("Webhook “ Stored ” has a new secret", "new Webhook(")
	secrets := hooks(t, s)[0].Private.Secrets
	if len(secrets) != 2 || secrets[0].Value != hookSecret(r) || r.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("got %q, stored %v", hookSecret(r), secrets)
	}
	if left := time.Until(secrets[1].Until); left < 59*time.Minute || left > time.Hour {
		t.Errorf("the old one signs for %s", left)
	}
	if again := s.Post(path, fields).Check(409); hookSecret(again) != "" || len(hooks(t, s)[0].Private.Secrets) != 2 {
		t.Error("a form that is sent twice rotates twice")
	}
	checkHidden(t, s, h, secrets[0].Value, secrets[1].Value)
}

// TestTestWebhook: the page says what came of a test, and lists it.
func TestTestWebhook(t *testing.T) {
	for _, test := range []struct {
		status        int
		problem, want string
	}{
		{204, "", "The test was received: status 204 after 12 ms."}, {502, "status 502", "The test failed: status 502."}, {0, "timeout", "The test failed: timeout."},
	} {
		s := webtest.New(t, webtest.Options{Send: sends(test.status, test.problem, "<b>answer")})
		path := "/settings/webhooks/" + hook(t, s, "default", service.WebhookInput{Name: "Stored"}).ID
		s.Post(path, url.Values{"do": {"test"}}).Check(200).Contains(test.want)
		got := rows(s.Get(path).Check(200).Lacks("The test"))
		if len(got) != 1 || !strings.HasSuffix(got[0], "What it said <b>answer 12 ms") || !strings.Contains(got[0], "UTC Test ") {
			t.Errorf("rows %q", got)
		}
	}
}

// TestWebhookStates: list and page say whether a webhook delivers, why not, and what can be done.
func TestWebhookStates(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	path := func(h *service.Webhook) string { return "/settings/webhooks/" + h.ID }
	states := func() (states []string) {
		for _, row := range rows(s.Get("/settings/webhooks").Check(200)) {
			_, state, _ := strings.Cut(row, "Default ")
			states = append(states, state)
		}
		return states
	}
	failing := hook(t, s, "default", service.WebhookInput{Name: "A"})
	other := hook(t, s, "default", service.WebhookInput{Name: "B"})
	since := time.Now().UTC().Add(-48 * time.Hour)
	attempt := &service.WebhookAttempt{
		WebhookDelivery: service.WebhookDelivery{
			Webhook: failing.ID, Namespace: "default", Revision: 2, Attempt: 4, At: time.Now(), Took: 1500 * time.Millisecond, Status: 502, Error: "status 502",
		},
		Failure: &service.WebhookFailure{Webhook: failing.ID, Namespace: "default", Attempts: 4, Since: since, NextAt: time.Now().Add(time.Minute)},
	}
	if err := s.DB.RecordAttempt(t.Context(), attempt); err != nil {
		t.Fatal(err)
	}
	words := "Failing since " + since.Format("2 Jan, 15:04") + ", 4 attempts"
	if diff := cmp.Diff([]string{words + " just now", "Active None"}, states()); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	r := s.Get(path(failing)).Check(200).Contains(words, "Changes of default wait: 4 attempts failed since", "Try again now")
	if got := rows(r); len(got) != 1 || !strings.HasSuffix(got[0], "default@2 status 502 attempt 4 1,500 ms") || !slices.Contains(r.Links(), "/namespaces/default/changes/2") {
		t.Errorf("rows %q, links %v", got, r.Links())
	}
	s.Post(path(failing), url.Values{"do": {"pause"}}).Location()
	s.Get(path(failing)).Check(200).Contains("Paused", "Resume").Lacks("Failing", "wait:", "Try again now")
	if got := s.Post(path(failing), url.Values{"do": {"resume"}}).Location(); got != path(failing)+"?done=resume" {
		t.Errorf("leads to %s", got)
	}
	s.Get(path(failing)+"?done=resume").Check(200).Contains("Resumed.", "Active").Lacks("Failing", "Try again now", "wait:")
	if got := s.Post(path(failing), url.Values{"do": {"pause"}}).Location(); got != path(failing)+"?done=pause" {
		t.Errorf("leads to %s", got)
	}
	s.Get(path(failing)+"?done=pause").Check(200).Contains("Paused.", "Resume")
	if err := s.Service.StopWebhook(t.Context(), other.ID, "the receiver is gone"); err != nil {
		t.Fatal(err)
	}
	s.Get(path(other)).Check(200).Contains("Stopped: the receiver is gone.", "it goes on where it was", "Resume")
	if diff := cmp.Diff([]string{"Paused just now", "Stopped None"}, states()); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if err := s.Service.DetachWebhook(t.Context(), other.ID); err != nil {
		t.Fatal(err)
	}
	s.Get(path(other)).Check(200).Contains("what is changed is no longer kept for it").Lacks("it goes on where it was")
	s.Post(path(other), url.Values{"do": {"replay"}, "revision": {"1"}}).Check(422).Contains("The webhook has not been active for long; resume it first.")
	s.Post(path(other), url.Values{"do": {"resume"}}).Location()
	s.Post(path(other), url.Values{"do": {"dance"}}).Check(400)
	if got := joined([]service.WebhookState{hooks(t, s)[0].State, hooks(t, s)[1].State}); got != "paused active" {
		t.Errorf("states %s", got)
	}
}

// TestReplayWebhook: deliveries are repeated from a revision on, of one namespace.
func TestReplayWebhook(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	one, all := hook(t, s, "warehouse", service.WebhookInput{Name: "One"}), hook(t, s, service.Everywhere, service.WebhookInput{Name: "All"})
	path := func(h *service.Webhook) string { return "/settings/webhooks/" + h.ID }
	s.Get(path(one)).Check(200).Lacks("or (authentications)")
	s.Get(path(all)).Check(200).Contains("or (authentications)")
	for _, test := range []struct {
		h                        *service.Webhook
		of, revision, want, done string
	}{
		{one, "default", "1", "", "warehouse@1"}, // which it is about
		{one, "", "x", "This must be positive.", "warehouse@1"},
		{one, "", "-1", "This must be positive.", "warehouse@1"},
		{all, "nowhere", "1", "There is no namespace with this key.", ""},
		{all, "*", "1", "There is no namespace with this key.", ""},
		{all, "default", "1", "", "default@1"},
		{all, "(authentications)", "1", "", "(authentications)@1"},
	} {
		r := s.Post(path(test.h), url.Values{"do": {"replay"}, "of": {test.of}, "revision": {test.revision}})
		if test.want != "" {
			r.Check(422).Contains(test.want)
		} else if got := r.Location(); got != path(test.h)+"?done=replay" {
			t.Errorf("leads to %s", got)
		}
		for _, h := range hooks(t, s) {
			if h.ID == test.h.ID && h.Replayed != test.done {
				t.Errorf("%+v: repeated %q", test, h.Replayed)
			}
		}
	}
}

// TestDeleteWebhook: a webhook is deleted after a question.
func TestDeleteWebhook(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	path := "/settings/webhooks/" + hook(t, s, "default", service.WebhookInput{Name: "Stored"}).ID
	s.Get(path+"/delete").Check(200).Contains("Delete the webhook “Stored”?", "Keep webhook")
	if got := s.Post(path+"/delete", nil).Location(); got != "/settings/webhooks?deleted=1" {
		t.Errorf("leads to %s", got)
	}
	s.Get("/settings/webhooks?deleted=1").Check(200).Contains("The webhook was deleted.", "No webhooks")
	s.Get(path).Check(404).Contains("There is no such webhook")
	s.Post(path+"/delete", nil).Check(404)
	s.Post(path, url.Values{"do": {"pause"}}).Check(404)
	want := []string{"Webhook Stored deleted Token Mira just now", "Webhook Stored created, to https://receiver.example in default Anonymous just now"}
	got := rows(s.Get("/settings/records?kind=webhook").Check(200))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

// TestDeliveryPages: each delivery is on one page.
func TestDeliveryPages(t *testing.T) {
	s := webtest.New(t, webtest.Options{Send: sends(204, "", "")})
	path := "/settings/webhooks/" + hook(t, s, "default", service.WebhookInput{Name: "Stored"}).ID
	for range 26 {
		s.Post(path, url.Values{"do": {"test"}}).Check(200)
	}
	first := s.Get(path).Check(200).Contains("Older").Lacks("Newest")
	older := ""
	for _, link := range first.Links() {
		if strings.HasPrefix(link, path+"?before=") {
			older = link
		}
	}
	second := s.Get(older).Check(200).Contains("Newest").Lacks("Older")
	if got := [2]int{len(rows(first)), len(rows(second))}; got != [2]int{25, 1} {
		t.Errorf("rows %v", got)
	}
	s.Get(path + "?before=x").Check(200)
	s.Get(path + "?before=-1").Check(200)
}

// TestWebhooksOfNamespace: an administrator of one namespace manages its webhooks, and sees no others.
func TestWebhooksOfNamespace(t *testing.T) {
	s := webtest.New(t, webtest.Options{Send: sends(204, "", "")})
	ours, theirs := hook(t, s, "warehouse", service.WebhookInput{Name: "Ours"}), hook(t, s, "default", service.WebhookInput{Name: "Theirs"})
	all := hook(t, s, service.Everywhere, service.WebhookInput{Name: "All"})
	ada := s.As(s.SignIn(service.TokenInput{Name: "Ada", Role: service.RoleAdmin, Namespaces: []string{"warehouse"}}))
	const below = "/namespaces/warehouse"
	ada.Get(below + "/settings").Check(200).Contains("Webhooks")
	ada.Get(below+"/webhooks").Check(200).Contains("Ours").Lacks("Theirs", "All")
	ada.Get(below + "/webhooks/" + ours.ID).Check(200).Contains("Send a test")
	_, fields := ada.Get(below + "/new-webhook").Check(200).Form("")
	if fields.Has("namespaceKey") || fields.Has("events") {
		t.Errorf("the form has %v", fields)
	}
	ada.Post(below+"/new-webhook", with(fields, "name", "New", "url", hookURL, "namespaceKey", "default")).Check(200)
	ada.Post(below+"/new-webhook", with(fields, "name", "Worse", "url", hookURL, "events", "authentication")).Check(422)
	if got := hooks(t, s)[3]; got.Name != "New" || got.Namespace != "warehouse" {
		t.Errorf("created %+v", got)
	}
	if got := ada.Post(below+"/webhooks/"+ours.ID, url.Values{"do": {"pause"}}).Location(); got != below+"/webhooks/"+ours.ID+"?done=pause" {
		t.Errorf("leads to %s", got)
	}
	if got := ada.Post(below+"/webhooks/"+ours.ID+"/delete", nil).Location(); got != below+"/webhooks?deleted=1" {
		t.Errorf("leads to %s", got)
	}
	vera := s.As(s.SignIn(service.TokenInput{Name: "Vera", Role: service.RoleViewer}))
	edgar := s.As(s.SignIn(service.TokenInput{Name: "Edgar", Role: service.RoleEditor}))
	for _, h := range []*service.Webhook{theirs, all} {
		before := *h
		for _, as := range []struct {
			visitor *webtest.Server
			below   string
			status  int
		}{
			{ada, "/settings", 403}, {ada, below, 404}, {vera, "/settings", 403}, {vera, below, 403}, {edgar, "/settings", 403}, {edgar, "/namespaces/default", 403},
			{s.As(""), "/settings", 0},
		} {
			paths := []string{"/webhooks/" + h.ID, "/webhooks/" + h.ID + "/delete"}
			if as.status == 403 {
				paths = append(paths, "/webhooks", "/new-webhook")
			}
			for _, path := range paths {
				if r := as.visitor.Get(as.below + path); as.status == 0 {
					r.Location()
				} else {
					r.Check(as.status).Lacks("Theirs", "receiver.example")
				}
			}
			for _, verb := range []string{"save", "test", "rotate", "pause", "resume", "replay"} {
				form := url.Values{"do": {verb}, "name": {"x"}, "url": {hookURL}, "overlap": {"1h"}, "revision": {"1"}, "of": {"default"}}
				if r := as.visitor.Post(as.below+"/webhooks/"+h.ID, form); r.Status != as.status && r.Status != 401 {
					t.Errorf("%s of %s%s: got %d, want %d", verb, as.below, h.Name, r.Status, as.status)
				}
			}
			as.visitor.Post(as.below+"/webhooks/"+h.ID+"/delete", nil)
		}
		if diff := cmp.Diff(before, *hooks(t, s)[slices.Index([]*service.Webhook{theirs, all}, h)]); diff != "" {
			t.Errorf("somebody changed it (-before +after):\n%s", diff)
		}
	}
	// One page for each: administrators of everything find it below its own namespace.
	s.Get(below + "/webhooks/" + theirs.ID).Check(404)
	s.Get("/namespaces/default/webhooks/" + theirs.ID).Check(200)
	if got := subnav(ada.Get("/settings/profile")); slices.Contains(got, "Webhooks") {
		t.Errorf("sections %v", got)
	}
	if got := subnav(s.Get("/settings/webhooks")); !slices.Contains(got, "Webhooks") {
		t.Errorf("sections %v", got)
	}
}

// TestWebhooksOfReadOnly: a read-only server manages webhooks, as it does tokens.
func TestWebhooksOfReadOnly(t *testing.T) {
	s := webtest.New(t, webtest.Options{ReadOnly: true, Empty: true})
	_, fields := s.Get("/namespaces/default/new-webhook").Check(200).Form("")
	s.Post("/namespaces/default/new-webhook", with(fields, "name", "New", "url", hookURL)).Check(200).Contains("created")
}

// TestWebhookOrigins: pages of other origins cannot send the forms.
func TestWebhookOrigins(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	h := hook(t, s, "default", service.WebhookInput{Name: "Stored"})
	for path, form := range map[string]url.Values{
		"/settings/webhooks/" + h.ID: {"do": {"pause"}}, "/settings/webhooks/" + h.ID + "/delete": {}, "/settings/new-webhook": {"name": {"x"}, "url": {hookURL}},
	} {
		if r := s.Post(path, form, "Sec-Fetch-Site", "cross-site"); r.Status != 403 {
			t.Errorf("%s: got %d", path, r.Status)
		}
	}
	if all := hooks(t, s); len(all) != 1 || all[0].State != service.WebhookActive {
		t.Errorf("stored %v", all)
	}
}
