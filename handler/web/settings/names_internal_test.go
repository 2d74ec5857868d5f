package settings

import (
	"strings"
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
		if strings.HasPrefix(r.Text, page.RoleLabel(service.RoleNone)) {
			t.Errorf("role %s has no label", r.Value)
		}
	}
	if diff := cmp.Diff(service.RoleNames(), names); diff != "" {
		t.Errorf("roles to choose from (-want +got):\n%s", diff)
	}
}

// TestWebhookOptions: all events and formats can be chosen.
func TestWebhookOptions(t *testing.T) {
	var events []service.Event
	for _, o := range eventOptions {
		events = append(events, service.Event(o.Value))
	}
	var formats []service.WebhookFormat
	for _, o := range formatOptions {
		formats = append(formats, service.WebhookFormat(o.Value))
	}
	if diff := cmp.Diff(service.Events, events) + cmp.Diff(service.WebhookFormats, formats); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
}
