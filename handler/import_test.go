package handler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/guidonhq/guidon/handler"
)

// TestImportMemory checks that the memory of an imported document is limited, however
// short its body is: an empty flag of three bytes takes hundreds.
func TestImportMemory(t *testing.T) {
	const path = "/api/v1/namespaces/default/import"
	s := newInside(t, "has a limit of its own", func(c *handler.Config) { c.ImportMemory = 4 << 20 })
	for _, list := range []string{"flags", "segments"} {
		for _, size := range []int{300 << 10, 4<<20 - 100, 5 << 20} {
			t.Run(fmt.Sprintf("%s in %d bytes", list, size), func(t *testing.T) {
				body := `{"document":{"` + list + `":[` + strings.Repeat("{},", size/3) + `{}]}}`
				s.do("POST", path, body).fails(t, 413, 8, "the document takes more than 4 MiB of memory; import it in parts, each in update mode, or give the service more memory (GOMEMLIMIT)")
			})
		}
	}
	body := `{"document":{"flags":[{"key":"f","name":"F","description":"` + strings.Repeat("x", 300<<10) + `"}]}}`
	if got := s.do("POST", path, body); got.status != 200 {
		t.Errorf("a document within the limit: got %d %s", got.status, got.body)
	}
}
