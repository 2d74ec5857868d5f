package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/guidonhq/guidon/integration/harness"
)

const (
	booleanContent = "flags/dark-mode"
	mineSide       = "input[type=radio][value=mine]"
	theirsSide     = "input[type=radio][value=theirs]"
)

// TestConflicts: two people edit the same flag; nothing of either is lost, and who saves
// later decides about what both have changed.
func TestConflicts(t *testing.T) {
	s := openShop(t)
	mine := s.visitor(t, admin)
	theirs := drafter{s.visitor(t, admin), false}
	put := func(object string, body map[string]any) {
		s.change(t, http.MethodPut, "/api/v1/namespaces/default/"+object, body)
	}
	for _, test := range []struct {
		name     string
		theirs   func()
		texts    []string // of the page of the conflict; none means that there is no conflict
		choose   string   // the radio button
		button   string
		has, not []string // in the flag, then
	}{
		{"different parts", func() { put("flags/dark-mode", map[string]any{"name": "Night mode", "description": "Theirs"}) },
			[]string{"while you were editing", "Night mode"}, "", "settle", []string{`"Night mode"`, `"percentage":41`}, nil},
		{"the same part, mine", func() {
			theirs.Visit(t, booleanPath+"?edit=2")
			theirs.act(t, map[string]string{"rule.1.share": "77"}, "save")
		}, []string{"Both of you changed this", "77%", "41%"}, mineSide, "settle", []string{`"percentage":41`}, []string{`77`}},
		{"the same part, theirs", func() {
			theirs.Visit(t, booleanPath+"?edit=2")
			theirs.act(t, map[string]string{"rule.1.share": "78"}, "save")
		}, []string{"Both of you changed this", "78%"}, theirsSide, "settle", []string{`"percentage":78`}, []string{`:41`}},
		{"going on", func() {
			theirs.Visit(t, booleanPath+"?edit=1")
			theirs.act(t, map[string]string{"rule.0.note": "Their note"}, "save")
		}, []string{"while you were editing", "Their note"}, "", "continue", []string{`Their note`, `"percentage":41`}, nil},
		{"another flag", func() { put("flags/wishlist", map[string]any{"name": "Other"}) }, nil, "", "", []string{`"percentage":41`}, nil},
		{"the same change", func() {
			theirs.Visit(t, booleanPath+"?edit=2")
			theirs.act(t, map[string]string{"rule.1.share": "41"}, "save")
		}, nil, "", "", []string{`"percentage":41`}, nil},
		{"deleted, and mine brings it back", func() { s.change(t, http.MethodDelete, "/api/v1/namespaces/default/flags/dark-mode", nil) },
			[]string{"deleted this flag while you were editing"}, mineSide, "settle", []string{`"percentage":41`}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			s.change(t, http.MethodPut, "/api/v1/namespaces/default/"+booleanContent+"/content", map[string]any{"flag": resetFlag})
			mine.Visit(t, booleanPath+"?edit=2")
			drafter{mine, false}.act(t, map[string]string{"rule.1.share": "42"}, "draft")
			drafter{mine, false}.act(t, map[string]string{"rule.1.share": "40"}, "draft")
			retype(t, mine, "rule-1-share", "41")
			awaitText(t, mine, ".rule.edit .legend", "newly on 16%")
			test.theirs()
			revision := s.revisionOf(t, "default")
			p := mine.Follow(t, click(do("save")))
			if test.texts != nil {
				if p.Status != http.StatusConflict || s.revisionOf(t, "default") != revision {
					t.Errorf("status %d, and revision %d of %d", p.Status, s.revisionOf(t, "default"), revision)
				}
				text := mine.Main(t)
				for _, want := range test.texts {
					if !strings.Contains(text, want) {
						t.Errorf("%q is missing in %q", want, text)
					}
				}
				report(t, mine.Axe(t))
				if test.choose != "" {
					mine.Do(t, click(css(test.choose)))
				}
				p = mine.Follow(t, click(do(test.button)))
				if test.button == "continue" {
					p = mine.Follow(t, click(do("save")))
				}
			}
			if p.Status != http.StatusOK || !strings.Contains(p.URL, "saved=") {
				t.Errorf("status %d at %s: %s", p.Status, p.URL, mine.Main(t))
			}
			got := withoutTimes(s.content(t, "default", booleanContent))
			for _, want := range test.has {
				if !strings.Contains(got, want) {
					t.Errorf("%q is missing in %s", want, got)
				}
			}
			for _, unwanted := range test.not {
				if strings.Contains(got, unwanted) {
					t.Errorf("%q is left in %s", unwanted, got)
				}
			}
			if text := mine.Main(t); strings.Contains(text, "changes here that are not saved") {
				t.Errorf("the draft is offered again: %s", text)
			}
			quiet(t, mine)
		})
	}
}

