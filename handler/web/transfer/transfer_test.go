package transfer_test

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/examples"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
)

const (
	importAt   = "/namespaces/default/import"
	exportAt   = "/namespaces/default/export"
	transferAt = "/settings/transfer"
)

// file is a file of the namespace default with one flag and one segment.
const file = `namespace: default
flags:
  - key: wish
    name: Wish list
    type: BOOLEAN_FLAG_TYPE
    enabled: true
    rollouts:
      - segment: {key: staff, value: true}
segments:
  - key: staff
    name: Staff
`

func form(pairs ...string) url.Values {
	values := make(url.Values)
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return values
}

// keys returns the keys of the flags of a namespace.
func keys(t *testing.T, s *webtest.Server, namespace string) (keys []string) {
	t.Helper()
	view, err := s.Service.View(t.Context(), namespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range view.Snapshot.Flags() {
		keys = append(keys, f.Key)
	}
	return keys
}

func check(t *testing.T, got, want []string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// viewer returns the server visited by somebody who may only view.
func viewer(s *webtest.Server) *webtest.Server {
	return s.As(s.SignIn(service.TokenInput{Name: "Viewer", Role: service.RoleViewer}))
}

// again sends the form of a page with a button.
func again(s *webtest.Server, r *webtest.Reply, button string, set ...string) *webtest.Reply {
	action, fields := r.Form("review")
	fields.Set("do", button)
	for i := 0; i < len(set); i += 2 {
		fields.Set(set[i], set[i+1])
	}
	return s.Upload(action, fields)
}

func TestImport(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Get(importAt).Check(200).Contains("Import", "Show what changes", "Replace everything")
	r := s.Upload(importAt, form("do", "preview", "mode", "update", "text", file)).Check(200)
	r.Contains("Wish list", "Boolean, 1 rule, on for everyone else", "Staff", "Segment without constraints", `Segment "staff" has no constraints, so it matches everyone.`, "1 flag and 1 segment")
	check(t, keys(t, s, "default"), nil)
	to := again(s, r, "apply", "message", "from staging").Location()
	if !strings.HasPrefix(to, "/namespaces/default/flags?saved=") {
		t.Errorf("leads to %s", to)
	}
	check(t, keys(t, s, "default"), []string{"wish"})
	s.Get(to).Check(200).Contains("Wish list")
	s.Get("/namespaces/default/changes").Contains("from staging")
	// The same file, as a file and in the other encoding.
	s.Upload(importAt, form("do", "preview", "file", file, "text", "ignored")).Check(200).Contains("Nothing would change")
	s.Post(importAt, form("do", "preview", "text", file)).Check(200).Contains("Nothing would change")
	// A change shows its effect.
	s.Upload(importAt, form("do", "preview", "text", strings.Replace(file, "value: true", "value: false", 1))).Check(200).Contains("Rule 1 result on → , now off", "Everyone gets Off.")
}

func TestImportModes(t *testing.T) {
	for _, test := range []struct {
		mode   string
		status int
		text   string
		want   []string
	}{
		{"create", 422, "The flag exists already: default/wish", []string{"wish", "other"}},
		{"skip", 200, "Left as it is, because it exists: 2 flags and segments.", []string{"wish", "other"}},
		{"update", 200, "Another name", []string{"wish", "other"}},
		{"replace", 200, "It is deleted.", []string{"wish"}},
	} {
		s := webtest.New(t, webtest.Options{Empty: true})
		s.Import("", []byte(file))
		if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "other", Name: "Other"}); err != nil {
			t.Fatal(err)
		}
		r := s.Upload(importAt, form("do", "preview", "mode", test.mode, "text", strings.Replace(file, "Wish list", "Another name", 1))).Check(test.status).Contains(test.text)
		if test.mode == "update" || test.mode == "replace" {
			again(s, r, "apply").Location()
		}
		check(t, keys(t, s, "default"), test.want)
	}
}

