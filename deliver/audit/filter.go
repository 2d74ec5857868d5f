package audit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/guidonhq/guidon/change"
)

// Filter selects change records. The zero Filter selects none.
type Filter []rule

// rule selects records of a kind and an action; empty ones mean all.
type rule struct {
	kind   change.Kind
	action change.Action
}

// nouns are the kinds that events name.
var nouns = map[string]change.Kind{
	"*": "", "flag": change.KindFlag, "segment": change.KindSegment, "namespace": change.KindNamespace,
	"token": change.KindAuthentication, "authentication": change.KindAuthentication,
	"binding": change.KindBinding, "webhook": change.KindWebhook,
}

// parts are nouns of Flipt for what is part of another object, which changes with them.
var parts = map[string]change.Kind{
	"variant": change.KindFlag, "rule": change.KindFlag, "distribution": change.KindFlag, "rollout": change.KindFlag,
	"constraint": change.KindSegment,
}

var verbs = map[string]change.Action{
	"*": "", "created": change.ActionCreate, "updated": change.ActionUpdate, "deleted": change.ActionDelete,
}

// ParseFilter returns the filter for events such as "flag:created" or "*:deleted", and those of the events that are
// about parts of objects, and select updates of these.
func ParseFilter(events []string) (filter Filter, ofParts []string, err error) {
	for _, event := range events {
		noun, verb, _ := strings.Cut(event, ":")
		action, known := verbs[verb]
		kind, whole := nouns[noun]
		part, isPart := parts[noun]
		switch {
		case !known || !whole && !isPart:
			return nil, nil, fmt.Errorf("must be a noun and a verb such as flag:created or *:deleted, not %q", event)
		case isPart:
			filter, ofParts = append(filter, rule{part, change.ActionUpdate}), append(ofParts, event)
		default:
			filter = append(filter, rule{kind, action})
		}
	}
	return filter, ofParts, nil
}

// Selects reports whether a rule selects the record.
func (f Filter) Selects(c *change.Record) bool {
	return slices.ContainsFunc(f, func(r rule) bool {
		return (r.kind == "" || r.kind == c.Kind) && (r.action == "" || r.action == c.Action)
	})
}
