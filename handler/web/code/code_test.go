package code_test

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/web/code"
	"github.com/guidonhq/guidon/handler/web/webtest"
	"github.com/guidonhq/guidon/service"
)

func address(namespace, flag, language string) string {
	return "/namespaces/" + namespace + "/flags/" + flag + "/code?lang=" + language
}

// codeOf returns the code on the page, as its button copies it and as it is shown.
func codeOf(t *testing.T, r *webtest.Reply) string {
	t.Helper()
	shown := ""
	for n := range r.All("pre")[0].Descendants() {
		if n.Type == html.TextNode {
			shown += n.Data
		}
	}
	for _, n := range r.All("button") {
		if webtest.Attribute(n, "aria-label") == "Copy the code" {
			if diff := cmp.Diff(webtest.Attribute(n, "data-copy"), shown); diff != "" {
				t.Errorf("the code that is shown (-copied +shown):\n%s", diff)
			}
			return webtest.Attribute(n, "data-copy")
		}
	}
	t.Fatal("no button copies the code")
	return ""
}

// TestCode: each language asks for the flag, with what it looks at, at this address.
func TestCode(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	for _, test := range []struct {
		namespace, flag, language string
		want                      []string
	}{
		{"default", "checkout-redesign", "go", []string{`ofrep.NewProvider("http://flags.test",`, `os.Getenv("GUIDON_TOKEN")`, `.StringValue(ctx,`, `"checkout-redesign", "classic"`, `"return_rate": user.ReturnRate,`}},
		{"default", "checkout-redesign", "node", []string{`await OpenFeature.getClient().getStringValue("checkout-redesign", "classic"`, `"return_rate": user.returnRate,`, "`Bearer ${process.env.GUIDON_TOKEN}`"}},
		{"default", "checkout-redesign", "java", []string{`.getStringValue(`, `.add("staff", user.staff())`}},
		{"default", "checkout-redesign", "python", []string{`.get_string_value(`, `"return_rate": user.return_rate,`, `os.environ['GUIDON_TOKEN']`}},
		{"default", "checkout-redesign", "browser", []string{`OFREPWebProvider`, `OpenFeature.getClient().getStringValue("checkout-redesign", "classic")`}},
		{"default", "checkout-redesign", "flipt", []string{`client.evaluation.variant({`, `"orders": String(user.orders),`, `answer.variantKey`}},
		{"default", "checkout-redesign", "curl", []string{`curl 'http://flags.test/ofrep/v1/evaluate/flags/checkout-redesign'`, `Bearer $GUIDON_TOKEN`, `"country": "DE"`}},
		{"default", "checkout-redesign", "guidon", []string{`guidon evaluate`, `--address 'http://flags.test'`}},
		{"default", "one-click-buy", "go", []string{`.BooleanValue(ctx,`, `"one-click-buy", false`}},
		{"default", "one-click-buy", "flipt", []string{`client.evaluation.boolean({`, `answer.enabled`}},
		{"warehouse", "batch-size", "go", []string{`.FloatValue(ctx,`, `ofrep.WithHeader("X-Guidon-Namespace", "warehouse")`}},
		{"warehouse", "batch-size", "java", []string{`getDoubleValue`, `"X-Guidon-Namespace", ImmutableList.of("warehouse")`}},
		{"warehouse", "batch-size", "python", []string{`get_float_value`, `"X-Guidon-Namespace": "warehouse",`}},
		{"warehouse", "batch-size", "curl", []string{`-H 'X-Guidon-Namespace: warehouse'`}},
		{"warehouse", "batch-size", "guidon", []string{`--namespace 'warehouse'`}},
	} {
		got := codeOf(t, s.Get(address(test.namespace, test.flag, test.language)).Check(200))
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s in %s does not have %s:\n%s", test.flag, test.language, want, got)
			}
		}
	}
	s.Get(address("default", "checkout-redesign", "go")).Check(200).Contains("What it may answer classic one-page express", "return_rate number staff yes or no", "New token")
	s.Get(address("default", "nope", "go")).Check(404)
}

// TestSamples: the samples are values of the properties, whatever they are compared with.
func TestSamples(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	s.Import("apps", []byte(`version: guidon/1
namespace: {key: apps, name: Apps}
flags:
- {key: upgrade, name: Upgrade, type: BOOLEAN_FLAG_TYPE, enabled: false, rollouts: [{segment: {key: all, value: true}}]}
segments:
- key: all
  name: All
  constraints:
  - {type: VERSION_COMPARISON_TYPE, property: app, operator: gte, value: "2.4", not: true}
  - {type: PATTERN_COMPARISON_TYPE, property: email, operator: eq, value: "^lea@"}
  - {type: LIST_COMPARISON_TYPE, property: roles, operator: allof, value: '["admin",1]'}
  - {type: ADDRESS_COMPARISON_TYPE, property: home, operator: isoneof, value: '["192.0.2.0/24"]'}
  - {type: ADDRESS_COMPARISON_TYPE, property: ip, operator: isoneof, value: '["192.0.2.0/24","::1"]'}
`))
	got := codeOf(t, s.Get(address("apps", "upgrade", "curl")).Check(200))
	if want := `"app": "2.4", "email": "text", "home": "192.0.2.1", "ip": "::1", "roles": "admin"`; !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	s.Get(address("apps", "upgrade", "go")).Check(200).Contains("app version email pattern home address ip address roles list")
}

