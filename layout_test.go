package guidon_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler/auth"
	"github.com/guidonhq/guidon/handler/stream"
)

const module = "github.com/guidonhq/guidon"

// listed holds the fields of `go list -json` that the tests use.
type listed struct {
	ImportPath string
	Dir        string
	Standard   bool
	Deps       []string
	GoFiles    []string
	Module     *struct{ Path string }
}

func list(t *testing.T, args ...string) []listed {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Dir,Standard,Deps,GoFiles,Module"}, args...)...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// lambdaTags are the build tags of the AWS Lambda function.
const lambdaTags = "-tags=lambda.norpc"

// TestImports checks the code against the arrows of docs/architecture.md: which packages
// outside the standard library each part may depend on. It ignores test files.
func TestImports(t *testing.T) {
	protobuf := []string{"google.golang.org/protobuf", "google.golang.org/genproto/googleapis/api"}
	wire := append([]string{module + "/handler/wire"}, protobuf...)
	clock, lists := module+"/internal/clock", module+"/internal/lists"
	engine := []string{module, module + "/analysis", module + "/change", clock, lists}
	base := slices.Concat(engine, []string{module + "/service", module + "/internal/flight"})
	handler := module + "/handler/"
	limits := []string{module, handler + "limit", "golang.org/x/sync/semaphore"}
	codecs := []string{handler + "codec", handler + "codec/jsontext", handler + "codec/quick", lists}
	calls := slices.Concat(base, wire, limits)
	exchanges := slices.Concat(calls, codecs, []string{handler + "call", "github.com/go-chi/chi/v5"})
	subjects := slices.Concat(exchanges, []string{handler + "exchange", handler + "convert"})
	documents := []string{module + "/document", "github.com/rogpeppe/go-internal/diff", "go.yaml.in/yaml/v3"}
	tokens := slices.Concat(base, []string{
		handler + "login/issuer", handler + "login/provider", "github.com/go-jose/go-jose/v4", "github.com/golang-jwt/jwt", "golang.org/x/oauth2",
	})
	parts := []struct {
		part    string // a package, or with a trailing /... all packages in a directory
		allowed []string
	}{
		{module, nil},
		{module + "/analysis", []string{module, lists}},
		{module + "/change", []string{module, module + "/analysis", clock, lists}},
		{module + "/internal/clock", nil},
		{module + "/internal/flight", nil},
		{module + "/internal/lists", nil},
		{module + "/service", engine},
		{module + "/deliver", base},
		{module + "/deliver/audit", slices.Concat(base, []string{module + "/deliver", module + "/deliver/webhook", "code.dny.dev/ssrf"})},
		{module + "/deliver/webhook", slices.Concat(base, []string{module + "/deliver", "code.dny.dev/ssrf"})},
		{module + "/document", slices.Concat(base, documents)},
		{module + "/document/unleash", base},
		{module + "/handler/wire/...", wire},
		{module + "/handler/codec/jsontext", nil},
		{module + "/handler/codec/quick", slices.Concat(wire, []string{module + "/handler/codec/jsontext"})},
		{module + "/handler/codec", slices.Concat(engine, wire, codecs)},
		{module + "/handler/convert", slices.Concat(base, wire, []string{handler + "codec/jsontext"})},
		{module + "/handler/limit", limits},
		{module + "/handler/call", calls},
		{module + "/handler/management", slices.Concat(calls, codecs, []string{handler + "call", handler + "convert"})},
		{module + "/handler/plan", slices.Concat(calls, codecs, documents, []string{handler + "call", handler + "convert"})},
		{module + "/handler/exchange", exchanges},
		{module + "/handler/evaluation", subjects},
		{module + "/handler/stream", subjects},
		{module + "/handler/auth", subjects},
		{module + "/handler/web/part", []string{"github.com/a-h/templ"}},
		{module + "/handler/web/page", slices.Concat(exchanges, []string{handler + "exchange", handler + "web/part", "github.com/a-h/templ"})},
		{module + "/handler/web/...", slices.Concat(exchanges, documents, []string{handler + "exchange", handler + "convert", handler + "web", module + "/examples", "github.com/a-h/templ"})},
		{module + "/handler/login/provider", []string{module}},
		{module + "/handler/login/issuer", tokens},
		{module + "/handler/login/loginstate", []string{module, clock}},
		{module + "/handler/login/bearer", tokens},
		{module + "/handler/login/codehost", slices.Concat(tokens, []string{handler + "login/loginstate"})},
		{module + "/handler/login/kubernetes", tokens},
		{module + "/handler/login/oidc", slices.Concat(tokens, []string{
			handler + "login/loginstate", "github.com/coreos/go-oidc/v3",
		})},
		{module + "/handler/diagnostics", slices.Concat(exchanges, []string{handler + "exchange"})},
		{module + "/handler/ofrep", slices.Concat(subjects, []string{handler + "evaluation", handler + "stream"})},
		{module + "/examples", nil},
		{module + "/handler", slices.Concat(subjects, documents, []string{
			handler + "plan", handler + "evaluation", handler + "stream", handler + "ofrep", handler + "auth", handler + "management", handler + "diagnostics",
		})},
		{module + "/runtimes/server/tcp", []string{"golang.org/x/sys"}},
		{module + "/runtimes/server/quickgrpc", slices.Concat(wire, []string{"google.golang.org/grpc", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text", "google.golang.org/genproto/googleapis/rpc"})},
	}
	for _, part := range parts {
		for _, p := range list(t, part.part) {
			if strings.HasSuffix(p.ImportPath, "/webtest") {
				continue // it runs the whole service, for tests
			}
			for _, dep := range outside(t, p) {
				if !slices.ContainsFunc(slices.Concat(part.allowed, []string{p.ImportPath}), func(a string) bool { return under(dep, a) }) {
					t.Errorf("%s must not depend on %s", p.ImportPath, dep)
				}
			}
		}
	}

	forbidden := []struct {
		part string
		not  []string
	}{
		{module + "/runtimes/...", []string{module + "/store", module + "/migrate", module + "/cmd", "modernc.org/sqlite"}},
		{module + "/store/...", []string{module + "/handler", module + "/migrate", module + "/runtimes", module + "/cmd", "net/http", "modernc.org/sqlite"}},
		{module + "/migrate/...", []string{module + "/handler", module + "/store/cache", "modernc.org/sqlite", module + "/runtimes", module + "/cmd"}},
		// Unused packages would be loaded at every cold start.
		{module + "/cmd/guidon-lambda", []string{
			module + "/runtimes/server", "google.golang.org/grpc", "modernc.org/sqlite", "net/rpc", "net/http/pprof",
			"github.com/prometheus/client_golang", "github.com/spf13/cobra", "go.opentelemetry.io", "github.com/twmb/franz-go", "testing",
		}},
	}
	for _, part := range forbidden {
		for _, p := range list(t, lambdaTags, part.part) {
			if strings.HasSuffix(p.ImportPath, "test") {
				continue // store/storetest is imported by tests only
			}
			for _, dep := range p.Deps {
				if slices.ContainsFunc(part.not, func(n string) bool { return under(dep, n) }) {
					t.Errorf("%s must not depend on %s", p.ImportPath, dep)
				}
			}
		}
	}
}

// under reports whether path is the package or in its directory. The module path means
// the root package only.
func under(path, pkg string) bool {
	return path == pkg || pkg != module && strings.HasPrefix(path, pkg+"/")
}

var standard = map[string]bool{}

// outside returns the dependencies of p that are not in the standard library.
func outside(t *testing.T, p listed) []string {
	t.Helper()
	if len(standard) == 0 {
		for _, s := range list(t, "std") {
			standard[s.ImportPath] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(p.Deps), func(dep string) bool {
		return standard[dep] || strings.HasPrefix(dep, "vendor/") || dep == "unsafe" || dep == "C"
	})
}

// TestTestingStaysInTests: no binary links package testing.
func TestTestingStaysInTests(t *testing.T) {
	for _, p := range list(t, "./cmd/...") {
		if slices.Contains(p.Deps, "testing") {
			t.Errorf("%s links package testing", p.ImportPath)
		}
	}
}

// TestLoginIsForCommands: the handler knows signing in as an interface only. What
// implements it is for the commands.
func TestLoginIsForCommands(t *testing.T) {
	login := module + "/handler/login"
	for _, p := range list(t, "./...") {
		if under(p.ImportPath, module+"/cmd") || under(p.ImportPath, login) || strings.HasSuffix(p.ImportPath, "/webtest") {
			continue // the last runs the whole service, for tests
		}
		for _, dep := range p.Deps {
			if under(dep, login) {
				t.Errorf("%s must not depend on %s", p.ImportPath, dep)
			}
		}
	}
}

// TestCommandsAreApart: the commands of one subject do not depend on those of another, except
// that the edit of an object shows its plan. What subjects share is package cli.
func TestCommandsAreApart(t *testing.T) {
	const commands = module + "/cmd/internal/command/"
	allowed := map[string][]string{commands + "cli": nil, commands + "object": {commands + "cli", commands + "changes"}}
	for _, p := range list(t, "./cmd/internal/command/...") {
		may, known := allowed[p.ImportPath]
		if !known {
			may = []string{commands + "cli"}
		}
		for _, dep := range p.Deps {
			if strings.HasPrefix(dep, commands) && !slices.Contains(may, dep) {
				t.Errorf("%s must not depend on %s", p.ImportPath, dep)
			}
		}
	}
}

// TestTopLevel: the root directory has only the directories of docs/architecture.md.
func TestTopLevel(t *testing.T) {
	allowed := []string{
		".ci", ".git", "bin", // tooling and build output
		"analysis", "change", "service", "deliver", "document", "handler", "runtimes", "store", "migrate", "internal", "cmd", "bench", "infra", "integration", "docs", "examples", "testdata",
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && !slices.Contains(allowed, e.Name()) {
			t.Errorf("directory %s/ is not part of the layout", e.Name())
		}
	}
}

// TestPackageComments: each package has exactly one package comment.
func TestPackageComments(t *testing.T) {
	for _, p := range list(t, "./...") {
		count := 0
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if hasDoc(file) {
				count++
			}
		}
		if len(p.GoFiles) > 0 && count != 1 {
			t.Errorf("%s has %d package comments, want 1", p.ImportPath, count)
		}
	}
}

func hasDoc(file *ast.File) bool {
	return file.Doc != nil && strings.TrimSpace(file.Doc.Text()) != ""
}

// TestReasonsAreListed: the lists of reasons, from which counters begin at zero, have all constants.
func TestReasonsAreListed(t *testing.T) {
	for _, list := range []struct {
		file, prefix string
		names        int
	}{
		{"handler/auth/refusal.go", "Reason", len(auth.Reasons)}, {"handler/stream/hub.go", "Ended", len(stream.Reasons)},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), list.file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		constants := 0
		ast.Inspect(file, func(n ast.Node) bool {
			if value, ok := n.(*ast.ValueSpec); ok && len(value.Values) == 1 && strings.HasPrefix(value.Names[0].Name, list.prefix) {
				if _, text := value.Values[0].(*ast.BasicLit); text {
					constants++
				}
			}
			return true
		})
		if constants != list.names {
			t.Errorf("%s: Reasons has %d of %d constants %s…", list.file, list.names, constants, list.prefix)
		}
	}
}
