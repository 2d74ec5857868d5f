package page

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Place is a part of the interface to which the navigation links.
type Place string

// The places. Those of a namespace are the last segment of their address.
const (
	PlaceFlags      Place = "flags"
	PlaceSegments   Place = "segments"
	PlacePlayground Place = "playground"
	PlaceChanges    Place = "changes"
	PlaceCompare    Place = "compare"
	PlaceUnused     Place = "unused"
	PlaceSettings   Place = "settings"
	PlaceSearch     Place = "search"
)

// PlaceLink is a link of the navigation.
type PlaceLink struct {
	Place   Place
	Text    string
	Icon    string
	Address string
}

// Places returns the links to the places of a namespace.
func (v *Visit) Places(namespace string) []PlaceLink {
	at := func(p Place) string { return v.To("namespaces", namespace, string(p)) }
	return []PlaceLink{
		{PlaceFlags, "Flags", "flag", at(PlaceFlags)},
		{PlaceSegments, "Segments", "segment", at(PlaceSegments)},
		{PlacePlayground, "Playground", "playground", at(PlacePlayground)},
		{PlaceChanges, "Changes", "history", at(PlaceChanges)},
		{PlaceCompare, "Compare", "compare", at(PlaceCompare)},
		{PlaceUnused, "Unused flags", "unused", at(PlaceUnused)},
	}
}

// counts returns how many flags, segments and unused flags the namespace has. It leaves out
// what cannot be read now.
func (v *Visit) counts(namespace string) map[Place]string {
	counts := make(map[Place]string)
	if flags, err := ListFlagSummaries.Run(v, &guidonv1.ListFlagSummariesRequest{NamespaceKey: namespace, Limit: 1}); err == nil {
		counts[PlaceFlags] = Number(int(flags.GetNamespaceCount()))
	}
	if segments, err := ListSegmentSummaries.Run(v, &guidonv1.ListSegmentSummariesRequest{NamespaceKey: namespace, Limit: 1}); err == nil {
		counts[PlaceSegments] = Number(int(segments.GetNamespaceCount()))
	}
	unused, err := ListUnusedFlags.Run(v, &guidonv1.ListUnusedFlagsRequest{NamespaceKey: namespace, Limit: 1})
	if err == nil && unused.GetTotalCount() > 0 {
		counts[PlaceUnused] = Number(int(unused.GetTotalCount()))
	}
	return counts
}

// theme returns the theme of a page; "" leaves it to the browser.
func (s *Site) theme(p Preferences) string {
	theme := cmp.Or(p.Theme, s.Interface.DefaultTheme)
	if theme == ThemeSystem {
		return ""
	}
	return string(theme)
}

// stream returns the address of the change stream of the namespace, or "".
func (v *Visit) stream(p Page) string {
	if !p.Live || !v.Site.Streams || v.Namespace == nil || v.Away() {
		return ""
	}
	return v.To("api", "v1", "namespaces", v.Key(), "changes", "stream")
}

// endsSoon returns how long the session lasts if it ends soon, or 0.
func (v *Visit) endsSoon() time.Duration {
	a := v.Visitor.Authentication
	if a == nil || a.ExpiresAt.IsZero() {
		return 0
	}
	left := a.ExpiresAt.Sub(v.Site.Now())
	if left > 10*time.Minute {
		return 0
	}
	return max(left, time.Second)
}

// sessionEnds returns when the session ends for the modules of the page, in seconds since
// 1970, or "" if it does not or the page says it already.
func (v *Visit) sessionEnds() string {
	a := v.Visitor.Authentication
	if a == nil || a.ExpiresAt.IsZero() || v.endsSoon() > 0 {
		return ""
	}
	return strconv.FormatInt(a.ExpiresAt.Unix(), 10)
}

// account returns a name of the visitor's account that says nothing about it, or "" if
// nobody signs in here. What a browser keeps of one account is not for another.
func (v *Visit) account() string {
	if v.Visitor.Authentication == nil {
		return ""
	}
	digest := sha256.Sum256([]byte(v.Visitor.ActorID()))
	return hex.EncodeToString(digest[:8])
}

// roleText returns the role of the visitor in the namespace, in words.
func (v *Visit) roleText(n *flipt.Namespace) string {
	if v.Visitor.Authentication == nil {
		return "Authentication is off"
	}
	role := v.RoleIn(n.GetKey())
	if role == service.RoleNone {
		return "No access in " + NamespaceName(n)
	}
	return RoleLabel(role) + " in " + NamespaceName(n)
}

// NamespaceName returns the name of a namespace, or its key if it has none. Sentences have it.
func NamespaceName(n *flipt.Namespace) string {
	return cmp.Or(Printable(n.GetName(), maxNamespaceName), n.GetKey())
}

// maxNamespaceName limits the names of namespaces that are shown, in bytes. They have at most 255 characters.
const maxNamespaceName = 1024

// title returns the title of the document.
func (v *Visit) title(p Page) string {
	title := p.Title
	if v.Namespace != nil && len(p.Crumbs) > 0 {
		title += " · " + NamespaceName(v.Namespace)
	}
	return title + " · Guidon"
}

// appModule is the module that every page with the navigation has.
const appModule = "app.js"