// TestLanguage: the language that was chosen is remembered.
func TestLanguage(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	cookie := ""
	for _, c := range s.Get(address("default", "one-click-buy", "python")).Check(200).Result.Cookies() {
		if c.Name == "guidon_preferences" {
			cookie = c.Name + "=" + c.Value
		}
	}
	if cookie == "" {
		t.Fatal("the language is not remembered")
	}
	if got := codeOf(t, s.Get("/namespaces/default/flags/one-click-buy/code", "Cookie", cookie).Check(200)); !strings.Contains(got, "import os") {
		t.Errorf("got %s", got)
	}
	if got := codeOf(t, s.Get(address("default", "one-click-buy", "cobol")).Check(200)); !strings.Contains(got, "go-sdk") {
		t.Errorf("of an unknown language: got %s", got)
	}
	page := s.Get("/namespaces/default/flags/one-click-buy/code")
	if again := s.Get("/namespaces/default/flags/one-click-buy/code", "If-None-Match", page.Header.Get("ETag")); again.Status != http.StatusNotModified {
		t.Errorf("the same page again: got %d, want 304", again.Status)
	}
}

// TestViewer: who cannot make tokens, because of a role or where there are none, is not offered to.
func TestViewer(t *testing.T) {
	s := webtest.New(t, webtest.Options{})
	viewer := s.As(s.SignIn(service.TokenInput{Name: "guest", Role: service.RoleViewer}))
	viewer.Get(address("default", "one-click-buy", "go")).Check(200).Lacks("New token")
	off := webtest.New(t, webtest.Options{Open: true, Handler: func(c *handler.Config) { c.Authentication.TokenMethod = false }})
	off.Get(address("default", "one-click-buy", "go")).Check(200).Lacks("New token")
}

// TestCurl runs the commands on the page.
func TestCurl(t *testing.T) {
	for _, program := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	s := webtest.New(t, webtest.Options{})
	at := s.Listen()
	secret, _, err := s.Service.CreateToken(t.Context(), service.Write{}, service.TokenInput{Name: "code", Role: service.RoleEvaluator})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		namespace, flag string
		want            any
	}{
		{"default", "checkout-redesign", "express"},
		{"default", "one-click-buy", false},
		{"warehouse", "batch-size", nil},
	} {
		command := codeOf(t, s.Get(address(test.namespace, test.flag, "curl")).Check(200))
		run := exec.CommandContext(t.Context(), "sh", "-c", strings.Replace(command, "curl ", "curl -sS ", 1)) // #nosec G204 -- of the page
		run.Env = append(run.Environ(), "GUIDON_TOKEN="+secret, "no_proxy=*")
		run.Args[2] = strings.ReplaceAll(run.Args[2], "http://flags.test", at)
		out, err := run.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		var got struct{ Key, Value, ErrorCode any }
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%s: %s", err, out)
		}
		if got.ErrorCode != nil || got.Key != test.flag || test.want != nil && got.Value != test.want {
			t.Errorf("%s: got %s, want the value %v", command, out, test.want)
		}
	}
}

// hostileTexts are names that must stay texts in every language.
var hostileTexts = []string{
	`"); os.Exit(1) //`, `'; exit 3 #`, "`id`", "$(id)", "a\nb", `\`, `'''`, `"""`, "${x}", "</pre><script>alert(1)</script>", "\u2028", "//", "#", "class", "", "1a", "ä ö", "%s", `\u0022`,
}

// TestHostile: names of any kind are texts in the code, and on the page.
func TestHostile(t *testing.T) {
	for _, kind := range []code.Kind{code.Boolean, code.Text, code.Number, code.Object} {
		for _, text := range hostileTexts {
			f := code.Flag{Address: "http://x", Namespace: "shop", Key: "k", Kind: kind, Default: text, Properties: []code.Property{{Name: text, Sample: `"a"`}, {Name: "b", Sample: "1"}}}
			source := code.Find("go").Write(f)
			imports, body, _ := strings.Cut(source, "\n)\n")
			if _, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+imports+"\n)\nfunc _() error {\n"+body+"\n}", 0); err != nil {
				t.Errorf("%q: %v\n%s", text, err, source)
			}
			for _, language := range []string{"curl", "guidon"} {
				words := wordsOf(t, code.Find(language).Write(f))
				if last := words[len(words)-1]; language == "curl" && !json.Valid([]byte(last)) || language == "guidon" && last != "k" {
					t.Errorf("%q in %s: the last word is %q", text, language, last)
				}
			}
		}
	}
}

// wordsOf returns the words of a command as a shell reads them. If the quotes are wrong, the
// shell runs texts as commands: so it finds no programs, and its home is an empty directory.
func wordsOf(t *testing.T, command string) []string {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), sh, "-c", `show() { printf '%s\0' "$@"; }; curl() { show "$@"; }; guidon() { show "$@"; }; `+command) // #nosec G204 -- a test
	run.Dir = t.TempDir()
	run.Env = []string{"PATH=" + run.Dir, "HOME=" + run.Dir}
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}
