package page

import (
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"
)

// Theme is the colour scheme of pages.
type Theme string

// The themes. The empty Theme means that the visitor or the operator chose none.
const (
	ThemeSystem Theme = "system" // as the browser prefers
	ThemeLight  Theme = "light"
	ThemeDark   Theme = "dark"
)

// Valid reports whether the theme is one that can be chosen.
func (t Theme) Valid() bool { return t == ThemeSystem || t == ThemeLight || t == ThemeDark }

// Preferences are the settings of a visitor, which the browser keeps in a cookie. They are
// not secret and grant no access.
type Preferences struct {
	Theme     Theme  // "" for the operator's default
	Zone      string // an IANA time zone; "" for UTC
	Keys      bool   // single letters are shortcuts
	Namespace string // the one that was visited last, or ""
	Language  string // of code examples, or ""
	Diff      DiffView
}

// DiffView is the layout of differences of documents on pages with enough room.
type DiffView string

// The views. The empty DiffView is the unified one.
const (
	DiffUnified DiffView = "unified"
	DiffSides   DiffView = "sides" // side by side
)

// Valid reports whether the view is one that can be chosen.
func (d DiffView) Valid() bool { return d == DiffUnified || d == DiffSides }

// preferencesCookie is the name of the cookie.
const preferencesCookie = "guidon_preferences"

// maxPreference limits the length of one preference, in bytes.
const maxPreference = 255

// PreferencesOf returns the preferences that the browser has sent with the request. Invalid
// ones count as unset.
func PreferencesOf(r *http.Request) Preferences {
	p := Preferences{Keys: true}
	cookie, err := r.Cookie(preferencesCookie)
	if err != nil {
		return p
	}
	values, err := url.ParseQuery(cookie.Value)
	if err != nil {
		return p
	}
	text := func(name string) string {
		value := values.Get(name)
		if len(value) > maxPreference || !utf8.ValidString(value) {
			return ""
		}
		return value
	}
	if theme := Theme(text("theme")); theme.Valid() {
		p.Theme = theme
	}
	p.Zone, p.Namespace, p.Language = text("zone"), text("namespace"), text("language")
	if d := DiffView(text("diff")); d.Valid() {
		p.Diff = d
	}
	if _, err := zone(p.Zone); err != nil {
		p.Zone = ""
	}
	p.Keys = text("keys") != "off"
	return p
}

// String returns the value of the cookie.
func (p Preferences) String() string {
	keys := ""
	if !p.Keys {
		keys = "off"
	}
	return strings.TrimPrefix(Query(
		"theme", string(p.Theme), "zone", p.Zone, "namespace", p.Namespace, "language", p.Language, "diff", string(p.Diff), "keys", keys,
	), "?")
}

// cookieAge is how long a browser keeps preferences and favorites, in seconds.
const cookieAge = 365 * 24 * 60 * 60

// SetPreferences makes the browser remember the preferences.
func (v *Visit) SetPreferences(p Preferences) {
	v.Preferences = p
	v.setCookie(preferencesCookie, p.String())
}

// setCookie makes the browser keep a value that is not secret and grants no access.
func (v *Visit) setCookie(name, value string) {
	cookie := http.Cookie{
		Name: name, Value: value, Path: strings.TrimSuffix(v.Site.PublicPath, "/") + "/",
		MaxAge: cookieAge, HttpOnly: true, Secure: v.Site.Session.Secure || v.Site.Session.HostPrefix, SameSite: http.SameSiteLaxMode,
	} // #nosec G124 -- Secure is that of the session
	header := v.Header()
	header.Add("Set-Cookie", cookie.String())
}

// zone returns the time zone with the IANA name; "" is UTC.
func zone(name string) (*time.Location, error) {
	if name == "" || name == "Local" { // the zone of the server cannot be chosen
		return time.UTC, nil
	}
	return time.LoadLocation(name)
}

// Location returns the time zone of the visitor.
func (v *Visit) Location() *time.Location {
	at, err := zone(v.Preferences.Zone)
	if err != nil {
		return time.UTC
	}
	return at
}
