package database

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
)

// TestRegisterDuringCleanup: a reader that is registered while change records are being
// deleted is not registered before they are: it would see records that then vanish.
func TestRegisterDuringCleanup(t *testing.T) { eachWire(t, testRegisterDuringCleanup) }

func testRegisterDuringCleanup(t *testing.T, c *counter) {
	oldChanges(t, c.straight, 10)
	deleting, resume := make(chan struct{}), make(chan struct{})
	var once sync.Once
	c.wire.Inflict(func(r dbtest.Request) dbtest.Fault {
		if strings.Contains(strings.Join(r.Statements, "; "), "DELETE FROM changes ") {
			once.Do(func() { close(deleting) })
			<-resume
		}
		return dbtest.Pass
	})
	deleted := make(chan int, 1)
	go func() {
		n, err := c.faulty.DeleteChanges(t.Context(), time.Now(), 100)
		if err != nil {
			t.Error(err)
		}
		deleted <- n
	}()
	select {
	case <-deleting:
	case n := <-deleted:
		t.Fatalf("%d records were deleted without a pause", n)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if err := c.straight.RegisterReader(short, "r"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("registration during a deletion: got %v, want it to wait", err)
	}
	close(resume)
	if n := <-deleted; n != 9 {
		t.Errorf("%d records were deleted, want 9", n)
	}
	if err := c.straight.RegisterReader(t.Context(), "r"); err != nil {
		t.Fatal(err)
	}
	oldChanges(t, c.straight, 10)
	if n, err := c.straight.DeleteChanges(t.Context(), time.Now(), 100); n != 0 || err != nil {
		t.Errorf("%d records were deleted that the reader has not read, %v", n, err)
	}
	n, err := c.straight.ChangedNamespaces(t.Context(), "r", "", 10)
	if err != nil || len(n) != 1 || n[0].Key != guidon.DefaultNamespace {
		t.Errorf("the reader has records to read in %+v, %v, want the default namespace", n, err)
	}
}
