package flags_test

import (
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/examples"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// everyone admits everybody.
type everyone struct{}

func (everyone) Admits(*service.Authentication) bool { return true }
func (everyone) Names(string) bool                   { return false }

// people is a policy for people of a provider, who have the role everywhere or what the
// bindings say.
func people(t *testing.T, role service.Role, bindings ...string) service.Policy {
	t.Helper()
	configured, err := service.ConfiguredBindings(bindings)
	if err != nil {
		t.Fatal(err)
	}
	p := service.Policy{Enforced: true, Bindings: configured, Admissions: map[string]service.Admission{"oidc:google": everyone{}}}
	p.Defaults[service.MethodOIDC] = role
	return p
}

// person returns the server visited by a person with a new session.
func person(t *testing.T, s *webtest.Server, sub string) *webtest.Server {
	t.Helper()
	token, _, err := s.Service.SignIn(t.Context(), service.Write{}, service.SignIn{
		Identity: &service.Identity{Method: service.MethodOIDC, Provider: "google", Subject: "oidc:google:sub:" + sub},
		Client:   service.ClientBrowser, Lifetime: time.Hour,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.As(token)
}

// star presses the star of the flag, which is on the page.
func star(t *testing.T, s *webtest.Server, r *webtest.Reply, key string, headers ...string) *webtest.Reply {
	t.Helper()
	button := starOf(t, r, key)
	form := url.Values{"favorite": {webtest.Attribute(button, "value")}}
	for _, n := range r.All("input") {
		if webtest.Attribute(n, "name") == "back" {
			form.Set("back", webtest.Attribute(n, "value"))
		}
	}
	return s.Post(webtest.Attribute(button, "formaction"), form, headers...)
}

func starOf(t *testing.T, r *webtest.Reply, key string) *html.Node {
	t.Helper()
	for _, n := range r.All("button") {
		if webtest.Attribute(n, "id") == "star-"+key && webtest.Attribute(n, "form") == "stars" {
			return n
		}
	}
	t.Fatalf("there is no star of %s", key)
	return nil
}

// wantStar checks the star of the flag on the page.
func wantStar(t *testing.T, r *webtest.Reply, key string, favorite bool) {
	t.Helper()
	n := starOf(t, r, key)
	got := []string{webtest.Attribute(n, "value"), webtest.Attribute(n, "title")}
	want := []string{"true", "Add to favorites"}
	if favorite {
		want = []string{"false", "Remove from favorites"}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("star of %s (-want +got):\n%s", key, diff)
	}
}

// favoritesCookie returns the value of the cookie that the reply sets, or "none".
func favoritesCookie(r *webtest.Reply) string {
	for _, c := range r.Result.Cookies() {
		if c.Name == "guidon_favorites" {
			return c.Value
		}
	}
	return "none"
}

// addFlags adds boolean flags with the prefix and numbers from 0 to the namespace, in one change of the actor.
func addFlags(t *testing.T, s *webtest.Server, by change.Actor, prefix string, n int) {
	t.Helper()
	d := &service.Document{Namespace: service.DocumentNamespace{Key: "default"}}
	for i := range n {
		d.Flags = append(d.Flags, &guidon.Flag{Key: fmt.Sprint(prefix, i), Name: fmt.Sprint(prefix, i), Type: guidon.BooleanFlag})
	}
	if _, _, err := s.Service.Import(t.Context(), service.Write{By: service.Caller{Actor: by}}, "default", d, service.ImportUpdate, false); err != nil {
		t.Fatal(err)
	}
}

// starred returns the addresses of the favorites in the palette.
func starred(r *webtest.Reply) (addresses []string) {
	for _, n := range r.All("li") {
		if strings.HasPrefix(webtest.TextOf(n), "★") && webtest.Attribute(n, "role") == "option" {
			addresses = append(addresses, webtest.Attribute(n, "data-href"))
		}
	}
	return addresses
}

func wantKeys(t *testing.T, r *webtest.Reply, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, keys(r)); diff != "" {
		t.Errorf("flags (-want +got):\n%s", diff)
	}
}

// TestFavorites: a star, in the list and on every tab of the flag, makes a flag a favorite of the
// account, in all of its sessions and in no other account.
func TestFavorites(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t, service.RoleViewer)})
	s.Import("staging", examples.Shop)
	ann, bob := person(t, s, "ann"), person(t, s, "bob")
	revision := ann.Get(list).Header.Get("Guidon-Revision")
	if got, want := star(t, ann, ann.Get(list+"?q=wish&sort=key"), "wishlist").Location(), list+"?q=wish&sort=key"; got != want {
		t.Errorf("the star leads back to %s, want %s", got, want)
	}
	if got, want := star(t, ann, ann.Get(list+"/checkout-redesign/details"), "checkout-redesign").Location(), list+"/checkout-redesign/details"; got != want {
		t.Errorf("the star leads back to %s, want %s", got, want)
	}
	again := person(t, s, "ann")
	for _, path := range []string{"", "/wishlist", "/wishlist/details", "/wishlist/history", "/wishlist/code", "/wishlist/namespaces"} {
		wantStar(t, again.Get(list+path).Check(200), "wishlist", true)
		wantStar(t, bob.Get(list+path).Check(200), "wishlist", false)
		wantStar(t, s.Get(list+path).Check(200), "wishlist", false)
	}
	wantStar(t, again.Get(list), "guest-checkout", false)
	wantStar(t, again.Get("/namespaces/staging/flags"), "wishlist", false)
	if r := again.Get(list + "/wishlist?at=2"); strings.Contains(r.Body, `id="star-`) {
		t.Errorf("an earlier state has a star")
	}
	star(t, again, again.Get("/namespaces/staging/flags"), "wishlist").Location()

	for _, query := range []string{"mine=favorites", "q=is:favorite", "q=IS:Favorite", `q=is:"favorite"`, "mine=favorites&state=on&q=is:favorite"} {
		wantKeys(t, again.Get(list+"?sort=key&"+query).Check(200), "checkout-redesign", "wishlist")
	}
	wantKeys(t, again.Get(list+"?q=is:favorite+redesign").Contains("Checkout redesign"), "checkout-redesign")
	wantKeys(t, again.Get(list+`?q="is:favorite"`).Contains("No flag matches"))
	again.Get(list+"?mine=favorites").Contains("Mine: Favorites", "1–2 of 2")
	bob.Get(list + "?q=is:favorite").Check(200).Contains("You have no favorites here. The star beside the name of a flag makes it one.")

	want := []string{"/namespaces/staging/flags/wishlist", list + "/checkout-redesign", list + "/wishlist"}
	if diff := cmp.Diff(want, starred(again.Get("/search?namespace=default", "Guidon-Fragment", "options"))); diff != "" {
		t.Errorf("palette (-want +got):\n%s", diff)
	}
	if got := again.Get("/search").Check(200).Contains("Favorites").Links()[0]; got != want[0] {
		t.Errorf("the first link of the search leads to %s, want %s", got, want[0])
	}
	if got := starred(bob.Get("/search", "Guidon-Fragment", "options")); got != nil {
		t.Errorf("another account: the palette has %v", got)
	}

	star(t, ann, ann.Get(list), "wishlist").Location()
	wantKeys(t, again.Get(list+"?q=is:favorite"), "checkout-redesign")
	if got := ann.Get(list).Header.Get("Guidon-Revision"); got != revision {
		t.Errorf("the namespace went from revision %s to %s", revision, got)
	}
}

