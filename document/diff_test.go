package document_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/service"
)

// TestDiffObjects: the difference is about flags and segments, whatever the namespaces are.
func TestDiffObjects(t *testing.T) {
	doc := func(namespace string, name string) *service.Document {
		return &service.Document{
			Namespace: service.DocumentNamespace{Key: namespace, Name: "A", Description: "of\n" + namespace},
			Segments:  []*guidon.Segment{{Key: "s", Name: name, MatchType: guidon.MatchAny}},
		}
	}
	for _, test := range []struct {
		name          string
		before, after *service.Document
		want          string
	}{
		{"nothing", nil, nil, ""},
		{"equal", doc("a", "S"), doc("b", "S"), ""},
		{"created", nil, doc("b", "S"), "diff x y\n--- x\n+++ y\n@@ -0,0 +1,4 @@\n+segments:\n+  - key: s\n+    name: S\n+    match_type: ANY_MATCH_TYPE\n"},
		{"different", doc("a", "S"), doc("b", "T"), "diff x y\n--- x\n+++ y\n@@ -1,4 +1,4 @@\n segments:\n   - key: s\n-    name: S\n+    name: T\n     match_type: ANY_MATCH_TYPE\n"},
	} {
		got, err := document.DiffObjects("x", test.before, "y", test.after)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}
