package settings

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/part"
	"github.com/guidonhq/guidon/service"
)

// profilePage is the model of the profile.
type profilePage struct {
	Theme    page.Theme
	Zone     string
	Keys     bool
	Saved    bool
	Problems part.Problems
}

// showProfile shows the account of the visitor, its roles, and the preferences of the browser.
func showProfile(v *page.Visit) error {
	return show(v, http.StatusOK, profileSection, "", profilePage{
		Theme: v.Preferences.Theme, Zone: v.Preferences.Zone, Keys: v.Preferences.Keys,
		Saved: v.Query().Get("saved") != "",
	}.main(v))
}

// saveAppearance saves the appearance of pages in the browser.
func saveAppearance(v *page.Visit, form url.Values) error {
	p := profilePage{Theme: page.Theme(form.Get("theme")), Zone: strings.TrimSpace(form.Get("zone")), Keys: form.Get("keys") != ""}
	if p.Theme != "" && !p.Theme.Valid() {
		p.Problems.Add("theme", "Choose one of the themes.")
		p.Theme = v.Preferences.Theme
	}
	if page.CheckZone(p.Zone) != nil {
		p.Problems.Add("zone", "No such time zone. Write one such as Europe/Berlin, or UTC.")
	}
	if len(p.Problems) > 0 {
		return show(v, unprocessable, profileSection, "", p.main(v))
	}
	preferences := v.Preferences
	preferences.Theme, preferences.Zone, preferences.Keys = p.Theme, p.Zone, p.Keys
	v.SetPreferences(preferences)
	return v.Redirect(page.Below("settings", "profile") + "?saved=appearance")
}

// themeChoice is a theme that can be chosen.
type themeChoice struct {
	Value      page.Theme
	Text, Icon string
}

// themes are the themes that can be chosen.
var themes = []themeChoice{{page.ThemeSystem, "System", ""}, {page.ThemeLight, "Light", "light"}, {page.ThemeDark, "Dark", "dark"}}

// chosenTheme returns the theme that the form shows as chosen: without a choice, that of the
// operator.
func (p profilePage) chosenTheme(v *page.Visit) page.Theme {
	return cmp.Or(p.Theme, v.Site.Interface.DefaultTheme, page.ThemeSystem)
}

// zoneName returns the name of the time zone, for people.
func zoneName(v *page.Visit) string { return cmp.Or(v.Preferences.Zone, "UTC") }

// grantsOf returns the roles of the visitor.
func grantsOf(v *page.Visit) []service.Grant {
	if !isPerson(v) {
		return []service.Grant{{Role: service.RoleAdmin, Namespaces: []string{service.Everywhere}, Origin: service.OriginOpen}}
	}
	return v.Visitor.Authentication.Grants()
}

// originText says where a role comes from.
func originText(o service.Origin) string {
	return map[service.Origin]string{
		service.OriginDatabase: "Given in Access to", service.OriginConfiguration: "The server's configuration gives it to",
		service.OriginClaim: "Your sign-in provider", service.OriginDefault: "The default role of this server",
		service.OriginToken: "Your token", service.OriginOpen: "Roles are not enforced on this server",
	}[o]
}
