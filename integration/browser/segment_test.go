package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// constraint is a constraint of a segment as the API has it.
type constraint struct {
	Type, Property, Operator, Value string
	Negate                          bool
}

// constraintTypes are the types of constraints, with what is entered for each operator, what is
// stored, and how the operator reads aloud. "-" means that there is nothing to enter.
var constraintTypes = []struct {
	number, name string // in the form, and in the API
	operators    [][4]string
}{
	{"1", "STRING_COMPARISON_TYPE", [][4]string{
		{"eq", "a b", "a b", "is"}, {"neq", "x", "x", "is not"}, {"isoneof", `x, "y z" ü`, `["x","y z","ü"]`, "is one of"}, {"isnotoneof", `["1",2]`, `["1","2"]`, "is not one of"},
		{"contains", "@", "@", "contains"}, {"notcontains", "+", "+", "does not contain"}, {"prefix", "a", "a", "begins with"}, {"suffix", "z", "z", "ends with"},
		{"empty", "-", "", "is empty"}, {"notempty", "-", "", "is not empty"},
	}},
	{"2", "NUMBER_COMPARISON_TYPE", [][4]string{
		{"eq", "12.5", "12.5", "is"}, {"neq", "-3", "-3", "is not"}, {"gt", "0", "0", "is greater than"}, {"gte", "1e3", "1e3", "is at least"}, {"lt", "0.87", "0.87", "is less than"}, {"lte", "5", "5", "is at most"},
		{"isoneof", "1 2,3", "[1,2,3]", "is one of"}, {"isnotoneof", "[4, 5.5]", "[4,5.5]", "is not one of"}, {"present", "-", "", "is set"}, {"notpresent", "-", "", "is not set"},
	}},
	{"3", "BOOLEAN_COMPARISON_TYPE", [][4]string{
		{"true", "-", "", "is true"}, {"false", "-", "", "is false"}, {"present", "-", "", "is set"}, {"notpresent", "-", "", "is not set"},
	}},
	{"4", "DATETIME_COMPARISON_TYPE", [][4]string{
		{"gt", "2026-12-01", "2026-12-01", "is after"}, {"gte", "2026-12-02", "2026-12-02", "is at or after"}, {"lt", "2026-12-03", "2026-12-03", "is before"}, {"lte", "2026-12-04", "2026-12-04", "is at or before"},
		{"eq", "2026-12-05", "2026-12-05", "is"}, {"neq", "2026-12-06", "2026-12-06", "is not"}, {"present", "-", "", "is set"}, {"notpresent", "-", "", "is not set"},
	}},
	{"5", "ENTITY_ID_COMPARISON_TYPE", [][4]string{
		{"eq", "u-1", "u-1", "is"}, {"neq", "u-2", "u-2", "is not"}, {"isoneof", "u-1\nu-2", `["u-1","u-2"]`, "is one of"}, {"isnotoneof", "u-3", `["u-3"]`, "is not one of"},
		{"contains", "u-", "u-", "contains"}, {"notcontains", "temp-", "temp-", "does not contain"},
	}},
	{"1000", "VERSION_COMPARISON_TYPE", [][4]string{
		{"eq", "1.0.0", "1.0.0", "is"}, {"neq", "2", "2", "is not"}, {"gt", "v2.4", "v2.4", "is greater than"}, {"gte", "2.4.1-beta.1", "2.4.1-beta.1", "is at least"},
		{"lt", "3.0", "3.0", "is less than"}, {"lte", "4", "4", "is at most"}, {"present", "-", "", "is set"}, {"notpresent", "-", "", "is not set"},
	}},
	{"1001", "PATTERN_COMPARISON_TYPE", [][4]string{{"eq", `(?i)@example\.com$`, `(?i)@example\.com$`, "matches"}}},
	{"1002", "LIST_COMPARISON_TYPE", [][4]string{
		{"anyof", "admin\nowner", `["admin","owner"]`, "has any of"}, {"allof", `["a b", 7]`, `["a b","7"]`, "has all of"}, {"present", "-", "", "is set"}, {"notpresent", "-", "", "is not set"},
	}},
	{"1003", "ADDRESS_COMPARISON_TYPE", [][4]string{{"isoneof", "192.0.2.0/24 2001:db8::1", `["192.0.2.0/24","2001:db8::1"]`, "is in one of"}}},
}