func TestImportFaults(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	for _, test := range []struct{ text, want string }{
		{"", "Choose a file, or paste its text."},
		{"# nothing\n", "There is nothing in this file."},
		{"flags:\n  - key: a\n    enabled: maybe\n", "Line 3, column 14: Flag “a”: enabled: must be true or false"},
		{"flags:\n  - key: a\n    name: A\n    rollouts:\n      - segment: {keys: [nope], value: true}\n", "Line 5, column 26: Flag “a”: rule 1: segment \"nope\" not found"},
		{"flags:\n  - {key: a, name: A}\n  - key: b c\n    name: B\n", "Line 3, column 10: Flag “b c”: key may only have letters, digits, - and _"},
		{`{"flags":[{"key":"a","name":"A","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":101}}]}]}`, "Line 1, column 99: Flag “a”: rule 1: share must be within range [0, 100]"},
		{"flags:\n\t- key\n", "Line 2"},
		{"{\"flags\": [\n  {\"key\": ]}", "Line 2, column 11: "},
		{"namespace: a\n---\nnamespace: b\n", "and default is not one of them: a, b."},
		{"namespace: default\n---\nnamespace: default\n", "twice"},
		{strings.Repeat("- ", 250_000), "too many values"},
		{"flags:\n  - key: a b\n    name: A\n", "This is not possible as it is."},
	} {
		r := s.Upload(importAt, form("do", "preview", "text", test.text)).Check(422).Contains(test.want)
		if text := r.All("textarea"); len(text) == 1 && len(test.text) < 1000 && strings.TrimPrefix(webtest.TextOf(text[0]), " ") != strings.Join(strings.Fields(test.text), " ") {
			t.Errorf("%q: the text became %q", test.text, webtest.TextOf(text[0]))
		}
	}
	s.Upload(importAt, form("do", "preview", "text", "namespace: a\n---\nnamespace: b\n")).Check(422).Contains("Import a file with several namespaces")
	s.Upload(importAt, form("do", "preview", "text", strings.Repeat("x", 5<<20))).Check(413)
	check(t, keys(t, s, "default"), nil)
}

// TestImportNamespaces: of several documents that of the namespace is taken, a single one
// always, and settings only by administrators.
func TestImportNamespaces(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Import("second", []byte("flags: []\n"))
	importAt := strings.Replace(importAt, "default", "second", 1)
	several := "namespace: other\nflags: [{key: x, name: X}]\n---\n" + strings.Replace(file, "namespace: default", "namespace: {key: second, name: Shop}", 1)
	r := s.Upload(importAt, form("do", "preview", "text", several)).Check(200).Lacks("X").Contains("Wish list", "the namespace itself")
	s.Upload(importAt, form("do", "preview", "text", strings.Replace(file, "namespace: default", "namespace: staging", 1))).Check(200).
		Contains("This is a file of the namespace staging. Its flags and segments go into")
	editor := s.As(s.SignIn(service.TokenInput{Name: "Editor", Role: service.RoleEditor}))
	again(editor, r, "apply").Check(409) // the plan of an editor is another one
	r = editor.Upload(importAt, form("do", "preview", "text", several)).Check(200).Contains("changing them takes Admin").Lacks("the namespace itself")
	again(editor, r, "apply").Location()
	check(t, keys(t, s, "second"), []string{"wish"})
	check(t, keys(t, s, "default"), nil)
}

func TestImportMoved(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	r := s.Upload(importAt, form("do", "preview", "text", file)).Check(200)
	if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "wish", Name: "Mine"}); err != nil {
		t.Fatal(err)
	}
	r = again(s, r, "apply", "message", "kept").Check(409).Contains("Something was saved meanwhile", "different from what you saw")
	if _, fields := r.Form("review"); fields.Get("message") != "kept" {
		t.Errorf("the message became %q", fields.Get("message"))
	}
	again(s, r, "apply").Location()
	check(t, keys(t, s, "default"), []string{"wish"})
}

