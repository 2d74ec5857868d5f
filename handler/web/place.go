package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/handler/web/page"
)

// placeNames are the parts of a namespace, and of the settings, in words.
var placeNames = map[string]string{
	"flags": "the flags", "segments": "the segments", "playground": "the playground", "changes": "the changes", "compare": "the comparison",
	"unused": "the unused flags", "import": "the import", "export": "the export", "settings": "the settings",
	"profile": "your profile", "sessions": "your sessions", "tokens": "the static tokens", "access": "the access",
	"namespaces": "the namespaces",
}

// placeName returns where a path leads in words, as far as the path says it, or the path.
// Names are not known before the visitor has signed in, so it uses keys.
func placeName(path string) string {
	before, _, _ := strings.Cut(path, "?")
	var segments []string
	for segment := range strings.SplitSeq(strings.Trim(before, "/"), "/") {
		text, err := url.PathUnescape(segment)
		if text = page.Printable(text, maxName); err != nil || text == "" {
			return path
		}
		segments = append(segments, text)
	}
	name := func(i int) string { return placeNames[segments[i]] }
	switch {
	case path == "/changes":
		return "the changes of all namespaces"
	case len(segments) == 2 && segments[0] == "settings" && name(1) != "":
		return name(1)
	case len(segments) == 3 && segments[0] == "namespaces" && name(2) != "":
		return name(2) + " of " + segments[1]
	case len(segments) >= 4 && segments[0] == "namespaces" && slices.Contains([]string{"flags", "segments"}, segments[2]):
		return "the " + strings.TrimSuffix(segments[2], "s") + " " + segments[3] + " of " + segments[1]
	}
	return path
}
