package page

import (
	"net/url"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/wire/flipt"
)

// ManyNamespaces is the number of namespaces from which on lists of them have a filter.
const ManyNamespaces = 8

// maxMenu limits the namespaces in the menu. The filter finds the others.
const maxMenu = 50

// Region and parameters of the filter of namespaces.
const (
	RegionNamespaces = "namespaces" // the links of the menu
	fieldFilter      = "q"
	fieldPlace       = "place"
	fieldOpen        = "open"
)

// Spot is where a visitor is in a namespace, and goes to in another one.
type Spot struct {
	Place Place
	Key   string // of the flag or segment, or ""
}

// spot returns where the visitor is on a page.
func (v *Visit) spot(p Page) Spot {
	switch p.Place {
	case PlaceFlags:
		return Spot{p.Place, v.Variable("flag")}
	case PlaceSegments:
		return Spot{p.Place, v.Variable("segment")}
	}
	return Spot{Place: p.Place}
}

// SpotOf returns the spot that a request for the links of the menu names.
func SpotOf(query url.Values) Spot {
	return Spot{Place(query.Get(fieldPlace)), query.Get(fieldOpen)}
}

// menu returns the namespaces of the menu.
func (v *Visit) menu() []*flipt.Namespace { return v.Namespaces[:min(len(v.Namespaces), maxMenu)] }

// MatchingNamespaces returns the namespaces that the visitor may see and that have the text
// in their key or name, whatever the case.
func (v *Visit) MatchingNamespaces(text string) []*flipt.Namespace {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return v.Namespaces
	}
	return slices.DeleteFunc(slices.Clone(v.Namespaces), func(n *flipt.Namespace) bool {
		return !strings.Contains(n.GetKey(), text) && !strings.Contains(strings.ToLower(n.GetName()), text)
	})
}

// elsewhere returns the address of a spot in another namespace, for a browser.
func (v *Visit) elsewhere(namespace string, at Spot) string {
	switch at.Place {
	case PlaceFlags, PlaceSegments:
		if at.Key != "" {
			return v.To("namespaces", namespace, string(at.Place)) + "?" + url.Values{fieldOpen: {at.Key}}.Encode()
		}
		fallthrough
	case PlacePlayground, PlaceChanges, PlaceCompare, PlaceUnused:
		return v.To("namespaces", namespace, string(at.Place))
	}
	return v.To("namespaces", namespace, string(PlaceFlags))
}

// Opens redirects a visitor who comes to the list of a place from an object in another
// namespace: to the object with the same key if it exists, else to the list. It reports
// whether it has.
func (v *Visit) Opens(place Place, exists func(key string) bool) bool {
	key := v.Query().Get(fieldOpen)
	if key == "" {
		return false
	}
	to := []string{"namespaces", v.Key(), string(place)}
	if exists(key) {
		to = append(to, key)
	}
	_ = v.Redirect(Below(to...))
	return true
}
