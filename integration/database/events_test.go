package database

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/service"
)

// TestAddEvents: records of earlier releases get their events, the newest first, in several runs.
func TestAddEvents(t *testing.T) {
	harness.EachDatabase(t, func(t *testing.T, s *harness.DatabaseServer) {
		db := harness.OpenStore(t, s.Migrated(t))
		for i := range 3 {
			_, err := db.Update(t.Context(), "default", service.Write{}, func(ctx context.Context, tx service.Tx) error {
				var errs []error
				for k := range 100 {
					errs = append(errs, tx.PutFlag(ctx, &guidon.Flag{Key: fmt.Sprint(k), Name: fmt.Sprint(i % 2), Enabled: i > 0, Type: guidon.BooleanFlag}))
				}
				return errors.Join(errs...)
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		of := func(event change.Event) int {
			t.Helper()
			found, _, err := db.AllChanges(t.Context(), change.Feed{Events: []change.Event{event}, Limit: 1000})
			if err != nil {
				t.Fatal(err)
			}
			return len(found)
		}
		harness.Execute(t, db.SQL(), "UPDATE changes SET event = ''")
		if all, _, err := db.AllChanges(t.Context(), change.Feed{Limit: 1000}); err != nil || len(all) != 301 || of(change.EventCreated) != 0 {
			t.Errorf("without events: %d changes, %d creations, %v", len(all), of(change.EventCreated), err)
		}
		for run, want := range []struct{ changed, others, turned, created int }{{150, 100, 50, 0}, {150, 100, 100, 100}, {1, 100, 100, 101}, {0, 100, 100, 101}} {
			changed, err := db.AddEvents(t.Context(), 150)
			got := struct{ changed, others, turned, created int }{changed, of(change.EventOther), of(change.EventTurnedOn), of(change.EventCreated)}
			if err != nil || got != want {
				t.Errorf("run %d: got %+v, %v, want %+v", run, got, err, want)
			}
		}
	})
}
