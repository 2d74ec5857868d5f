package flag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/handler/web/webtest"
)

// TestEditVariants: variants are added, edited and made the default in a draft.
func TestEditVariants(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(flags+"checkout-redesign/variants").Check(200), "add").Check(200)
	r = press(t, s, r, "format:3", "variant.3.key", "two-page", "variant.3.attachment", `{"steps":2}`).Check(200)
	if _, form := r.Form("edit"); form.Get("variant.3.attachment") != "{\n  \"steps\": 2\n}" {
		t.Errorf("formatted: %q", form.Get("variant.3.attachment"))
	}
	r = press(t, s, r, "done:3", "default", "3").Check(200).Contains("2 unsaved changes")
	r = press(t, s, r, "edit:0").Check(200)
	r = press(t, s, r, "review", "variant.0.key", "classical", "variant.0.description", "Four\r\npages").Check(200)
	r.Contains(`Variant "two-page" added`, `Variant "classic" key "classic" → , now "classical"`, `Default variant "classic" → , now "two-page"`)
	press(t, s, r, "save").Location()
	f := content(t, s, "checkout-redesign")
	var got []string
	for _, v := range f["variants"].([]any) {
		got = append(got, body(t, v))
	}
	want := []string{
		`{"attachment":"{\"steps\":4,\"layout\":\"pages\",\"express\":false}","default":false,"description":"Four\npages","key":"classical","name":"Classic"}`,
		`{"attachment":"{\"steps\":1,\"layout\":\"accordion\",\"express\":true}","default":false,"description":"","key":"one-page","name":"One page"}`,
		`{"attachment":"{\"steps\":1,\"layout\":\"wallet-first\",\"express\":true,\"wallets\":[\"applepay\",\"googlepay\",\"paypal\"]}","default":false,"description":"One page with wallets first","key":"express","name":"Express"}`,
		`{"attachment":"{\"steps\":2}","default":true,"description":"","key":"two-page","name":""}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variants (-want +got):\n%s", diff)
	}
	if got := body(t, f["rules"]); !strings.Contains(got, `{"rollout":80,"variant":"classical"}`) {
		t.Errorf("the rules do not follow: %s", got)
	}
}

// TestDeleteVariant: the shares of a deleted variant go where the visitor says.
func TestDeleteVariant(t *testing.T) {
	for _, test := range []struct{ goes, want string }{
		{"0", `[{"rollout":100,"variant":"classic"}] [{"rollout":50,"variant":"one-page"},{"rollout":50,"variant":"classic"}] [{"rollout":90,"variant":"classic"},{"rollout":10,"variant":"one-page"}]`},
		{"1", `[{"rollout":100,"variant":"one-page"}] [{"rollout":100,"variant":"one-page"}] [{"rollout":80,"variant":"classic"},{"rollout":20,"variant":"one-page"}]`},
		{"", `[] [{"rollout":50,"variant":"one-page"}] [{"rollout":80,"variant":"classic"},{"rollout":10,"variant":"one-page"}]`},
	} {
		s := webtest.New(t, webtest.Options{})
		r := press(t, s, s.Get(flags+"checkout-redesign/variants?edit=3"), "remove:2").Check(200)
		r.Contains("to be deleted", "It has shares in rules 1, 2 and 3. They go to", "Keep it")
		press(t, s, r, "keep:2").Check(200).Contains("No changes yet")
		r = press(t, s, r, "review", "variant.2.goes", test.goes).Check(200).Contains(`Variant "express" removed`)
		press(t, s, r, "save").Location()
		var got []string
		for _, rule := range content(t, s, "checkout-redesign")["rules"].([]any) {
			got = append(got, body(t, rule.(map[string]any)["distributions"]))
		}
		if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("to %q (-want +got):\n%s", test.goes, diff)
		}
	}
}

// TestVariantFaults: what is wrong with a variant stands beside its field.
func TestVariantFaults(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	open := s.Get(flags + "checkout-redesign/variants?edit=2").Check(200)
	for _, test := range []struct{ field, value, want string }{
		{"key", "", "A key is needed."},
		{"key", "classic", "Variant 1 has this key. Take another one."},
		{"key", strings.Repeat("k", 256), "255 characters at most, this has 256."},
		{"name", strings.Repeat("n", 300), "255 characters at most, this has 300."},
		{"attachment", "{\n  \"a\": [1, 2\n}", "Line 3, column 1: This is not JSON: “}” cannot stand here."},
		{"attachment", `{"a": [1, 2`, "Line 1, column 12: This list never ends: add ]}."},
		{"attachment", `{"a": 1`, "This object never ends: add }."},
		{"attachment", `"a`, "This text never ends: add \"."},
		{"attachment", `{"ä": x}`, "Line 1, column 7: This is not JSON: “x” cannot stand here."},
		{"attachment", `"` + strings.Repeat("a", 1000*1024) + `"`, "1,000 KB at most, this has 1,001 KB."},
	} {
		for _, do := range []string{"save", "review", "done:1"} {
			r := press(t, s, open, do, "variant.1."+test.field, test.value).Check(422).Contains(test.want)
			if _, form := r.Form("edit"); form.Get("variant.1."+test.field) != test.value {
				t.Errorf("%s: the field %s has lost its value", do, test.field)
			}
		}
	}
	press(t, s, open, "format:1", "variant.1.attachment", "[").Check(422).Contains("This list never ends: add ].")
	press(t, s, open, "save", "variant.1.attachment", strings.Repeat("[", 60)+strings.Repeat("]", 60)).Check(422).Contains("nested deeper")
}

// TestLargeAttachment: an attachment of nearly 1 MB is shown by its beginning, sent only
// while it is edited, and saved.
func TestLargeAttachment(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	large := `"` + strings.Repeat("é", 500*1024-1) + `"`
	r := press(t, s, s.Get(flags+"checkout-redesign/variants?edit=1"), "save", "variant.0.attachment", large)
	r.Location()
	r = s.Get(flags + "checkout-redesign/variants").Check(200).Contains("1,000 KB")
	if len(r.Body) > 40<<10 {
		t.Errorf("the page has %d bytes", len(r.Body))
	}
	press(t, s, r, "save").Location()
	r = s.Get(flags + "checkout-redesign/variants?edit=1").Check(200)
	r = press(t, s, r, "review", "variant.0.name", "Large").Check(200)
	press(t, s, r, "save").Location()
	v := content(t, s, "checkout-redesign")["variants"].([]any)[0].(map[string]any)
	if v["attachment"] != large || v["name"] != "Large" {
		t.Errorf("got %d bytes of %s, want %d", len(v["attachment"].(string)), v["name"], len(large))
	}
}

// TestDetails: name, description and metadata are edited, and keep their order and the
// spelling of numbers.
func TestDetails(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	r := press(t, s, s.Get(flags+"loyalty-points/details").Check(200), "row").Check(200)
	r = press(t, s, r, "review", "name", "Points", "owner", "", "review", "2027-01-31", "tags", "a, b,a ,", "enabled", "off",
		"meta.1.key", "link", "meta.1.value", "https://shop.example/x").Check(200)
	r.Contains(`Name "Loyalty points" → , now "Points"`, "State on → , now off", `Metadata "owner" removed`, `Metadata "review" added`)
	press(t, s, r, "save").Location()
	f := content(t, s, "loyalty-points")
	want := `{"budget":25000.00,"review":"2027-01-31","tags":["a","b"],"link":"https://shop.example/x"}`
	if f["metadata"] != want || f["name"] != "Points" || f["enabled"] != false {
		t.Errorf("got %v %v %v, want %s", f["name"], f["enabled"], f["metadata"], want)
	}
	for review, want := range map[string]string{"2027-01-31": "date", "next spring": "text", "": "date"} {
		refused := press(t, s, s.Get(flags+"loyalty-points/details"), "row", "review", review).Check(200)
		for _, n := range refused.All("input") {
			if webtest.Attribute(n, "name") == "review" && (webtest.Attribute(n, "type") != want || webtest.Attribute(n, "value") != review) {
				t.Errorf("the review date %q is in a field of the type %s with %q", review, webtest.Attribute(n, "type"), webtest.Attribute(n, "value"))
			}
		}
	}
	r = s.Get(flags + "loyalty-points").Check(200).Contains("Points Off")
	if !strings.Contains(strings.Join(r.Links(), " "), "https://shop.example/x") {
		t.Errorf("no link in %v", r.Links())
	}
	press(t, s, press(t, s, s.Get(flags+"loyalty-points/details"), "unrow:0"), "save").Location()
	if got := content(t, s, "loyalty-points")["metadata"]; strings.Contains(got.(string), "budget") {
		t.Errorf("got %s", got)
	}
}

// TestDetailsFaults: what is wrong with the details stands beside its field.
func TestDetailsFaults(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	open := press(t, s, s.Get(flags+"loyalty-points/details").Check(200), "row").Check(200)
	for _, test := range []struct{ field, value, want string }{
		{"name", " ", "A name is needed."},
		{"name", strings.Repeat("ä", 260), "255 characters at most, this has 260."},
		{"review", "soon", "Write a date such as 2026-12-01."},
		{"meta.1.value", "x", "A key is needed."},
		{"meta.1.key", "budget", "There is another value for budget."},
		{"meta.1.key", "owner", "There is another value for owner."},
		{"meta.1.key", "new", "Write a value"},
		{"meta.0.value", "[1,", "Line 1, column 4: This list never ends: add ]."},
	} {
		r := press(t, s, open, "save", test.field, test.value).Check(422).Contains(test.want)
		if _, form := r.Form("edit"); form.Get(test.field) != test.value {
			t.Errorf("the field %s has %q, want %q", test.field, form.Get(test.field), test.value)
		}
	}
}
