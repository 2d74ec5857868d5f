package browser

import (
	"net/http"
	"strings"
	"testing"
)

// mergeNow is the button that takes the change of somebody else into the draft.
var mergeNow = named("button", "Merge now")

// revisionOfDraft is the revision over which the draft is edited.
const revisionOfDraft = "document.querySelector('form[data-draft]').elements.revision.value"

// TestMerge: a draft takes in what somebody else has just changed, without saving anything.
func TestMerge(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, test := range []struct{ name, path, api, field, entered string }{
		{"flag", booleanPath + "?edit=2", booleanPath, "rule-1-note", "mine"},
		{"segment", segmentsPath + "/risky-orders?edit=1", segmentsPath + "/risky-orders", "constraint.0.note", "mine"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v.Visit(t, test.path)
			check := stays(t, v)
			retype(t, v, test.field, test.entered)
			s.change(t, "PUT", "/api/v1"+test.api, map[string]any{"name": "Renamed", "description": "Theirs", "matchType": "ANY_MATCH_TYPE", "enabled": true})
			theirs := s.revision(t)
			awaitText(t, v, "[data-changed]", "changed this "+test.name+" just now. See it Merge now")
			if got, want := eval[string](t, v, "document.querySelector('[data-changed] a').href"), "/namespaces/default/changes/"+theirs; !strings.HasSuffix(got, want) {
				t.Errorf("See it leads to %s, want %s", got, want)
			}
			v.Do(t, click(mergeNow))
			awaitText(t, v, "main [role=status][autofocus]", "Your draft now includes what")
			v.Await(t, "document.activeElement.matches('[role=status]')")
			awaitText(t, v, ".savebar", "1 unsaved change")
			v.Await(t, revisionOfDraft+" === '"+theirs+"' && document.getElementById('"+test.field+"').value === '"+test.entered+"'")
			v.Await(t, "!document.querySelector('[data-changed]')")
			if got := s.revision(t); got != theirs {
				t.Errorf("merging made revision %s", got)
			}
			if got := v.Axe(t); len(got) > 0 {
				t.Error(got)
			}
			leave(t, v)
			v.Do(t, undo)
			awaitText(t, v, "main", "Nothing of yours is lost")
			v.Do(t, redo)
			v.Await(t, revisionOfDraft+" === '"+theirs+"'")
			check()
			quiet(t, v)
			v.Follow(t, click(do("save")))
			awaitText(t, v, "h1", "Renamed")
			awaitText(t, v, "main", "mine")
			if got := eval[int](t, v, "sessionStorage.length"); got != 0 {
				t.Errorf("%d drafts are left after saving", got)
			}
		})
	}
}

// TestMergeAsks: what both have changed is asked on the page of the conflict; a deletion cannot
// be merged in place.
func TestMergeAsks(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath+"/details")
	retype(t, v, "name", "Mine")
	s.change(t, "PUT", "/api/v1"+booleanPath, map[string]any{"name": "Theirs"})
	awaitText(t, v, "[data-changed]", "Merge now")
	if p := v.Follow(t, click(mergeNow)); p.Status != http.StatusConflict {
		t.Errorf("the page has status %d", p.Status)
	}
	awaitText(t, v, "main", "Both of you changed this")
	v.Follow(t, click(do("continue")))
	awaitText(t, v, "main", "You now edit over revision "+s.revision(t))
	v.Follow(t, click(do("save")))
	awaitText(t, v, "h1", "Mine")
	if got := eval[int](t, v, "sessionStorage.length"); got != 0 {
		t.Errorf("%d drafts are left after saving", got)
	}

	v.Visit(t, booleanPath+"?edit=2")
	retype(t, v, "rule-1-note", "mine")
	s.change(t, "DELETE", "/api/v1"+booleanPath, nil)
	awaitText(t, v, "[data-changed]", "deleted this flag just now. See it")
	if count(t, v, "[data-changed] button") != 0 {
		t.Error("a deletion can be merged")
	}
}

// TestMergeWithoutScripts: the button is there when the page comes back from the server.
func TestMergeWithoutScripts(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.WithoutScripts(t)
	for _, test := range []struct{ path, api, done string }{
		{booleanPath + "?edit=2", booleanPath, "done:1"}, {segmentsPath + "/risky-orders?edit=1", segmentsPath + "/risky-orders", "done:0"},
	} {
		v.Visit(t, test.path)
		s.change(t, "PUT", "/api/v1"+test.api, map[string]any{"name": "Renamed", "description": "Theirs", "matchType": "ANY_MATCH_TYPE", "enabled": true})
		v.Follow(t, click(do(test.done)))
		p := v.Follow(t, click(mergeNow))
		if p.Status != http.StatusOK || !strings.Contains(p.HTML, "Your draft now includes what") {
			t.Errorf("%s: status %d: %s", test.path, p.Status, v.Main(t))
		}
	}
}