// TestStar: what a star sends is answered like what every form sends.
func TestStar(t *testing.T) {
	s := webtest.New(t, webtest.Options{ReadOnly: true})
	const wishlist = list + "/wishlist/favorite"
	add := url.Values{"favorite": {"true"}, "back": {"https://example.com/"}}
	if got := s.Post(wishlist, add).Location(); got != "/" {
		t.Errorf("an address elsewhere leads to %s, want /", got)
	}
	r := s.Post(wishlist, add, "Guidon-Fragment", "star").Check(200)
	if !strings.HasPrefix(r.Body, `<span class="star"`) {
		t.Errorf("a script gets %s", r.Body)
	}
	wantStar(t, r, "wishlist", true)
	s.Post(wishlist, add, "Sec-Fetch-Site", "cross-site").Check(http.StatusForbidden)
	s.Post(list+"/none/favorite", add).Check(http.StatusNotFound)
	s.As(s.SignIn(service.TokenInput{Name: "Olga", Role: service.RoleViewer, Namespaces: []string{"other"}})).Post(wishlist, add).Check(http.StatusForbidden)
	s.As("").Post(wishlist, add).Check(http.StatusUnauthorized)
	if got, want := s.Get(wishlist).Check(http.StatusMethodNotAllowed).Header.Get("Allow"), "POST"; got != want {
		t.Errorf("got Allow %q, want %q", got, want)
	}
}

