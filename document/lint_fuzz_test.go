package document_test

import (
	"testing"

	"github.com/guidonhq/guidon/document"
)

// FuzzLint checks that no input makes Lint panic, and that it finds errors exactly in what an
// import rejects.
func FuzzLint(f *testing.F) {
	f.Add([]byte(forgiven), false)
	f.Add([]byte(everythingYAML), false)
	f.Add([]byte("flags:\n- {key: a b, name: A, rollouts: [{segment: {key: s, value: true}}, ~]}\n"), false)
	f.Add([]byte("segments: [{key: s, name: S, constraints: [{type: X, property: a, operator: eq, value: b}]}]\n"), false)
	f.Add([]byte("{\"flags\": [{\"key\": \"a\", \"key\": \"b\", \"name\": \"A\"}, null]}\n{}"), true)
	f.Fuzz(func(t *testing.T, input []byte, isJSON bool) {
		if len(input) > 16<<10 {
			t.Skip("small inputs find more")
		}
		format := document.YAML
		if isJSON {
			format = document.JSON
		}
		documents, err := document.Decode(input, format, document.RejectUnknown)
		rejected := err != nil
		for _, d := range documents {
			rejected = rejected || d.Validate() != nil
		}
		report := document.Lint(input, format, document.RejectUnknown)
		if found := report.Errors() > 0; found != rejected {
			t.Errorf("an import rejects it: %t (%v), but Lint found %+v", rejected, err, report.Findings)
		}
	})
}
