package configuration

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/guidonhq/guidon/cmd/internal/config"
	"github.com/guidonhq/guidon/internal/lists"
)

// translate writes every setting in its place, and then the others that Guidon needs.
func (t *translation) translate() {
	t.db = t.newDatabase()
	for _, s := range t.order {
		if s.value == nil && s.known {
			continue // the default
		}
		t.one(s)
	}
	if t.db.remark != "" && !t.db.written {
		t.out.remark("db", t.db.remark)
	}
	t.addSignIn()
}

// one writes a setting, or a comment in its place.
func (t *translation) one(s *setting) {
	switch {
	case !s.known:
		t.find(s, "is unknown to Flipt, which ignores it")
	case t.special(s):
	case s.entry.Status == config.FliptKept:
		t.keep(s)
	case s.entry.Status == config.FliptMoved:
		t.put(s.entry.To, s)
		t.find(s, "is "+s.entry.To+" here; while it is true, no data can be imported")
	case s.entry.Status == config.FliptNeedless:
		t.find(s, "not needed: "+s.entry.Note)
	default:
		t.find(s, "no counterpart: "+s.entry.Note)
	}
}

// special writes a setting that is translated together with others, or whose value has
// another form here, and reports whether it is one.
func (t *translation) special(s *setting) bool {
	key := s.key
	switch {
	case key == "db.url" || slices.Contains(config.DatabaseParts, key):
		t.putDatabase(s)
	case key == "cache.backend" || strings.HasPrefix(key, "cache.redis."):
		return t.redis(s)
	case key == "storage.type":
		return s.value.Value == "database"
	case strings.HasPrefix(key, githubKey):
		return t.github(s)
	case key == "authentication.methods.oidc.email_matches":
		t.emailMatches(s)
	case key == "authentication.exclude.management":
		return t.excludeManagement(s)
	case key == "authentication.session.domain": // Flipt requires it
		t.find(s, "is not needed: "+s.entry.Note)
	case key == "authorization.required" && !t.isTrue(key):
		t.find(s, "is left at auto, which enforces roles as soon as people, service accounts or JWTs can sign in")
	default:
		return false
	}
	return true
}

// keep writes a setting that exists here as well.
func (t *translation) keep(s *setting) {
	if s.entry.Note == "" || s.value.Value == "false" {
		t.put(s.key, s)
		return
	}
	t.put(s.key, s, s.entry.Note)
	t.found(s, "means something else: "+s.entry.Note)
}

// put writes the value of the setting to the key, in the form of Guidon.
func (t *translation) put(key string, s *setting, comments ...string) {
	if s.comment != "" {
		comments = append([]string{s.comment}, comments...)
	}
	value := s.value
	pattern := key
	if s.entry.Status == config.FliptKept {
		pattern = s.entry.Key
	}
	switch config.KindOf(pattern) {
	case config.KindDuration:
		value = t.duration(s)
	case config.KindList:
		if value.Kind == yaml.ScalarNode && !isReference(value.Value) {
			value = list(strings.Fields(value.Value))
		}
	}
	t.out.put(key, value, comments...)
}

// duration gives a number its unit: Flipt reads it as nanoseconds.
func (t *translation) duration(s *setting) *yaml.Node {
	n, err := strconv.ParseInt(s.value.Value, 10, 64)
	if err != nil || n == 0 {
		return s.value
	}
	t.found(s, "has no unit, which are nanoseconds in Flipt; it has one now, so check that it was meant so")
	return scalar(time.Duration(n).String())
}

// list returns a node for a list of texts.
func list(texts []string) *yaml.Node {
	return &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: lists.Map(texts, func(text string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	})}
}

// texts returns the items of a list, or the words of a text.
func texts(node *yaml.Node) []string {
	if node == nil {
		return nil
	}
	if node.Kind == yaml.ScalarNode {
		return strings.Fields(node.Value)
	}
	var items []string
	for _, item := range node.Content {
		if item = config.Resolve(item); item != nil {
			items = append(items, item.Value)
		}
	}
	return items
}
