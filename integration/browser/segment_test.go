package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// constraint is a constraint of a segment as the API has it.
type constraint struct{ Type, Property, Operator, Value string }

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
}

// TestConstraints: a constraint of each type and operator is saved as it was entered, and reads
// back in words.
func TestConstraints(t *testing.T) {
	s := openShop(t)
	s.change(t, http.MethodPost, "/api/v1/namespaces/default/segments", map[string]any{"key": "all-kinds", "name": "All kinds", "matchType": "ANY_MATCH_TYPE"})
	v := drafter{s.visitor(t, admin), false}
	v.Visit(t, "/namespaces/default/segments/all-kinds")
	var want []constraint
	var sentences []string
	for _, kind := range constraintTypes {
		for _, o := range kind.operators {
			at := fmt.Sprintf("constraint.%d.", len(want))
			property := "p" + fmt.Sprint(len(want))
			v.act(t, nil, "add")
			v.choose(t, at+"type", kind.number)
			v.choose(t, at+"operator", o[0])
			if kind.number == "5" {
				property = "entityId"
			} else {
				v.fill(t, map[string]string{at + "property": property})
			}
			for _, field := range []string{"text", "date", "add"} {
				if o[1] != "-" && count(t, v.visitor, "[name='"+at+field+"']") > 0 {
					v.fill(t, map[string]string{at + field: o[1]})
				}
			}
			v.act(t, nil, fmt.Sprintf("done:%d", len(want)))
			want = append(want, constraint{kind.name, property, o[0], o[2]})
			sentences = append(sentences, o[3])
		}
	}
	before := s.revisionOf(t, "default")
	v.act(t, nil, "save")
	if got := s.revisionOf(t, "default"); got != before+1 {
		t.Errorf("saved in %d revisions: %s", got-before, v.Main(t))
	}
	var stored struct{ Constraints []constraint }
	s.get(t, "/api/v1/namespaces/default/segments/all-kinds", &stored)
	if diff := cmp.Diff(want, stored.Constraints); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	got := eval[[]string](t, v.visitor, "[...document.querySelectorAll('.cond .op')].map(e => e.innerText)")
	if diff := cmp.Diff(sentences, got); diff != "" {
		t.Errorf("in words (-want +got):\n%s", diff)
	}
	for i := range want { // what is opened and closed again is no change
		if i%7 == 0 {
			v.act(t, nil, fmt.Sprintf("edit:%d", i))
			v.act(t, nil, fmt.Sprintf("done:%d", i))
		}
	}
	if got := count(t, v.visitor, ".savebar"); got != 0 {
		t.Errorf("opening constraints is a change: %s", v.Main(t))
	}
	quiet(t, v.visitor)
}

// TestConstraintLimits: the 101st value of a list is refused, the last constraint is removed
// only on request, and a segment that is in use is not deleted.
func TestConstraintLimits(t *testing.T) {
	s := openShop(t)
	v := drafter{s.visitor(t, admin), false}
	v.Visit(t, segmentPath)
	v.act(t, nil, "edit:0")
	v.choose(t, "constraint.0.operator", "isoneof")
	var values []string
	for i := range 120 {
		values = append(values, fmt.Sprint("v", i))
	}
	v.fill(t, map[string]string{"constraint.0.add": strings.Join(values, "\n")})
	v.act(t, nil, "compare:0")
	awaitText(t, v.visitor, ".cond.edit", "100 of at most 100")
	awaitText(t, v.visitor, ".cond.edit", "100 values at most: 21 values were not added.") // DE was there
	v.act(t, nil, "save")
	var stored struct{ Constraints []constraint }
	s.get(t, "/api/v1"+segmentPath, &stored)
	var list []string
	if err := json.Unmarshal([]byte(stored.Constraints[0].Value), &list); err != nil || len(list) != 100 || list[0] != "DE" || list[99] != "v98" {
		t.Errorf("stored %d values: %v", len(list), err)
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