// TestFavoritesUnchanged: a browser gets a page again after a favorite has changed.
func TestFavoritesUnchanged(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t, service.RoleViewer)})
	ann := person(t, s, "ann")
	for _, path := range []string{list, list + "/wishlist/details", list + "/wishlist/history", list + "/wishlist/code"} {
		preferences := "guidon_preferences=keys=on&namespace=default"
		tag := ann.Get(path, "Cookie", preferences).Header.Get("ETag")
		ann.Get(path, "Cookie", preferences, "If-None-Match", tag).Check(http.StatusNotModified)
		star(t, ann, ann.Get(path), "wishlist").Location()
		ann.Get(path, "Cookie", preferences, "If-None-Match", tag).Check(http.StatusOK)
	}
}

// TestFavoritesUnknown: while favorites cannot be read, pages have no stars, and only what is about
// favorites fails.
func TestFavoritesUnknown(t *testing.T) {
	db, err := store.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "a.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s := webtest.New(t, webtest.Options{Policy: people(t, service.RoleViewer), Page: func(c *page.Config) { c.Favorites = db }})
	ann := person(t, s, "ann")
	for _, path := range []string{list, list + "/wishlist", list + "/wishlist/details", "/search"} {
		if r := ann.Get(path).Check(200); strings.Contains(r.Body, `id="star-`) {
			t.Errorf("%s has a star", path)
		}
	}
	for _, r := range []*webtest.Reply{ann.Get(list + "?q=is:favorite"), ann.Post(list+"/wishlist/favorite", url.Values{"favorite": {"true"}})} {
		if r.Status < 500 {
			t.Errorf("got status %d, want one of an unavailable server", r.Status)
		}
	}
}

// TestManyFavorites: an account has at most 500 favorites, and the list has all of them.
func TestManyFavorites(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t, service.RoleViewer)})
	ann := person(t, s, "ann")
	addFlags(t, s, change.Anonymous, "f-", service.MaxFavorites+1)
	add := func(i int) *webtest.Reply {
		return ann.Post(fmt.Sprintf("%s/f-%d/favorite", list, i), url.Values{"favorite": {"true"}})
	}
	for i := range service.MaxFavorites {
		f := service.Favorite{Namespace: "default", Key: fmt.Sprint("f-", i)}
		if err := s.DB.AddFavorite(t.Context(), "oidc:google:sub:ann", f); err != nil {
			t.Fatal(err)
		}
	}
	add(0).Location()
	ann.Get(list + "?mine=favorites&page=10&sort=created").Check(200).Contains("451–500 of 500")
	wantStar(t, ann.Get(list+"?q=f-499"), "f-499", true)
	add(service.MaxFavorites).Check(400).Contains("an account can have at most 500 favorites; remove some first")
	wantStar(t, ann.Get(list+"/f-500"), "f-500", false)
	if _, err := s.Service.DeleteFlag(t.Context(), service.Write{}, "default", "f-0"); err != nil {
		t.Fatal(err)
	}
	add(service.MaxFavorites).Location()
	wantStar(t, ann.Get(list+"/f-500"), "f-500", true)
}

// TestFavoriteDeleted: a favorite whose flag was deleted is nowhere, and is back with the flag.
func TestFavoriteDeleted(t *testing.T) {
	for _, options := range []webtest.Options{{Policy: people(t, service.RoleViewer)}, {Open: true}} {
		s := webtest.New(t, options)
		addFlags(t, s, change.Anonymous, "gone-", 1)
		visitor, cookie := s, ""
		if options.Open {
			cookie = "guidon_favorites=" + favoritesCookie(star(t, s, s.Get(list), "gone-0"))
		} else {
			visitor = person(t, s, "ann")
			star(t, visitor, visitor.Get(list), "gone-0").Location()
		}
		favorites := func() *webtest.Reply { return visitor.Get(list+"?q=is:favorite", "Cookie", cookie).Check(200) }
		wantKeys(t, favorites(), "gone-0")
		if _, err := s.Service.DeleteFlag(t.Context(), service.Write{}, "default", "gone-0"); err != nil {
			t.Fatal(err)
		}
		wantKeys(t, favorites().Contains("No flag matches"))
		if got := starred(visitor.Get("/search", "Guidon-Fragment", "options", "Cookie", cookie)); got != nil {
			t.Errorf("the palette has %v", got)
		}
		addFlags(t, s, change.Anonymous, "gone-", 1)
		wantKeys(t, favorites(), "gone-0")
	}
}

