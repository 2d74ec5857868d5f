package flag_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

// hostile are strings that must be text wherever they are shown. None is empty or has an end
// of a line, which would be another value.
var hostile = []string{
	`<script>alert(1)</script>`, `</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><img src=x onerror=alert(1)>`,
	`" onfocus="alert(1)" autofocus x="`, `' onmouseover='alert(1)`, "` onload=`alert(1)", `</title><svg onload=alert(1)>`, `</textarea><script>1</script>`,
	`</select></option><img src=x onerror=alert(1)>`, `</form><form action=//evil.example>`, `<base href=//evil.example/>`, `<iframe srcdoc="<script>1</script>">`,
	`<style>*{display:none}</style>`, `<plaintext>`, `<!--`, `--><script>1</script>`, `<![CDATA[<script>1</script>]]>`, `javascript:alert(1)`,
	`data:text/html;base64;x`, `//evil.example`, `/\evil.example`, `{{.}}`, `${7*7}`, `%22%3E%3Cscript%3E`, `&lt;script&gt;`, `&quot; onload=x`, `&amp`,
	`＜script＞`, "\u202eevil\u202c", "\u200b\u200d", `مرحبا`, `"`, `'`, `<`, `\`, `rule.0.share.x`, strings.Repeat("<b>", 80), strings.Repeat(`"'`, 120),
}

// outline returns the elements of a page with the names of their attributes.
func outline(r *webtest.Reply) (elements []string) {
	for _, n := range r.All("") {
		names := n.Data
		for _, a := range n.Attr {
			names += " " + a.Key
		}
		elements = append(elements, names)
	}
	return elements
}

// plant stores two flags and a segment that have the text wherever they can have it.
func plant(t *testing.T, s *webtest.Server, text string) {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	metadata := `{"owner":` + string(quoted) + `,"review":` + string(quoted) + `,` + strings.TrimSuffix(string(quoted), `"`) + `-key":` + string(quoted) + `,"list":[` + string(quoted) + `]}`
	_, _, err = s.Service.Edit(t.Context(), service.Write{}, "default", service.Edits{
		Segments: []service.SegmentEdit{{Put: &guidon.Segment{Key: "planted", Name: text, Description: text}}},
		Flags: []service.FlagEdit{
			{Put: &guidon.Flag{
				Key: "variant", Name: text, Description: text, Enabled: true, Metadata: []byte(metadata), DefaultVariantID: text,
				Variants: []*guidon.Variant{
					{Key: text, Name: text, Description: text, Attachment: string(quoted)}, {Key: text + "2", Name: text},
				},
				Rules: []*guidon.Rule{{SegmentKeys: []string{"planted"}, Distributions: []*guidon.Distribution{{VariantID: text, Rollout: 60}}}},
			}},
			{Put: &guidon.Flag{
				Key: "boolean", Name: text, Description: text, Type: guidon.BooleanFlag, Metadata: []byte(metadata),
				Rollouts: []*guidon.Rollout{
					{Description: text, Threshold: &guidon.RolloutThreshold{Percentage: 12.5, Value: true}},
					{Description: text, Segment: &guidon.RolloutSegment{SegmentKeys: []string{"planted"}, Value: true}},
				},
			}},
		},
	})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

// planted returns the pages about what was planted, and what was typed into their forms.
func planted(t *testing.T, s *webtest.Server, text string) map[string]*webtest.Reply {
	t.Helper()
	pages := make(map[string]*webtest.Reply)
	get := func(path string) *webtest.Reply {
		pages[path] = s.Get(flags + path).Check(200)
		return pages[path]
	}
	enter := func(name string, r *webtest.Reply, do string, fields ...string) {
		var changed []string
		for _, f := range fields {
			changed = append(changed, f, text)
		}
		pages[name+" "+do] = press(t, s, r, do, changed...)
		pages[name+" "+do].Check(pages[name+" "+do].Status)
	}
	for _, path := range []string{"boolean", "variant", "variant?edit=else"} {
		get(path)
	}
	targeting := get("boolean?edit=1")
	segment, rule := get("boolean?edit=2"), get("variant?edit=1")
	for _, do := range []string{"draft", "review", "save"} {
		enter("share", targeting, do, "rule.0.share", "rule.0.note")
		enter("segment", segment, do, "rule.1.add", "rule.1.note")
		enter("else", rule, do, "else", "rule.0.segment.0")
	}
	enter("note", targeting, "review", "rule.0.note", "message")
	for _, do := range []string{"draft", "review", "format:0"} {
		enter("attachment", get("variant/variants?edit=1"), do, "variant.0.attachment", "variant.0.name")
	}
	enter("variant", get("variant/variants?edit=1"), "review", "variant.0.key", "variant.0.description")
	pages["deleted"] = press(t, s, s.Get(flags+"variant/variants"), "remove:0").Check(200)
	for _, do := range []string{"draft", "review", "save"} {
		enter("details", get("variant/details"), do, "review", "tags")
	}
	enter("metadata", press(t, s, get("boolean/details"), "row"), "draft", "meta.0.key", "meta.0.value")
	enter("turn off", get("boolean/turn-off"), "x", "message")
	enter("delete", get("boolean/delete"), "delete", "key", "message")
	return pages
}

// TestHostile: whatever somebody has called something or typed, a page has the same elements.
func TestHostile(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	plant(t, s, "harmless")
	want := planted(t, s, "harmless")
	for _, text := range hostile {
		plant(t, s, text)
		for name, r := range planted(t, s, text) {
			if strings.HasPrefix(name, "attachment") || strings.HasPrefix(name, "metadata") {
				continue // a text may be JSON or not; Check has looked at the page
			}
			if diff := cmp.Diff(outline(want[name]), outline(r)); diff != "" {
				t.Errorf("%s with %q (-want +got):\n%s", name, text, diff)
			}
		}
	}
}
