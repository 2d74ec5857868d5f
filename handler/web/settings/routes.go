package settings

import (
	"net/http"
	"slices"

	"github.com/a-h/templ"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/service"
)

// Routes returns the pages.
func Routes() []page.Route {
	return slices.Concat([]page.Route{
		{Pattern: "/settings", Get: showSettings},
		{Pattern: "/settings/profile", Get: showProfile, Post: page.WithForm(saveAppearance)},
		{Pattern: "/settings/sessions", Get: showSessions, Post: page.WithForm(endSessions)},
		{Pattern: "/settings/namespaces", Get: showNamespaces},
		{Pattern: "/settings/server", Get: showServer},
		{Pattern: "/shortcuts", Get: showShortcuts},
		{Pattern: "/namespaces/{namespace}/settings", Get: showNamespace, Post: after(requireManagement, page.WithForm(saveNamespace))},
	}, guarded(requireAdministrator,
		page.Route{Pattern: "/settings/tokens", Get: showTokens},
		page.Route{Pattern: "/settings/tokens/{id}/delete", Get: page.With(findToken, askDeleteToken), Post: page.With(findToken, removeToken)},
		page.Route{Pattern: "/settings/access", Get: showAccess},
		page.Route{Pattern: "/settings/new-binding", Get: showNewBinding, Post: page.WithForm(makeBinding)},
		page.Route{
			Pattern: "/settings/access/{id}/delete", Get: page.With(findBinding, askDeleteBinding), Post: page.With(findBinding, removeBinding),
		},
		page.Route{Pattern: "/settings/end-access", Get: askEndAccess, Post: page.WithForm(endAccess)},
		page.Route{Pattern: "/settings/records", Get: showRecords},
	), guarded(requireTokens, page.Route{Pattern: "/settings/new-token", Get: showNewToken, Post: page.WithForm(makeToken)}),
		guarded(requireCreation, page.Route{Pattern: "/settings/new-namespace", Get: showNewNamespace, Post: page.WithForm(makeNamespace)}),
		guarded(requireManagement, page.Route{
			Pattern: "/namespaces/{namespace}/delete", Get: askDeleteNamespace, Post: page.WithForm(removeNamespace),
		}),
		webhookRoutes("/settings"), webhookRoutes("/namespaces/{namespace}"))
}

// after returns a function that serves only visits without an error of the check.
func after(check, serve func(v *page.Visit) error) func(v *page.Visit) error {
	return func(v *page.Visit) error {
		if err := check(v); err != nil {
			return err
		}
		return serve(v)
	}
}

// guarded returns the routes, all of which are after the check.
func guarded(check func(v *page.Visit) error, routes ...page.Route) []page.Route {
	for i, r := range routes {
		routes[i].Get = after(check, r.Get)
		if r.Post != nil {
			routes[i].Post = after(check, r.Post)
		}
	}
	return routes
}

// showSettings redirects to the first page of settings.
func showSettings(v *page.Visit) error {
	return v.Redirect(page.Below("settings", "profile"))
}

// section is a part of the settings, with a link next to all of them.
type section struct {
	Path, Text string
	Admin      bool // only for administrators of everything
}

// The sections.
var (
	profileSection    = section{"profile", "Profile", false}
	sessionsSection   = section{"sessions", "Sessions", false}
	namespacesSection = section{"namespaces", "Namespaces", false}
	tokensSection     = section{"tokens", "Static Tokens", true}
	accessSection     = section{"access", "Access", true}
	webhooksSection   = section{"webhooks", "Webhooks", true}
	recordsSection    = section{"records", "Records", true}
	transferSection   = section{"transfer", "Import and export", false}
	serverSection     = section{"server", "Server", false}

	sections = []section{
		profileSection, sessionsSection, namespacesSection, tokensSection, accessSection, webhooksSection, recordsSection,
		transferSection, serverSection,
	}
)

// sectionsFor returns the sections that the visitor may open.
func sectionsFor(v *page.Visit) []section {
	return slices.DeleteFunc(slices.Clone(sections), func(s section) bool { return s.Admin && !administers(v) })
}

// administers reports whether the visitor is an administrator of everything.
func administers(v *page.Visit) bool { return v.MayIn(service.RoleAdmin, service.Everywhere) }

// requireAdministrator returns an error with a page of its own unless the visitor is an
// administrator of everything. The operations refuse others as well.
func requireAdministrator(v *page.Visit) error {
	if administers(v) {
		return nil
	}
	return &page.Error{
		Heading: "This takes Admin everywhere",
		Text:    "Tokens, access, records and the webhooks of everything are for administrators of all namespaces. Ask one of them.",
		Err:     service.Refusal(service.RoleAdmin, service.Everywhere),
	}
}

// ShowTransfer responds with the section that imports and exports several namespaces, which
// is in a package of its own.
func ShowTransfer(v *page.Visit, status int, main templ.Component) error {
	return show(v, status, transferSection, "", main)
}

// show responds with a page of a section. title is that of the section if it is "".
func show(v *page.Visit, status int, at section, title string, main templ.Component) error {
	return v.Reply(status, sectionPage(v, at, title, main))
}

// sectionPage returns a page of a section. title is that of the section if it is "".
func sectionPage(v *page.Visit, at section, title string, main templ.Component) page.Page {
	crumbs := []page.Crumb{{Text: "Settings", Address: v.To("settings", "profile")}}
	if title == "" {
		title = at.Text
		crumbs = append(crumbs, page.Crumb{Text: title})
	} else {
		crumbs = append(crumbs, page.Crumb{Text: at.Text, Address: v.To("settings", at.Path)}, page.Crumb{Text: title})
	}
	return page.Page{Title: title, Place: page.PlaceSettings, Crumbs: crumbs, Main: layout(v, at, main)}
}

// notFound is the error for a page about something that does not exist.
func notFound(heading, text string) error {
	return &page.Error{Heading: heading, Text: text, Err: guidon.Errorf(guidon.NotFound, "%s", heading)}
}

// unprocessable is the status of a form with something wrong.
const unprocessable = http.StatusUnprocessableEntity
