package settings_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// now is the time of tests that look at times.
var now = time.Date(2026, 11, 22, 11, 41, 0, 0, time.UTC)

// atNow makes a server tell that time. Its sessions have no end then.
func atNow(c *page.Config) { c.Now = func() time.Time { return now } }

// secret returns the token that the page shows, or "".
func secret(r *webtest.Reply) string {
	for _, n := range r.All("input") {
		if webtest.Attribute(n, "aria-label") == "The token" {
			return webtest.Attribute(n, "value")
		}
	}
	return ""
}

// newToken returns the fields of the form for a token, with a name.
func newToken(t *testing.T, s *webtest.Server) url.Values {
	t.Helper()
	_, fields := s.Get("/settings/new-token").Check(200).Form("")
	fields.Set("name", "ci")
	return fields
}

// tokens returns the static tokens.
func tokens(t *testing.T, s *webtest.Server) (found []*service.Authentication) {
	t.Helper()
	all, _, err := s.Service.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{Method: service.MethodToken}, 100, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Client == "" {
			found = append(found, a)
		}
	}
	return found
}

// TestTokens: the list has what each token may do, where, until when, and who created it.
func TestTokens(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true, Page: atNow})
	if _, created, err := s.Service.Bootstrap(t.Context(), service.Write{}, service.BootstrapInput{}); err != nil || !created {
		t.Fatal(created, err)
	}
	at := func(d time.Duration) *time.Time { end := now.Add(d); return &end }
	for _, in := range []service.TokenInput{
		{Name: "checkout-web", Description: "Browser back end", Role: service.RoleEvaluator, Namespaces: []string{"default", "pay-*"}, ExpiresAt: at(90 * 24 * time.Hour)},
		{Name: "soon", Role: service.RoleEditor, ExpiresAt: at(6*24*time.Hour + time.Minute)},
		{Name: "gone", Role: service.RoleViewer, ExpiresAt: at(-time.Hour)},
		{Name: "old", Namespace: "default"},
	} {
		if _, _, err := s.Service.CreateToken(t.Context(), service.Write{}, in); err != nil {
			t.Fatal(err)
		}
	}
	r := s.Get("/settings/tokens").Check(200).Contains("Static Tokens", "Authentication is off")
	var got []string
	for _, row := range rows(r) {
		before, _, _ := strings.Cut(row, " 2") // the time of creation is that of the database
		got = append(got, strings.TrimSuffix(before, " just now"))
	}
	want := []string{
		"initial_bootstrap_token Delete it as soon as you can sign in another way Admin All Never",
		"checkout-web Browser back end Evaluate Default pay-*",
		"soon Edit All in 6 days",
		"gone View All Expired 1 h ago",
		"old Admin Default Never",
	}
	for i := range want {
		if i >= len(got) || !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("row %d: got %q, want %q", i, got, want[i])
		}
	}
	if got := rows(r)[1]; !strings.Contains(got, "20 Feb 2027") {
		t.Errorf("got %s", got)
	}
	amber := 0
	for _, n := range r.All("span") {
		if strings.Contains(webtest.Attribute(n, "class"), "soon") {
			amber++
		}
	}
	if amber != 3 { // the first one, the one that ends soon, and the one that has ended
		t.Errorf("%d marks, want 3", amber)
	}
}

// TestCreator: the list names the token whose session has created another one.
func TestCreator(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Post("/settings/new-token", newToken(t, s)).Check(200)
	if got := rows(s.Get("/settings/tokens").Check(200))[1]; !strings.HasPrefix(got, "ci Evaluate All ") || !strings.Contains(got, "just now by Mira") {
		t.Errorf("got %s", got)
	}
	open := webtest.New(t, webtest.Options{Open: true})
	open.Post("/settings/new-token", newToken(t, open)).Check(200)
	open.Get("/settings/tokens").Check(200).Contains("just now by Anonymous")
}