func TestImportConfirm(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	confirm := true
	if _, _, err := s.Service.UpdateNamespace(t.Context(), service.Write{}, service.NamespaceInput{Key: "default", Name: "Default", ConfirmChanges: &confirm}); err != nil {
		t.Fatal(err)
	}
	r := s.Upload(importAt, form("do", "preview", "text", file)).Check(200).Contains("Type default to change this namespace")
	again(s, r, "apply", "namespace", "Default").Check(422).Contains("Type the key of the namespace: default.")
	check(t, keys(t, s, "default"), nil)
	again(s, r, "apply", "namespace", "default").Location()
}

func TestImportRights(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		s := webtest.New(t, webtest.Options{Empty: true, ReadOnly: readOnly})
		visitor := s
		if !readOnly {
			visitor = viewer(s)
		}
		r := visitor.Upload(importAt, form("do", "preview", "text", file)).Check(200).Contains("Wish list").Lacks("Message")
		if !strings.Contains(r.Text(), "View only") && !readOnly {
			t.Error("a viewer is not told why nothing can be imported")
		}
		if got := buttons(r); slices.Contains(got, "apply") {
			t.Errorf("the page has the buttons %q", got)
		}
		again(visitor, r, "apply").Check(403)
		visitor.Post(importAt, form("do", "example", "example", "shop")).Check(403)
		check(t, keys(t, s, "default"), nil)
	}
}

// buttons returns the values of the buttons of a page.
func buttons(r *webtest.Reply) (values []string) {
	for _, n := range r.All("button") {
		if value := webtest.Attribute(n, "value"); value != "" {
			values = append(values, value)
		}
	}
	return values
}

func TestExample(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Post(importAt, form("do", "example", "example", "bank")).Check(400)
	to := s.Post(importAt, form("do", "example", "example", "shop")).Location()
	if want := "/namespaces/default/flags?saved=2"; to != want {
		t.Errorf("leads to %s, want %s", to, want)
	}
	if got := len(keys(t, s, "default")); got != 26 {
		t.Errorf("%d flags, want 26", got)
	}
	s.Post(importAt, form("do", "example", "example", "shop")).Check(412).Contains("without flags and segments")
}

