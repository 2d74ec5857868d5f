package settings

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/service"
)

// TestRoles: every role that can be given can be chosen, and has a label of its own.
func TestRoles(t *testing.T) {
	var names []string
	for _, r := range roles {
		names = append(names, r.Value)
		if r.Label == page.RoleLabel(service.RoleNone) {
			t.Errorf("role %s has no label", r.Value)
		}
	}
	if diff := cmp.Diff(service.RoleNames(), names); diff != "" {
		t.Errorf("roles to choose from (-want +got):\n%s", diff)
	}
}