// TestManyTokens: pages of 100 link to each other.
func TestManyTokens(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true})
	for i := range 130 {
		if _, _, err := s.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: fmt.Sprintf("token-%03d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	first := s.Get("/settings/tokens").Check(200).Contains("token-000", "token-099").Lacks("token-100", "First page")
	next := ""
	for _, link := range first.Links() {
		if strings.HasPrefix(link, "/settings/tokens?page=") {
			next = link
		}
	}
	s.Get(next).Check(200).Contains("token-100", "token-129", "First page").Lacks("token-099", "Next page")
	s.Get("/settings/tokens?page=nonsense").Check(200).Contains("token-000")
}

// TestNewToken: a token is shown in the response to the form and nowhere else, and can do
// what was chosen.
func TestNewToken(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	fields := with(newToken(t, s), "description", "Imports on every merge", "role", "editor", "where", "some", "namespaces", "default, pay-*", "expires", "30")
	r := s.Post("/settings/new-token", fields).Check(200).Contains("Token “ ci ” created", "Copy it now")
	token := secret(r)
	if token == "" || r.Header.Get("Cache-Control") != "no-store" || r.Header.Get("Location") != "" {
		t.Fatalf("got the token %q, headers %v", token, r.Header)
	}
	r.Contains("curl http://flags.test/api/v1/namespaces/default/flags \\ -H \"Authorization: Bearer " + token + "\"")
	all := tokens(t, s)
	got := all[len(all)-1]
	if want := []service.Grant{{Role: service.RoleEditor, Namespaces: []string{"default", "pay-*"}, Origin: service.OriginToken}}; !cmp.Equal(got.Grants(), want) {
		t.Errorf("may do %v, want %v", got.Grants(), want)
	}
	if left := time.Until(got.ExpiresAt); left < 29*24*time.Hour || left > 31*24*time.Hour {
		t.Errorf("ends in %s", left)
	}
	if _, _, err := s.Service.Authenticate(t.Context(), service.Demand{}, "", token); err != nil {
		t.Error(err)
	}
	// A reload sends the form again.
	again := s.Post("/settings/new-token", fields).Check(200).Contains("created and shown once", "create another")
	if secret(again) != "" || len(tokens(t, s)) != len(all) {
		t.Errorf("the form was carried out twice")
	}
	// Another form with the same name is another token.
	if secret(s.Post("/settings/new-token", newToken(t, s)).Check(200)) == "" || len(tokens(t, s)) != len(all)+1 {
		t.Errorf("there is no second token")
	}
	// So is that of another person with the same name, whose form was open before.
	other := s.As(s.SignIn(service.TokenInput{Name: "Jonas"}))
	theirs := newToken(t, other)
	s.Post("/settings/new-token", newToken(t, s)).Check(200)
	if secret(other.Post("/settings/new-token", theirs).Check(200)) == "" {
		t.Errorf("another person gets no token")
	}
	if strings.Contains(s.Log.String(), token) {
		t.Error("the log has the token")
	}
	for _, path := range []string{"/settings/tokens", "/settings/new-token"} {
		if strings.Contains(s.Get(path).Body, token) {
			t.Errorf("%s has the token", path)
		}
	}
}

// TestCommands: the page has a command that the token may run.
func TestCommands(t *testing.T) {
	s := webtest.New(t, webtest.Options{Page: func(c *page.Config) { c.PublicURL, c.PublicPath = "https://flags.example/base", "/base" }})
	for role, want := range map[string]string{
		"evaluator": `curl https://flags.example/base/ofrep/v1/evaluate/flags \ -H "Authorization: Bearer TOKEN" \ -H "Content-Type: application/json" \ -H "X-Guidon-Namespace: shop" \ -d '{"context": {"targetingKey": "somebody"}}'`,
		"client":    `curl https://flags.example/base/internal/v1/evaluation/snapshot/namespace/shop \ -H "Authorization: Bearer TOKEN"`,
		"viewer":    `curl https://flags.example/base/api/v1/namespaces/shop/flags \ -H "Authorization: Bearer TOKEN"`,
	} {
		r := s.Post("/settings/new-token", with(newToken(t, s), "name", role, "role", role, "where", "some", "namespaces", "shop")).Check(200)
		r.Contains(strings.ReplaceAll(want, "TOKEN", secret(r)))
	}
}

// TestExpiry: a token expires as chosen, and never only after a question.
func TestExpiry(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true, Page: atNow})
	fields := newToken(t, s)
	for _, test := range []struct {
		name    string
		changes []string
		cookie  string
		want    time.Time
	}{
		{"30 days", []string{"expires", "30"}, "", now.AddDate(0, 0, 30)},
		{"90 days", []string{"expires", "90"}, "", now.AddDate(0, 0, 90)},
		{"a year", []string{"expires", "365"}, "", now.AddDate(0, 0, 365)},
		{"a date", []string{"expires", "date", "date", "2026-12-31"}, "", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)},
		{"today", []string{"expires", "date", "date", "2026-11-22"}, "", time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)},
		{"a date in a zone", []string{"expires", "date", "date", "2026-12-31"}, "guidon_preferences=zone=Asia%2FTokyo", time.Date(2026, 12, 31, 15, 0, 0, 0, time.UTC)},
		{"never", []string{"expires", "never", "sure", "yes"}, "", time.Time{}},
	} {
		var headers []string
		if test.cookie != "" {
			headers = []string{"Cookie", test.cookie}
		}
		r := s.Post("/settings/new-token", with(fields, append(test.changes, "name", test.name)...), headers...).Check(200)
		if secret(r) == "" {
			t.Errorf("%s: %s", test.name, r.Text())
		}
		all := tokens(t, s)
		if got := all[len(all)-1].ExpiresAt; !got.Equal(test.want) {
			t.Errorf("%s: ends %v, want %v", test.name, got, test.want)
		}
	}
	before := len(tokens(t, s))
	r := s.Post("/settings/new-token", with(fields, "expires", "never", "description", "d")).Check(422).Contains("stays valid until somebody deletes it", "Create a token that never expires")
	if _, again := r.Form(""); again.Get("description") != "d" || again.Get("expires") != "never" || again.Get("sure") != "" {
		t.Errorf("the form has %v", again)
	}
	if len(tokens(t, s)) != before {
		t.Error("it was created without the answer")
	}
}