// TestExport: a download is byte for byte what the command line writes.
func TestExport(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Get(exportAt).Check(200).Contains("Export", "guidon export --namespaces default")
	for _, test := range []struct {
		name   string
		format document.Format
		sort   bool
	}{{"yaml", document.YAML, false}, {"yaml", document.YAML, true}, {"json", document.JSON, false}} {
		address := exportAt + "?download=" + test.name
		if test.sort {
			address += "&sort=key"
		}
		r := s.Get(address).Check(200)
		if got, want := r.Header.Get("Content-Disposition"), `attachment; filename="default.`+test.name+`"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		view, err := s.Service.View(t.Context(), "default", service.Demand{})
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := document.Encode(&want, test.format, []*service.Document{view.Export(test.sort).Document()}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), r.Body); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
		if !test.sort { // which changes the order of variants
			s.Upload(importAt, form("do", "preview", "mode", "replace", "text", r.Body)).Check(200).Contains("Nothing would change")
		}
	}
	s.Get(exportAt + "?download=xml").Check(400)
	s.Get(exportAt + "?download=yaml&flag=nothing").Check(404)
}

func TestExportSelected(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Import("", []byte(file+"  - key: unused\n    name: Unused\n"))
	if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: "other", Name: "Other"}); err != nil {
		t.Fatal(err)
	}
	s.Get(exportAt+"?flag=wish").Check(200).Contains("The flags you selected", "wish")
	documents, err := document.Decode([]byte(viewer(s).Get(exportAt+"?download=yaml&flag=wish").Check(200).Body), document.YAML, document.RejectUnknown)
	if err != nil || len(documents) != 1 || len(documents[0].Flags) != 1 || len(documents[0].Segments) != 1 {
		t.Fatalf("got %v, %v", documents, err)
	}
	check(t, []string{documents[0].Flags[0].Key, documents[0].Segments[0].Key}, []string{"wish", "staff"})
}

func TestTransferExport(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Get(transferAt).Check(200).Contains("Import and export", "All 2 that you may see")
	shop := string(examples.Shop)
	if diff := cmp.Diff(shop, s.Get(transferAt+"?download=yaml&all=1").Check(200).Body); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}
	if got := s.Get(transferAt + "?download=yaml&namespace=warehouse").Check(200).Body; strings.Contains(got, "checkout") || !strings.Contains(got, "warehouse") {
		t.Errorf("got %s", got)
	}
	for _, query := range []string{"", "&namespace=default&namespace=default", "&namespace=default&namespace=warehouse&namespace=default"} {
		s.Get(transferAt + "?download=yaml" + query).Check(422).Contains("Select the namespaces to export, each once")
	}
	confined := s.As(s.SignIn(service.TokenInput{Name: "One", Namespaces: []string{"warehouse"}, Role: service.RoleViewer}))
	confined.Get(transferAt + "?download=yaml&namespace=default").Check(403)
}

const two = file + "---\nnamespace: {key: second, name: Second}\nflags: [{key: two, name: Two}]\n"

func TestTransferImport(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	r := s.Upload(transferAt, form("do", "preview", "text", two)).Check(200).Contains("new namespace", "Wish list", "Two", "4 changes in 2 namespaces")
	again(s, r, "apply", "message", "both").Check(200).Contains("Imported.", "Second", "Revision")
	check(t, keys(t, s, "default"), []string{"wish"})
	check(t, keys(t, s, "second"), []string{"two"})
	s.Upload(transferAt, form("do", "preview", "text", two)).Check(200).Contains("Nothing would change")
	s.Upload(transferAt, form("do", "preview", "text", file+"---\n"+file)).Check(422).Contains("twice")
	s.Upload(transferAt, form("do", "preview", "text", strings.Repeat("namespace: x\n---\n", 60))).Check(422).Contains("more than 50 namespaces")
}

// TestTransferStops: what fails is said, and so is what was done before and not done after.
func TestTransferStops(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	s.Import("second", []byte(file))
	three := two + "---\nnamespace: {key: third, name: Third}\n"
	r := s.Upload(transferAt, form("do", "preview", "text", three)).Check(200)
	if _, _, err := s.Service.CreateFlag(t.Context(), service.Write{}, "second", guidon.Flag{Key: "two", Name: "Mine"}); err != nil {
		t.Fatal(err)
	}
	r = again(s, r, "apply").Check(409).Contains("Not everything was imported", "imported", "failed", "It was changed meanwhile", "not imported", "Show what is left")
	check(t, keys(t, s, "default"), []string{"wish"})
	if view, _ := s.Service.View(t.Context(), "second", service.Demand{}); view.Snapshot.Flag("two").Name != "Mine" {
		t.Error("the change of somebody else was overwritten")
	}
	action, fields := r.Form("again")
	fields.Set("do", "preview")
	r = s.Upload(action, fields).Check(200)
	again(s, r, "apply").Check(200).Contains("Imported.")
	again(s, r, "apply", "include", "nothing").Check(422).Contains("Select a namespace to import")
}

// TestImportAdditions: what the database does not store yet is said, not taken for a conflict.
func TestImportAdditions(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	if _, err := s.DB.SQL().ExecContext(t.Context(), "DELETE FROM schema_steps WHERE version_id = 9"); err != nil {
		t.Fatal(err)
	}
	const want = "of earlier releases cannot read this; once none is left, run guidon migrate additions"
	text := "version: guidon/1\n" + file + "    constraints: [{type: STRING_COMPARISON_TYPE, property: p, operator: eq, value: v, not: true}]\n"
	one := s.Upload(importAt, form("do", "preview", "text", text)).Check(200)
	again(s, one, "apply").Check(422).Contains(want).Lacks("Something was saved meanwhile")
	all := s.Upload(transferAt, form("do", "preview", "text", text)).Check(200)
	again(s, all, "apply").Contains(want).Lacks("It was changed meanwhile")
	check(t, keys(t, s, "default"), nil)
	if _, err := migrate.Additions(t.Context(), s.DB.SQL(), s.DB.Dialect()); err != nil {
		t.Fatal(err)
	}
	again(s, one, "apply").Location()
	check(t, keys(t, s, "default"), []string{"wish"})
}

func TestTransferRights(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	editor := s.As(s.SignIn(service.TokenInput{Name: "Editor", Role: service.RoleEditor}))
	r := editor.Upload(transferAt, form("do", "preview", "text", two)).Check(200).Contains("Creating it takes Admin in it")
	again(editor, r, "apply").Check(200).Contains("imported", "not selected")
	check(t, keys(t, s, "default"), []string{"wish"})
	r = viewer(s).Upload(transferAt, form("do", "preview", "text", strings.Replace(file, "Wish", "Other", 1))).Check(200).Contains("View only")
	if got := buttons(r); slices.Contains(got, "apply") {
		t.Errorf("a viewer has the buttons %q", got)
	}
	again(viewer(s), r, "apply", "include", "default").Check(403)
}

// TestTransferCreates: an admin of some namespaces creates one of them by a file, and no other.
func TestTransferCreates(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	admin := s.As(s.SignIn(service.TokenInput{Name: "Pay", Role: service.RoleAdmin, Namespaces: []string{"pay-*"}}))
	text := strings.Replace(file, "namespace: default", "namespace: {key: pay-eu, name: Pay EU}", 1) + "---\n" + strings.Replace(file, "namespace: default", "namespace: shop", 1)
	r := admin.Upload(transferAt, form("do", "preview", "text", text)).Check(200).Contains("Pay EU", "Creating it takes Admin in it")
	again(admin, r, "apply").Check(200).Contains("imported")
	check(t, keys(t, s, "pay-eu"), []string{"wish"})
	if _, err := s.Service.View(t.Context(), "shop", service.Demand{}); guidon.CodeOf(err) != guidon.NotFound {
		t.Errorf("the namespace of others: got error %v", err)
	}
}

// TestHostile: whatever a file has in it, the pages consist of the same elements.
func TestHostile(t *testing.T) {
	s := webtest.New(t, webtest.Options{Empty: true})
	page := func(address, text string) string {
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
		doc := "namespace: {key: default, name: " + quoted + "}\nflags: [{key: a, name: " + quoted + ", description: " + quoted + ", variants: [{key: " + quoted + "}]}]\nsegments: [{key: b, name: " + quoted +
			", constraints: [{type: STRING_COMPARISON_TYPE, property: " + quoted + ", operator: eq, value: " + quoted + "}]}]\n"
		return s.Upload(address, form("do", "preview", "text", doc)).Check(200).Elements()
	}
	for _, address := range []string{importAt, transferAt} {
		want := page(address, "harmless")
		for _, text := range []string{
			`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</title><svg onload=alert(1)>`, `</td></tr></table><form action=//evil.example>`,
			`javascript:alert(1)`, `//evil.example`, `<!--`, `-->`, `</textarea><script>`, `<select>`, `<plaintext>`, `{{.}}`, `&lt;b&gt;`, `"`, `'`, "`", `\`, "مرحبا", "👩\u200d👩\u200d👧", strings.Repeat("x", 255), "../../etc", "%2e%2e%2f", "?a=b#c",
		} {
			if got := page(address, text); got != want {
				t.Errorf("%s %q has other elements: %s", address, text, cmp.Diff(want, got))
			}
		}
	}
}