// TestFavoritesOfHiddenNamespace: favorites in a namespace that a person may no longer see do not appear.
func TestFavoritesOfHiddenNamespace(t *testing.T) {
	before := webtest.New(t, webtest.Options{Policy: people(t, service.RoleViewer)})
	before.Import("staging", examples.Shop)
	ann := person(t, before, "ann")
	star(t, ann, ann.Get(list), "wishlist").Location()
	star(t, ann, ann.Get("/namespaces/staging/flags"), "wishlist").Location()
	after := webtest.New(t, webtest.Options{DB: before.DB, Policy: people(t, service.RoleNone, "viewer@staging=oidc:google:sub:ann")})
	ann = person(t, after, "ann")
	want := []string{"/namespaces/staging/flags/wishlist"}
	if diff := cmp.Diff(want, starred(ann.Get("/search", "Guidon-Fragment", "options").Check(200))); diff != "" {
		t.Errorf("palette (-want +got):\n%s", diff)
	}
	if r := ann.Get("/search"); strings.Contains(r.Body, "namespaces/default") {
		t.Errorf("the search names the namespace: %s", r.Body)
	}
	ann.Post(list+"/wishlist/favorite", url.Values{"favorite": {"false"}}).Check(http.StatusForbidden)
}

// TestFavoritesOfBrowser: without an account, the browser keeps favorites in a cookie.
func TestFavoritesOfBrowser(t *testing.T) {
	for name, options := range map[string]webtest.Options{"open": {Open: true}, "token": {}} {
		t.Run(name, func(t *testing.T) {
			options.Page = func(c *page.Config) { c.PublicPath = "" }
			s := webtest.New(t, options)
			r := star(t, s, s.Get(list), "wishlist")
			want := "guidon_favorites=default=wishlist; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax"
			if got := r.Header.Get("Set-Cookie"); got != want {
				t.Errorf("got the cookie %s, want %s", got, want)
			}
			cookie := "guidon_favorites=" + favoritesCookie(r)
			r = star(t, s, s.Get(list+"/guest-checkout", "Cookie", cookie), "guest-checkout", "Cookie", cookie)
			if got, want := favoritesCookie(r), "default=guest-checkout&default=wishlist"; got != want {
				t.Errorf("got the cookie %s, want %s", got, want)
			}
			cookie = "guidon_favorites=" + favoritesCookie(r)
			wantStar(t, s.Get(list, "Cookie", cookie), "wishlist", true)
			wantKeys(t, s.Get(list+"?sort=key&q=is:favorite", "Cookie", cookie), "guest-checkout", "wishlist")
			if diff := cmp.Diff([]string{list + "/guest-checkout", list + "/wishlist"}, starred(s.Get("/search", "Guidon-Fragment", "options", "Cookie", cookie))); diff != "" {
				t.Errorf("palette (-want +got):\n%s", diff)
			}
			r = star(t, s, s.Get(list, "Cookie", cookie), "guest-checkout", "Cookie", cookie)
			if got, want := favoritesCookie(r), "default=wishlist"; got != want {
				t.Errorf("after a removal: got the cookie %s, want %s", got, want)
			}
			wantStar(t, s.Get(list), "wishlist", false)
		})
	}
}