// TestNewTokenForMissing: a token for a namespace that does not exist comes with a warning.
func TestNewTokenForMissing(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for namespaces, missing := range map[string]string{"warehuose": "warehuose", "warehouse": "", "later-*": ""} {
		form := with(newToken(t, s), "name", "for "+namespaces, "where", "some", "namespaces", namespaces)
		r := s.Post("/settings/new-token", form).Check(200).Contains("Token “ for " + namespaces + " ” created")
		if missing == "" {
			r.Lacks("There is no namespace")
		} else {
			r.Contains("There is no namespace with the key " + missing + " .")
		}
	}
}

// TestNewTokenProblems: each mistake has a message at its field, and what was entered stays.
func TestNewTokenProblems(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true, Page: atNow})
	fields := newToken(t, s)
	for _, test := range []struct {
		changes []string
		field   string
		want    string
	}{
		{[]string{"name", " "}, "name", "A name is needed"},
		{[]string{"name", strings.Repeat("ä", 256)}, "name", "255 characters at most, this has 256."},
		{[]string{"description", strings.Repeat("x", 300)}, "description", "255 characters at most, this has 300."},
		{[]string{"role", "owner"}, "role", "Choose what it may do."},
		{[]string{"role", "none"}, "role", "Choose what it may do."},
		{[]string{"where", "some", "namespaces", " ,"}, "namespaces", "Name at least one namespace."},
		{[]string{"where", "some", "namespaces", "a b/c"}, "namespaces", "“b/c” is not the key of a namespace."},
		{[]string{"where", "some", "namespaces", "a*b"}, "namespaces", "“a*b” is not the key of a namespace."},
		{[]string{"where", "some", "namespaces", keys(101)}, "namespaces", "At most 100 namespaces."},
		{[]string{"expires", "later"}, "expires", "Choose when the token expires."},
		{[]string{"expires", "date", "date", "31.12.2026"}, "date", "Write a date such as 2027-05-22."},
		{[]string{"expires", "date", "date", ""}, "date", "Write a date such as"},
		{[]string{"expires", "date", "date", "2026-11-21"}, "date", "This is in the past."},
	} {
		sent := with(fields, test.changes...)
		r := s.Post("/settings/new-token", sent).Check(422).Contains("1 thing to fix", test.want, "Nothing was saved")
		found := false
		for _, link := range r.Links() {
			found = found || link == "#"+test.field
		}
		if !found {
			t.Errorf("%v: no link to %s", test.changes, test.field)
		}
		_, again := r.Form("")
		for _, name := range []string{"name", "description", "namespaces", "where", "date", "shown"} {
			if got, want := again.Get(name), strings.TrimSpace(sent.Get(name)); strings.TrimSpace(got) != want {
				t.Errorf("%v: %s is %q, want %q", test.changes, name, got, want)
			}
		}
	}
	if got := len(tokens(t, s)); got != 0 {
		t.Errorf("%d tokens were created", got)
	}
	s.Post("/settings/new-token", url.Values{}).Check(422).Contains("4 things to fix")
}