// TestConstraints: a constraint of each type and operator is saved as it was entered, and reads
// back in words.
func TestConstraints(t *testing.T) {
	s := openShop(t)
	v := drafter{s.visitor(t, admin), false}
	for _, kind := range constraintTypes {
		t.Run(kind.name, func(t *testing.T) {
			key := "of-type-" + kind.number
			s.change(t, http.MethodPost, "/api/v1/namespaces/default/segments", map[string]any{"key": key, "name": kind.name, "matchType": "ANY_MATCH_TYPE"})
			v.Visit(t, "/namespaces/default/segments/"+key)
			var want []constraint
			var sentences []string
			for i, o := range kind.operators {
				c := constraint{kind.name, fmt.Sprintf("p%d", i), o[0], o[2], false}
				if kind.number == "5" {
					c.Property = "entityId"
				}
				addConstraint(t, v, i, kind.number, c, o[1])
				want, sentences = append(want, c), append(sentences, o[3])
			}
			before := s.revisionOf(t, "default")
			v.act(t, nil, "save")
			if got := s.revisionOf(t, "default"); got != before+1 {
				t.Errorf("saved in %d revisions: %s", got-before, v.Main(t))
			}
			var stored struct{ Constraints []constraint }
			s.get(t, "/api/v1/namespaces/default/segments/"+key, &stored)
			if diff := cmp.Diff(want, stored.Constraints); diff != "" {
				t.Errorf("stored (-want +got):\n%s", diff)
			}
			got := eval[[]string](t, v.visitor, "[...document.querySelectorAll('.cond .op')].map(e => e.innerText)")
			if diff := cmp.Diff(sentences, got); diff != "" {
				t.Errorf("in words (-want +got):\n%s", diff)
			}
			v.act(t, nil, "edit:0")
			v.act(t, nil, "done:0")
			if got := count(t, v.visitor, ".savebar"); got != 0 {
				t.Errorf("opening a constraint and closing it again is a change: %s", v.Main(t))
			}
		})
	}
	quiet(t, v.visitor)
}

// addConstraint adds a constraint in the form of a segment. Its value is entered as given, or not
// at all if that is "-".
func addConstraint(t *testing.T, v drafter, index int, number string, c constraint, entered string) {
	t.Helper()
	at := fmt.Sprintf("constraint.%d.", index)
	v.act(t, nil, "add")
	v.choose(t, at+"type", number)
	v.choose(t, at+"operator", c.Operator)
	if c.Property != "entityId" {
		v.fill(t, map[string]string{at + "property": c.Property})
	}
	for _, field := range []string{"text", "date", "list"} {
		if entered != "-" && count(t, v.visitor, "[name='"+at+field+"']") > 0 {
			v.fill(t, map[string]string{at + field: entered})
		}
	}
	v.act(t, nil, fmt.Sprintf("done:%d", index))
}

