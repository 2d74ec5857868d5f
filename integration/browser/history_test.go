package browser

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestHistory: a flag's history shows what changed and how it was; changes are undone, earlier
// states restored, and what was changed again since is asked about.
func TestHistory(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	began := withoutTimes(s.content(t, "default", booleanContent))
	share := func(percent float64) string {
		flag := map[string]any{}
		for k, v := range resetFlag {
			flag[k] = v
		}
		flag["rollouts"] = []any{map[string]any{"threshold": map[string]any{"percentage": percent, "value": true}}}
		s.change(t, http.MethodPut, "/api/v1/namespaces/default/"+booleanContent+"/content", map[string]any{"flag": flag})
		return s.revision(t)
	}
	first := s.revision(t)
	thirty := share(30)
	sixty := share(60)
	stored := func(want string) {
		t.Helper()
		if got := s.content(t, "default", booleanContent); !strings.Contains(got, `"percentage":`+want+",") {
			t.Errorf("got %s, want %s%%", got, want)
		}
	}
	follow := func(text string) *openedPage {
		t.Helper()
		return v.Follow(t, click(named("a", text)))
	}
	confirm := func() {
		t.Helper()
		if p := v.Follow(t, click(css("#review button[value=apply]"))); !strings.Contains(p.URL, "saved=") {
			t.Fatalf("leads to %s with status %d: %s", p.URL, p.Status, v.Main(t))
		}
	}

	v.Visit(t, booleanPath+"/history")
	v.Await(t, "[...document.querySelectorAll('.diff ins, .diff .add')].some(e => e.textContent.includes('60')) && [...document.querySelectorAll('.diff del, .diff .del')].some(e => e.textContent.includes('30'))")
	follow("Undo this change")
	awaitText(t, v, "#review", "30")
	confirm()
	stored("30")

	v.Visit(t, booleanPath+"/history/"+first)
	follow("Restore this state")
	confirm()
	if got := withoutTimes(s.content(t, "default", booleanContent)); got != began {
		t.Errorf("restored %s, want %s", got, began)
	}

	v.Visit(t, booleanPath+"?at="+sixty)
	awaitText(t, v, "main", "60%")
	if got := count(t, v, ".grip, button[value=save], button[value^='edit:']"); got != 0 {
		t.Error("an earlier state can be edited")
	}
	follow("Restore")
	confirm()
	stored("60")

	for _, test := range []struct{ side, want string }{{"current", "60"}, {"earlier", "25"}} { // which came before the change to 30 %
		t.Run(test.side, func(t *testing.T) {
			v.Visit(t, fmt.Sprintf("/namespaces/default/changes/%s/undo?flag=dark-mode", thirty))
			if count(t, v, "fieldset.conflict") == 0 {
				t.Fatalf("it does not ask: %s", v.Main(t))
			}
			report(t, v.Axe(t))
			v.Do(t, click(css("fieldset.conflict input[type=radio][value="+test.side+"]")))
			v.Follow(t, click(css("#review button[value=review]")))
			if count(t, v, "#review button[value=apply]") == 1 && test.side == "earlier" {
				confirm()
			}
			stored(test.want)
		})
	}
	quiet(t, v)
}
