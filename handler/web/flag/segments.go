package flag

import (
	"cmp"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// namedObject is a segment, or a flag that a rule may require, as pages of flags show it. Only segments have
// constraints.
type namedObject struct {
	key         string
	name        string // the key if it has none
	constraints int
	missing     bool
	unreadable  bool // by this release
}

// everyone reports whether every entity is in the segment.
func (g namedObject) everyone() bool { return !g.missing && !g.unreadable && g.constraints == 0 }

// size returns the constraints in words.
func (g namedObject) size() string {
	switch {
	case g.missing:
		return "missing"
	case g.unreadable:
		return "cannot be read"
	case g.constraints == 0:
		return "everyone"
	}
	return page.Count(g.constraints, "constraint")
}

// segments are the segments that a flag refers to, by key.
type segments map[string]namedObject

// of returns the segment with the key, also if it does not exist.
func (g segments) of(key string) namedObject {
	if found, ok := g[key]; ok {
		return found
	}
	return namedObject{key: key, name: key, missing: true}
}

// maxSingle limits how many segments are read one by one: more are found in the list.
const maxSingle = 64

// readSegments returns the segments with the keys in a state of a namespace.
func readSegments(v *page.Visit, namespace string, keys []string) (segments, error) {
	found := make(segments, len(keys))
	if len(keys) > maxSingle {
		wanted := make(map[string]bool, len(keys))
		for _, key := range keys {
			wanted[key] = true
		}
		return found, eachSegment(v, namespace)(func(g namedObject) bool {
			if wanted[g.key] {
				found[g.key] = g
			}
			return len(found) < len(wanted)
		})
	}
	for _, key := range keys {
		content, err := page.GetSegmentContent.Run(v, &guidonv1.GetSegmentContentRequest{NamespaceKey: namespace, Key: key})
		switch code := guidon.CodeOf(err); {
		case err == nil:
			g := content.GetSegment()
			found[key] = namedObject{key: key, name: cmp.Or(g.GetName(), key), constraints: len(g.GetConstraints())}
		case guidon.IsUnreadable(err):
			found[key] = namedObject{key: key, name: key, unreadable: true}
		case code != guidon.NotFound && code != guidon.InvalidArgument: // an empty key is invalid
			return nil, err
		}
	}
	return found, nil
}

// objectPage is how many segments or flags are read at a time.
const objectPage = 1000

// each calls f with all objects of a kind until it returns false.
type each func(f func(g namedObject) bool) error

// eachOf returns the objects of lists, of which named returns the names.
func eachOf[T any](list func(token string) (items []T, next string, err error), named func(T) namedObject) each {
	return func(f func(g namedObject) bool) error {
		for token := ""; ; {
			items, next, err := list(token)
			if err != nil {
				return err
			}
			for _, item := range items {
				if !f(named(item)) {
					return nil
				}
			}
			if token = next; token == "" {
				return nil
			}
		}
	}
}

// eachSegment returns the segments of a namespace.
func eachSegment(v *page.Visit, namespace string) each {
	return eachOf(func(token string) ([]*flipt.Segment, string, error) {
		list, err := page.ListSegments.Run(v, &flipt.ListSegmentRequest{NamespaceKey: namespace, Limit: objectPage, PageToken: token})
		return list.GetSegments(), list.GetNextPageToken(), err
	}, func(g *flipt.Segment) namedObject {
		return namedObject{key: g.GetKey(), name: cmp.Or(g.GetName(), g.GetKey()), constraints: len(g.GetConstraints())}
	})
}

// eachFlag returns the flags of the visitor's namespace.
func eachFlag(v *page.Visit) each {
	return eachOf(func(token string) ([]*flipt.Flag, string, error) {
		list, err := page.ListFlags.Run(v, &flipt.ListFlagRequest{NamespaceKey: v.Key(), Limit: objectPage, PageToken: token})
		return list.GetFlags(), list.GetNextPageToken(), err
	}, func(f *flipt.Flag) namedObject {
		return namedObject{key: f.GetKey(), name: cmp.Or(f.GetName(), f.GetKey())}
	})
}

// maxOffered limits the objects that a box offers while one types.
const maxOffered = 200

// offered returns the objects that a box offers, but for the one with the key.
func offered(all each, except string) (found []namedObject, err error) {
	err = all(func(g namedObject) bool {
		if g.key != except {
			found = append(found, g)
		}
		return len(found) < maxOffered
	})
	return found, err
}

// resolve returns the key of the object with the key or name that was typed, or what is wrong with
// it. Loosely, a part of the key or name of a single one is enough.
func resolve(noun, typed string, loosely bool, all each) (key, problem string, err error) {
	typed = strings.TrimSpace(typed)
	var byName, byPart []string
	nearKey, nearName, distance := "", "", maxDistance(typed)+1
	err = all(func(g namedObject) bool {
		if g.key == typed {
			key = typed
			return false
		}
		if strings.EqualFold(g.name, typed) {
			byName = append(byName, g.key)
		}
		if strings.Contains(strings.ToLower(g.key+"\n"+g.name), strings.ToLower(typed)) {
			byPart = append(byPart, g.key)
		}
		for _, word := range []string{g.key, g.name} {
			if d := lists.Distance([]rune(strings.ToLower(typed)), []rune(strings.ToLower(word)), distance); d < distance {
				nearKey, nearName, distance = g.key, g.name, d
			}
		}
		return true
	})
	switch {
	case err != nil || key != "":
		return key, "", err
	case len(byName) == 1:
		return byName[0], "", nil
	case len(byName) > 1:
		return "", "Several " + noun + "s are called “" + typed + "”. Type the key: " +
			strings.Join(byName[:min(len(byName), 5)], ", ") + ".", nil
	}
	if loosely && len(byPart) == 1 {
		return byPart[0], "", nil
	}
	problem = "No " + noun + " “" + page.Printable(typed, 255) + "”."
	if nearKey != "" {
		problem += " " + nearName + "?"
		if nearName != nearKey {
			problem = strings.TrimSuffix(problem, "?") + " (" + nearKey + ")?"
		}
	}
	return "", problem, nil
}

// maxDistance returns how many typing errors a word may have to be suggested another.
func maxDistance(word string) int { return min(3, len(word)/3) }
