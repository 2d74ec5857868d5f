package service_test

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// TestDeleteUsedSegment: the message is that of Flipt (contract 5.3), and the error says where
// the segment is used, within limits.
func TestDeleteUsedSegment(t *testing.T) {
	s := newService(t)
	var document strings.Builder
	document.WriteString("namespace: shop\nsegments: [{key: s, name: S}]\nflags:\n")
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		document.WriteString("- {key: " + key + ", name: A, rules: [" + strings.Repeat("{segment: s}, ", 7) + "]}\n")
	}
	mustImport(t, s, document.String(), service.ImportCreate)
	_, err := s.DeleteSegment(t.Context(), service.Write{}, "shop", "s")
	const message = `segment "shop/s" is in use`
	const rules = `" (rules 1, 2, 3, 4, 5 and 2 more)`
	const want = message + `: referred to by flag "a` + rules + `, flag "b` + rules + `, flag "c` + rules + ` and 2 more`
	if err == nil || err.Error() != want || guidon.PublicMessage(err) != message || guidon.CodeOf(err) != guidon.InvalidArgument {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}