// TestSegmentNegation: a version is compared and the constraint negated, with the mouse and then
// with keys.
func TestSegmentNegation(t *testing.T) {
	s := openShop(t)
	v := drafter{s.visitor(t, admin), false}
	v.Visit(t, segmentPath)
	const not = "constraint.0.not"
	v.act(t, nil, "edit:0")
	v.choose(t, "constraint.0.type", "1000")
	v.choose(t, "constraint.0.operator", "gte")
	v.fill(t, map[string]string{"constraint.0.property": "app", "constraint.0.text": "2.x"})
	v.Do(t, click(css(`input[name="`+not+`"]`)))
	awaitText(t, v.visitor, ".cond.edit", "When app is missing, this matches.")
	awaitFocus(t, v.visitor, not)
	v.Do(t, click(do("done:0")))
	awaitText(t, v.visitor, ".cond.edit", "Not a version: 2.x. Write 2.4.1.")
	v.fill(t, map[string]string{"constraint.0.text": "2.4.1"})
	v.Do(t, click(do("done:0")))
	awaitText(t, v.visitor, ".cond:not(.edit)", "not app")
	awaitText(t, v.visitor, ".savebar", "unsaved change")
	v.Follow(t, click(do("save")))
	want := []constraint{{"VERSION_COMPARISON_TYPE", "app", "gte", "2.4.1", true}}
	var stored struct{ Constraints []constraint }
	s.get(t, "/api/v1"+segmentPath, &stored)
	if diff := cmp.Diff(want, stored.Constraints); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}

	v.Visit(t, segmentPath)
	v.act(t, nil, "edit:0")
	v.Do(t, chromedp.Focus(css(`select[name="constraint.0.operator"]`)), chromedp.KeyEvent(kb.Tab))
	awaitFocus(t, v.visitor, not)
	v.Do(t, chromedp.KeyEvent(" "))
	v.Await(t, `!document.querySelector('.cond.edit').innerText.includes('this matches')`)
	quiet(t, v.visitor)
	v.Follow(t, chromedp.KeyEvent("s", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	stored.Constraints = nil
	s.get(t, "/api/v1"+segmentPath, &stored)
	want[0].Negate = false
	if diff := cmp.Diff(want, stored.Constraints); diff != "" {
		t.Errorf("stored after the keys (-want +got):\n%s", diff)
	}
}

// TestConstraintLimits: 10,000 values are pasted, two more are refused and kept, the last
// constraint is removed only on request, and a segment that is in use is not deleted.
func TestConstraintLimits(t *testing.T) {
	s := openShop(t)
	v := drafter{s.visitor(t, admin), false}
	v.Visit(t, segmentPath)
	v.act(t, nil, "edit:0")
	v.choose(t, "constraint.0.operator", "isoneof")
	var values []string
	for i := range 10_002 {
		values = append(values, fmt.Sprintf("%08d-6f2a-4c1e-9d0b-1f6f3a2b4c5d", i))
	}
	const list = `textarea[name="constraint.0.list"]`
	v.Do(t, paste(css(list), strings.Join(values, "\n")))
	v.act(t, nil, "done:0")
	awaitText(t, v.visitor, ".cond.edit", "10,000 values at most, these are 10,002.")
	v.Do(t, paste(css(list), strings.Join(values[2:], "\n")))
	awaitText(t, v.visitor, ".savebar", "5 flags use this segment.")
	v.act(t, nil, "done:0")
	awaitText(t, v.visitor, ".cond", "and 9,995 more")
	v.act(t, nil, "save")
	var stored struct{ Constraints []constraint }
	s.get(t, "/api/v1"+segmentPath, &stored)
	var saved []string
	if err := json.Unmarshal([]byte(stored.Constraints[0].Value), &saved); err != nil || !slices.Equal(saved, values[2:]) {
		t.Errorf("stored %d values: %v", len(saved), err)
	}

	v.Visit(t, segmentPath)
	v.act(t, nil, "remove:0")
	awaitText(t, v.visitor, "[role=alertdialog]", "Without a constraint, everyone is in this segment.")
	v.Await(t, "document.activeElement.innerText === 'Keep the constraint'")
	v.act(t, nil, "clear")
	awaitText(t, v.visitor, "main", "There are no constraints, so everyone is in this segment.")
	v.act(t, nil, "save")
	s.get(t, "/api/v1"+segmentPath, &stored)
	if len(stored.Constraints) != 0 {
		t.Errorf("stored %v", stored.Constraints)
	}
	awaitText(t, v.visitor, ".head", "everyone")

	v.Visit(t, segmentPath+"/delete")
	awaitText(t, v.visitor, "h1", "Germany cannot be deleted yet")
	if got := count(t, v.visitor, "main form, main button.danger"); got != 0 {
		t.Error("it can be deleted")
	}
	if got := count(t, v.visitor, "main a[href$='/flags/checkout-redesign']"); got == 0 {
		t.Error("the use in a flag is no link")
	}
	quiet(t, v.visitor)
}

// TestApply: the button that shows the fields of another type or operator is for visitors
// without scripts only.
func TestApply(t *testing.T) {
	v := openShop(t).visitor(t, admin)
	visible := func() bool {
		v.Visit(t, "/namespaces/default/new-segment")
		return eval[bool](t, v, "document.querySelector('button[value=\"compare:0\"]').checkVisibility()")
	}
	if visible() {
		t.Error("it is shown although scripts run")
	}
	v.WithoutScripts(t)
	if !visible() {
		t.Error("it is not shown without scripts")
	}
}
