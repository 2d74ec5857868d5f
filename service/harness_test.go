package service_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
	"github.com/guidonhq/guidon/store/storetest"
)

// newService returns a service over an empty SQLite database with the default
// namespace.
func newService(t *testing.T) *service.Service {
	t.Helper()
	return service.NewService(newStore(t), time.Now)
}

func newStore(t testing.TB) *store.DB {
	t.Helper()
	return storetest.NewSQLite(t)
}

// parse decodes one document from YAML.
func parse(t *testing.T, text string) *service.Document {
	t.Helper()
	documents, err := document.Decode([]byte(text), document.YAML, document.RejectUnknown)
	if err != nil || len(documents) != 1 {
		t.Fatalf("got %d documents, %v", len(documents), err)
	}
	return documents[0]
}

// mustImport imports a document into the namespace that it names.
func mustImport(t *testing.T, s *service.Service, text string, mode service.ImportMode) *service.WriteResult {
	t.Helper()
	d := parse(t, text)
	result, _, err := s.Import(t.Context(), service.Write{}, d.Namespace.Key, d, mode, false)
	if err != nil {
		t.Fatalf("Import: %v", err)
	}
	return result
}

// exported returns the namespace as YAML.
func exported(t *testing.T, s *service.Service, namespace string) string {
	t.Helper()
	var out strings.Builder
	d := view(t, s, namespace).Export(false).Document()
	if err := document.Encode(&out, document.YAML, []*service.Document{d}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// revision returns the current revision number of the namespace.
func revision(t *testing.T, s *service.Service, namespace string) int64 {
	t.Helper()
	v, err := s.ViewOrEmpty(t.Context(), namespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	return v.Revision
}

// view returns the current state of the namespace, which must exist.
func view(t *testing.T, s *service.Service, namespace string) service.View {
	t.Helper()
	v, err := s.View(t.Context(), namespace, service.Demand{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// flag returns a flag that must exist.
func flag(t *testing.T, s *service.Service, namespace, key string) *guidon.Flag {
	t.Helper()
	f, err := view(t, s, namespace).Flag(key)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// wantNoNamespace checks that the namespace does not exist.
func wantNoNamespace(t *testing.T, s *service.Service, namespace string) {
	t.Helper()
	if _, err := s.View(t.Context(), namespace, service.Demand{}); !errors.Is(err, guidon.NotFound) {
		t.Errorf("namespace %q: got %v, want NotFound", namespace, err)
	}
}

// summary returns one line for each change.
func summary(result *service.WriteResult) []string {
	var out []string
	for _, c := range result.Changes {
		out = append(out, fmt.Sprintf("%s %s %s", c.Action, c.Kind, c.Key))
	}
	return out
}
