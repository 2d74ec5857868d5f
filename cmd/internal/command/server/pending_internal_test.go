package server

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/internal/bubble"
)

// Keys that change between two batches are in the next batch, once each.
func TestPendingKeys(t *testing.T) {
	many := make([]string, 2*maxPendingKeys)
	for i := range many {
		many[i] = fmt.Sprint("namespace-", i)
	}
	for _, tt := range []struct {
		name  string
		added []string
		want  []string
	}{
		{"one", []string{"a"}, []string{"a"}},
		{"a burst", []string{"b", "a", "b", "a"}, []string{"a", "b"}},
		{"everything", []string{"a", "", "b"}, nil},
		{"more than the maximum", many, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) {
				n, done := newPendingKeys(), make(chan struct{})
				for range 2 { // the second time like the first
					for _, key := range tt.added {
						n.add(key)
					}
					for keys := range n.batches(done) {
						if diff := cmp.Diff(tt.want, keys); diff != "" {
							t.Errorf("(-want +got):\n%s", diff)
						}
						break
					}
				}
				ended := make(chan struct{})
				go func() {
					defer close(ended)
					for keys := range n.batches(done) {
						t.Errorf("got another batch %q", keys)
					}
				}()
				synctest.Wait()
				close(done)
				<-ended
			})
		})
	}
}
