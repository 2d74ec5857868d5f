package browser

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// tickOnly makes these the only objects that are ticked to promote, such as "flag a".
func tickOnly(t *testing.T, v *visitor, objects ...string) {
	t.Helper()
	wrong := eval[[]string](t, v, fmt.Sprintf(`[...document.querySelectorAll('#selection input[type=checkbox]')]
		.filter(e => e.checked !== %q.split(', ').includes(e.name + ' ' + e.value))
		.map(e => '#selection input[name="' + e.name + '"][value="' + e.value + '"]')`, strings.Join(objects, ", ")))
	for _, box := range wrong {
		v.Do(t, click(css(box)))
	}
	if got, want := strings.Join(slices.Sorted(slices.Values(ticked(t, v))), ", "), strings.Join(objects, ", "); got != want {
		t.Fatalf("%s is ticked, want %s", got, want)
	}
}

// ticked returns what is ticked to promote.
func ticked(t *testing.T, v *visitor) []string {
	t.Helper()
	return eval[[]string](t, v, "[...document.querySelectorAll('#selection input[type=checkbox]:checked')].map(e => e.name + ' ' + e.value)")
}

// TestPromote: flags are promoted with the segments that they need, as one change; nothing is
// deleted without being selected; and if something was saved meanwhile, the plan is shown
// again.
func TestPromote(t *testing.T) {
	s := openShop(t)
	segment := map[string]any{"key": "vip", "name": "Very important", "matchType": "ALL_MATCH_TYPE"}
	flag := map[string]any{"key": "lounge", "name": "Lounge", "type": "BOOLEAN_FLAG_TYPE"}
	s.change(t, http.MethodPost, "/api/v1/namespaces/staging/segments", segment)
	s.change(t, http.MethodPost, "/api/v1/namespaces/staging/flags", flag)
	s.change(t, http.MethodPost, "/api/v1/namespaces/staging/flags/lounge/rollouts", map[string]any{"rank": 1, "segment": map[string]any{"segmentKey": "vip", "value": true}})
	v := s.visitor(t, admin)
	before := s.revision(t)

	v.Visit(t, "/namespaces/default/compare?from=staging")
	picker := func(selected string, rows ...string) { // some of these rows are not of the chosen kind
		t.Helper()
		awaitText(t, v, ".picker", selected)
		got := eval[[]string](t, v, `['checkout-redesign', 'free-shipping-threshold', 'lounge', 'only-in-staging', 'testers', 'vip'].filter(key =>
			[...document.querySelectorAll('#selection tbody .key, .missing .key')].find(e => e.innerText === key).checkVisibility())`)
		if !slices.Equal(got, rows) {
			t.Errorf("%q are shown, want %q", got, rows)
		}
	}
	picker("0 selected", "checkout-redesign", "free-shipping-threshold", "lounge", "only-in-staging", "testers", "vip")
	v.Do(t, click(css(".picker label:has([value=create])")))
	picker("0 selected", "lounge", "only-in-staging", "testers", "vip")
	v.Do(t, click(do("all")))
	picker("4 selected", "lounge", "only-in-staging", "testers", "vip")
	v.Do(t, click(css(".picker label:has([value=update])")), click(css("#selection .pick input[value=free-shipping-threshold]")))
	picker("5 selected", "free-shipping-threshold")
	v.Do(t, click(do("none")))
	picker("4 selected", "free-shipping-threshold")
	v.Do(t, click(css(".picker label:has([value=delete])")))
	picker("4 selected", "checkout-redesign")
	report(t, v.Axe(t))
	v.Do(t, click(css(".picker label:first-of-type")))
	awaitText(t, v, ".missing", "checkout-redesign") // only here: it is not offered, so not deleted
	awaitText(t, v, "#selection", "needed by Lounge")
	v.Visit(t, "/namespaces/default/compare?from=staging&flag=lounge")
	if got := strings.Join(slices.Sorted(slices.Values(ticked(t, v))), ", "); got != "flag lounge, segment vip" {
		t.Errorf("%s is ticked", got)
	}
	v.Follow(t, click(do("review")))
	awaitText(t, v, "#review", "vip")
	if text := v.Main(t); strings.Contains(text, "only-in-staging") {
		t.Errorf("what is not ticked is part of it: %s", text)
	}
	s.change(t, http.MethodPost, "/api/v1/namespaces/default/segments", map[string]any{"key": "vip", "name": "Somebody else", "matchType": "ANY_MATCH_TYPE"})
	moved := s.revision(t)
	v.Follow(t, click(do("apply")))
	awaitText(t, v, "main", "Nothing was changed. Something was saved meanwhile")
	awaitText(t, v, ".tag.moved", "different from what you saw")
	if got := s.revision(t); got != moved {
		t.Errorf("it was changed in revision %s", got)
	}
	if p := v.Follow(t, click(do("apply"))); p.Status != http.StatusOK {
		t.Errorf("got status %d: %s", p.Status, v.Main(t))
	}
	awaitText(t, v, ".toast", "Saved as revision "+s.revision(t))
	s.answers(t, "default", "lounge", "anybody", nil, "On")
	if got := s.content(t, "default", "segments/vip"); !strings.Contains(got, "Very important") {
		t.Errorf("got %s", got)
	}
	s.content(t, "default", "flags/checkout-redesign")

	v.Visit(t, "/namespaces/default/compare?from=default@"+before) // restore
	awaitText(t, v, "main", "New since")
	v.Do(t, click(css("input[name=scope][value=equal]")))
	v.Follow(t, click(do("review")))
	v.Follow(t, click(do("apply")))
	v.Visit(t, "/namespaces/default/compare?from=default@"+before)
	awaitText(t, v, ".empty h2", "are the same")
	report(t, v.Axe(t))
	quiet(t, v)
}

// TestUntick: a needed segment that is unticked is named before anything is saved.
func TestUntick(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	v.Visit(t, "/namespaces/empty/compare?from=staging")
	tickOnly(t, v, "flag dark-mode", "segment staff")
	v.Follow(t, click(do("review")))
	awaitText(t, v, "#review", "staff")
	v.Follow(t, click(do("select")))
	if got := strings.Join(slices.Sorted(slices.Values(ticked(t, v))), ", "); got != "flag dark-mode, segment staff" {
		t.Errorf("then %s is ticked", got)
	}
	before := s.revisionOf(t, "empty")
	tickOnly(t, v, "flag dark-mode")
	v.Follow(t, click(do("review")))
	awaitText(t, v, "main", "This is not possible as it is.")
	awaitText(t, v, "main", "staff")
	if got := count(t, v, "button[value=apply]"); got != 0 {
		t.Error("it can be saved")
	}
	if got := s.revisionOf(t, "empty"); got != before {
		t.Errorf("something was saved in revision %d", got)
	}
	quiet(t, v)
}