// TestForgedFavorites: of a cookie that no page has written, only what could be one counts.
func TestForgedFavorites(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true})
	long := strings.Repeat("x", 256)
	for cookie, want := range map[string]string{
		"": "", "=": "", "&&=&": "", "default": "", "default=": "", "=wishlist": "", "default=%zz": "", "default=%00": "",
		"none=wishlist":                     "none=wishlist", // the namespace may come back
		"default=wishlist&default=wishlist": "default=wishlist", "default=" + long + "&" + long + "=wishlist": "",
		"default=<script>&default=wish%2Flist&default=wish+list&default=wishlist": "default=wishlist", "default=wishlist&default=ä": "",
		`"default=a,b&default=wishlist"`:                 "default=a,b&default=wishlist", // a comma is quoted
		"default=wishlist&" + strings.Repeat("a", 3<<10): "",
	} {
		r := s.Post(list+"/guest-checkout/favorite", url.Values{"favorite": {"true"}}, "Cookie", "guidon_favorites="+cookie)
		r.Location()
		kept := strings.TrimPrefix(strings.TrimPrefix(favoritesCookie(r), "default=guest-checkout"), "&")
		if kept != want {
			t.Errorf("%.60s: got %s, want %s", cookie, kept, want)
		}
		s.Get(list+"?q=is:favorite", "Cookie", "guidon_favorites="+cookie).Check(200)
		s.Get("/search", "Cookie", "guidon_favorites="+cookie).Check(200)
	}
}

// TestFullCookie: a browser without room refuses a favorite and keeps the others, unless those of
// deleted flags make room.
func TestFullCookie(t *testing.T) {
	s := webtest.New(t, webtest.Options{Open: true})
	prefix := strings.Repeat("long-", 40)
	addFlags(t, s, change.Anonymous, prefix, 20)
	cookie, refused := "", 0
	for i := range 20 {
		r := s.Post(fmt.Sprintf("%s/%s%d/favorite", list, prefix, i), url.Values{"favorite": {"true"}}, "Cookie", "guidon_favorites="+cookie)
		if value := favoritesCookie(r); value != "none" {
			cookie = value
			continue
		}
		refused++
		r.Check(400).Contains("this browser has no room for more favorites; remove some first")
	}
	if refused != 6 || len(cookie) > 3<<10 { // 14 of 210 bytes each fit
		t.Errorf("%d were refused, the cookie has %d bytes", refused, len(cookie))
	}
	if _, err := s.Service.DeleteFlag(t.Context(), service.Write{}, "default", prefix+"0"); err != nil {
		t.Fatal(err)
	}
	r := s.Post(list+"/"+prefix+"14/favorite", url.Values{"favorite": {"true"}}, "Cookie", "guidon_favorites="+cookie)
	if got := favoritesCookie(r); !strings.HasPrefix(got, "default="+prefix+"14&default="+prefix+"13&") || strings.HasSuffix(got, prefix+"0") {
		t.Errorf("after a deletion: got %s", got)
	}
}

// TestMine: the list has the flags that the visitor changed last.
func TestMine(t *testing.T) {
	s := webtest.New(t, webtest.Options{Policy: people(t, service.RoleEditor)})
	ann, bob := person(t, s, "ann"), person(t, s, "bob")
	for visitor, key := range map[*webtest.Server]string{ann: "anns", bob: "bobs"} {
		visitor.Post("/namespaces/default/new-flag?type=boolean", url.Values{"type": {"boolean"}, "name": {key}, "key": {key}, "do": {"save"}}).Location()
	}
	star(t, ann, ann.Get(list), "wishlist").Location()
	wantKeys(t, ann.Get(list+"?mine=changed").Check(200).Contains("Mine: Changed by me"), "anns")
	wantKeys(t, ann.Get(list+"?q=is:mine"), "anns")
	wantKeys(t, bob.Get(list+"?q=is:mine"), "bobs")
	wantKeys(t, ann.Get(list+"?q=is:mine+is:favorite&sort=key"), "anns", "wishlist")
	wantKeys(t, ann.Get(list+"?q=is:mine&mine=favorites&state=on"), "wishlist")
	wantKeys(t, s.Get(list+"?q=is:mine"))

	open := webtest.New(t, webtest.Options{Open: true})
	open.Get(list).Lacks("Changed by me")
	for _, query := range []string{"q=is:mine", "mine=changed"} {
		wantKeys(t, open.Get(list+"?"+query).Check(200).Contains("This server requires no signing in, so it does not know which flags you changed."))
	}
}

// TestMineLimit: flags that the visitor changed before the last 200 changes are left out.
func TestMineLimit(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true, Policy: people(t, service.RoleViewer)})
	for i := range 3 {
		addFlags(t, s, change.Actor{ID: "oidc:google:sub:ann"}, fmt.Sprintf("f-%d-", i), 67)
	}
	r := person(t, s, "ann").Get(list + "?mine=changed&sort=key&page=4").Contains("151–200 of 200")
	if len(keys(r)) != 50 {
		t.Errorf("the page has %v", keys(r))
	}
}