func keys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "key-%d ", i)
	}
	return b.String()
}

// TestDeleteToken: a question comes first. Afterwards the token is refused, with its
// sessions.
func TestDeleteToken(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	token := secret(s.Post("/settings/new-token", newToken(t, s)))
	all := tokens(t, s)
	own, id := all[0].ID, all[1].ID
	r := s.Get("/settings/tokens/"+id+"/delete").Check(200).Contains("Delete the token “ci”?", "stops working immediately", "cannot be undone").Lacks("You are signed in with this token")
	if diff := cmp.Diff([]string{"Keep token", "Delete token"}, buttons(r)); diff != "" {
		t.Errorf("buttons (-want +got):\n%s", diff)
	}
	action, fields := r.Form("")
	if got := s.Post(action, fields).Location(); got != "/settings/tokens?deleted=1" {
		t.Errorf("leads to %s", got)
	}
	if _, _, err := s.Service.Authenticate(t.Context(), service.Demand{}, "", token); err == nil {
		t.Error("the token still works")
	}
	s.Get("/settings/tokens?deleted=1").Check(200).Contains("The token was deleted")
	s.Get("/settings/tokens/" + id + "/delete").Check(404).Contains("There is no such token")
	s.Post("/settings/tokens/"+id+"/delete", nil).Check(404)

	// The last administrator cannot be deleted. With another one, one's own can.
	s.Get("/settings/tokens/" + own + "/delete").Check(200).Contains("You are signed in with this token")
	s.Post("/settings/tokens/"+own+"/delete", nil).Check(422).Contains("Nothing was changed")
	if _, _, err := s.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "other", Role: service.RoleAdmin}); err != nil {
		t.Fatal(err)
	}
	s.Post("/settings/tokens/"+own+"/delete", nil).Location()
	if got := s.Get("/settings/tokens").Location(); !strings.HasPrefix(got, "/sign-in") {
		t.Errorf("then one gets to %s", got)
	}
}

// TestSessionIsNoToken: sessions are neither in the list nor deleted as tokens.
func TestSessionIsNoToken(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	all, _, err := s.Service.ListAuthentications(t.Context(), service.Demand{}, service.AuthenticationFilter{}, 100, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		if a.Client != "" {
			s.Get("/settings/tokens/" + a.ID + "/delete").Check(404)
			s.Post("/settings/tokens/"+a.ID+"/delete", nil).Check(404)
		}
	}
	if got := len(rows(s.Get("/settings/tokens").Check(200))); got != 1 {
		t.Errorf("%d rows, want 1", got)
	}
}

// TestTokensOff: the section says how to turn tokens on, and none can be created.
func TestTokensOff(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true, Handler: func(c *handler.Config) { c.Authentication.TokenMethod = false }})
	s.Get("/settings/tokens").Check(200).Contains("Static tokens are off", "authentication.methods.token.enabled").Lacks("New token")
	for _, r := range []*webtest.Reply{s.Get("/settings/new-token"), s.Post("/settings/new-token", url.Values{"name": {"x"}})} {
		r.Check(404).Contains("Static tokens are off", "authentication.methods.token.enabled")
	}
}

// TestDefaultRole: a token without a role has that of the configuration.
func TestDefaultRole(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true, Handler: func(c *handler.Config) {
		c.Configuration = func() json.RawMessage {
			return json.RawMessage(`{"authorization":{"defaultRoles":{"token":"viewer"}}}`)
		}
	}})
	if _, _, err := s.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "old"}); err != nil {
		t.Fatal(err)
	}
	s.Get("/settings/tokens").Check(200).Contains("old View All")
}