// forget deletes all change records that are not the newest of their object.
func (s *shop) forget(t *testing.T, database string) {
	t.Helper()
	deleted, err := harness.OpenStore(t, database).DeleteChanges(t.Context(), time.Now().Add(time.Minute), 1000)
	if err != nil || deleted == 0 {
		t.Fatalf("%d records were deleted: %v", deleted, err)
	}
}

// resetFlag is the flag with which each test begins.
var resetFlag = map[string]any{"key": "dark-mode", "name": "Dark mode", "type": "BOOLEAN_FLAG_TYPE", "rollouts": []any{
	map[string]any{"description": "Staff first", "segment": map[string]any{"segmentKeys": []any{"staff"}, "value": true}},
	map[string]any{"threshold": map[string]any{"percentage": 25, "value": true}},
}}

// TestConflictWithoutBase: when the change records of the beginning are gone, both sides are
// shown, and one chooses between them.
func TestConflictWithoutBase(t *testing.T) {
	database := harness.SQLiteURL(t)
	server := harness.Start(t, database, with()...)
	s := stock(t, server, server.URL)
	v := s.visitor(t, admin)
	v.Visit(t, booleanPath+"?edit=2")
	drafter{v, false}.act(t, map[string]string{"rule.1.share": "41"}, "draft")
	s.change(t, http.MethodPut, "/api/v1/namespaces/default/flags/dark-mode", map[string]any{"name": "Night mode"})
	s.change(t, http.MethodPut, "/api/v1/namespaces/default/flags/dark-mode", map[string]any{"name": "Later mode"})
	s.forget(t, database)
	p := v.Follow(t, click(do("save")))
	if p.Status != http.StatusConflict {
		t.Fatalf("got status %d: %s", p.Status, v.Main(t))
	}
	awaitText(t, v, "main", "It is no longer known what this flag was when you began")
	report(t, v.Axe(t))
	awaitText(t, v, "fieldset.conflict", "41%")
	awaitText(t, v, "fieldset.conflict", "25%")
	v.Do(t, click(css(theirsSide)))
	v.Follow(t, click(do("settle")))
	got := s.content(t, "default", booleanContent)
	for _, want := range []string{`"Later mode"`, `"percentage":25`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in %s", want, got)
		}
	}
	quiet(t, v)
}

// TestTwice: a change is saved once, however often it is sent: by a double click, by Back and
// sending the form again, and from two tabs.
func TestTwice(t *testing.T) {
	s := openShop(t)
	v := drafter{s.visitor(t, admin), false}
	share := func(want string) {
		t.Helper()
		if got := s.content(t, "default", booleanContent); !strings.Contains(got, `"percentage":`+want+",") {
			t.Errorf("got %s, want %s%%", got, want)
		}
	}
	begun := s.revisionOf(t, "default")
	once := func(n int64) {
		t.Helper()
		if got := s.revisionOf(t, "default"); got != begun+n {
			t.Errorf("saved %d times, want %d", got-begun, n)
		}
	}
	v.Visit(t, booleanPath+"?edit=2")
	v.act(t, map[string]string{"rule.1.share": "30"}, "draft")
	v.Follow(t, doubleClick(do("save")))
	awaitText(t, v.visitor, ".toast", "Saved as revision")
	once(1)
	share("30")

	v.Follow(t, chromedp.Reload())
	once(1)
	if got := count(t, v.visitor, ".toast"); got != 0 {
		t.Error("the page says again that it was saved")
	}

	v.Visit(t, booleanPath+"?edit=2")
	v.act(t, map[string]string{"rule.1.share": "35"}, "draft")
	v.act(t, nil, "save")
	once(2)
	eval[chromedp.Void](t, v.visitor, "history.back()")
	v.Await(t, "location.search === '?edit=2' && document.readyState === 'complete' && document.querySelector('.rule')")
	if text := v.Main(t); strings.Contains(text, "changes here that are not saved") {
		t.Errorf("what was saved is offered again: %s", text)
	}
	if count(t, v.visitor, "[name='rule.1.share'][type=hidden]") == 0 {
		v.act(t, map[string]string{"rule.1.share": "35"}, "save")
	} else {
		v.act(t, nil, "save")
	}
	once(2)
	if p := v.Page(t); p.Status != http.StatusOK {
		t.Errorf("sent again after Back, it has status %d", p.Status)
	}
	share("35")

	tab := drafter{v.Tab(t), false}
	tab.Visit(t, booleanPath)
	v.Visit(t, booleanPath+"?edit=2")
	v.act(t, map[string]string{"rule.1.share": "50"}, "draft")
	begin := time.Now()
	v.act(t, nil, "save")
	awaitText(t, tab.visitor, "main", "50%") // live
	if took := time.Since(begin); took > time.Second+harness.Slack {
		t.Errorf("the other tab has it after %v", took)
	}
	once(3)
	tab.act(t, nil, "edit:1")
	tab.act(t, map[string]string{"rule.1.share": "51"}, "draft")
	tab.act(t, nil, "save")
	once(4)
	share("51")
	quiet(t, tab.visitor)
}
