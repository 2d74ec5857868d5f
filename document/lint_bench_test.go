//go:build unix

package document_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/guidonhq/guidon/document"
)

// large are texts of n parts each, in which one list or object is long.
var large = []struct {
	name   string
	format document.Format
	text   func(n int) string
}{
	{"flags", document.JSON, func(n int) string {
		return `{"flags":[` + join(n, `{"key":"f%d","name":"F","type":"BOOLEAN_FLAG_TYPE","rollouts":[{"threshold":{"percentage":50,"value":true}}]}`) + `]}`
	}},
	{"flags in YAML", document.YAML, func(n int) string {
		return "flags:\n" + strings.ReplaceAll(join(n, "- key: f%d\n  name: F\n  rules: []\n"), "\n,", "\n")
	}},
	{"empty flags", document.JSON, func(n int) string { return `{"flags":[` + join(n, "{}") + `]}` }},
	{"empty segments", document.JSON, func(n int) string { return `{"segments":[` + join(n, "{},null") + `]}` }},
	{"unknown members", document.JSON, func(n int) string { return `{"flags":[{` + join(n, `"m%d":1`) + `}]}` }},
	{"missing segments", document.JSON, func(n int) string {
		return `{"flags":[{"key":"f","name":"F","rules":[{"segment":{"keys":[` + join(n, `"s%d"`) + `]}}]}]}`
	}},
	{"rules", document.JSON, func(n int) string {
		return `{"flags":[{"key":"f","name":"F","rules":[` + join(n, `{"segment":"s"}`) + `]}],"segments":[{"key":"s","name":"S"}]}`
	}},
}

// join returns n items, separated by commas. The format may have the number of the item.
func join(n int, format string) string {
	items := make([]string, n)
	for i := range items {
		items[i] = format
		if strings.Contains(format, "%d") {
			items[i] = fmt.Sprintf(format, i)
		}
	}
	return strings.Join(items, ",")
}

// TestLintGrows: the work grows with the length of the text, not with its square.
func TestLintGrows(t *testing.T) {
	const n, factor = 3000, 8
	for _, test := range large {
		t.Run(test.name, func(t *testing.T) {
			few, many := lintWork(t, test.text(n), test.format), lintWork(t, test.text(n*factor), test.format)
			if many > factor*factor/2*max(few, 5*time.Millisecond) {
				t.Errorf("%d parts take %v, %d take %v", n, few, n*factor, many)
			}
		})
	}
}

// lintWork returns the time of processors that Lint takes.
func lintWork(t *testing.T, text string, format document.Format) time.Duration {
	before := processorTime(t)
	document.Lint([]byte(text), format, document.RejectUnknown)
	return processorTime(t) - before
}

func processorTime(t *testing.T) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano())
}

func BenchmarkLint(b *testing.B) {
	for _, test := range large {
		b.Run(test.name, func(b *testing.B) {
			text := []byte(test.text(100_000))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				document.Lint(text, test.format, document.RejectUnknown)
			}
		})
	}
}
