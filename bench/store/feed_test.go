package store

import (
	commandline "flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

var feedRecords = commandline.Int("feed.records", 100_000, "change records of all namespaces whose changes are listed")

const feedNamespaces = 5000

// BenchmarkFeed lists the changes of 5,000 namespaces: the newest page and one in the middle, of
// all, and with filters. make bench runs it with a tenth of the records that the target is for;
// -feed.records=1000000 is all of them.
func BenchmarkFeed(b *testing.B) {
	open := map[string]func(b *testing.B) *store.DB{
		"sqlite": func(b *testing.B) *store.DB {
			db := harness.OpenStore(b, harness.SQLiteURL(b))
			if _, err := migrate.Up(b.Context(), db.SQL(), db.Dialect()); err != nil {
				b.Fatal(err)
			}
			return db
		},
	}
	for _, s := range harness.PrivateServers {
		open[s.Name] = func(b *testing.B) *store.DB {
			s.Need(b)
			return harness.OpenStore(b, s.Migrated(b))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(open)) {
		b.Run(name, func(b *testing.B) {
			db := open[name](b)
			begun := addFeed(b, db, *feedRecords)
			middle := change.Place{At: begun.Add(time.Duration(*feedRecords/2) * time.Second).UnixMicro()}
			team := func(namespace string) bool { return strings.HasPrefix(namespace, "n001") } // 10 namespaces
			half := func(namespace string) bool { return namespace < "n2500" }
			for _, bench := range []struct {
				name string
				feed change.Feed
				want int // records of the page, at least
			}{
				{"all", change.Feed{}, 50},
				{"middle", change.Feed{Before: middle}, 50},
				{"since", change.Feed{Since: new(time.UnixMicro(middle.At))}, 50},
				{"event", change.Feed{Events: []change.Event{change.EventDeleted}}, 50},
				{"event_middle", change.Feed{Events: []change.Event{change.EventTurnedOff, change.EventTurnedOn}, Before: middle}, 50},
				{"actor", change.Feed{Actor: "user:7"}, 50},
				{"rare_actor", change.Feed{Actor: "user:rare"}, 10},
				{"actor_event", change.Feed{Actor: "user:7", Events: []change.Event{change.EventTurnedOff}}, 0},
				{"namespace", change.Feed{In: "n0042"}, 20},
				{"few_visible", change.Feed{Visible: team}, 50},
				{"half_visible", change.Feed{Visible: half}, 50},
				{"event_few_visible", change.Feed{Visible: team, Events: []change.Event{change.EventTurnedOff}}, 0},
			} {
				bench.feed.Limit = 50
				b.Run(bench.name, func(b *testing.B) {
					for b.Loop() {
						found, _, err := db.AllChanges(b.Context(), bench.feed)
						if err != nil || len(found) < bench.want {
							b.Fatal(len(found), err)
						}
					}
				})
			}
		})
	}
}

// addFeed adds records of namespaces in turn, one each second, and returns when the first one was
// made. A tenth are of authentications.
func addFeed(b *testing.B, db *store.DB, records int) time.Time {
	b.Helper()
	for some := range slices.Chunk(slices.Collect(numbers(feedNamespaces)), 500) {
		var rows []string
		for _, i := range some {
			rows = append(rows, fmt.Sprintf("('n%04d', %d, %d, 0, %d, '{}')", i, records, i, i+10))
		}
		harness.Execute(b, db.SQL(), "INSERT INTO namespaces (namespace_key, revision, stamp, deleted, created_seq, body) VALUES "+strings.Join(rows, ", "))
	}
	begun := time.Now().Add(-time.Duration(records) * time.Second)
	body := `{"description":"` + strings.Repeat("x", 400) + `"}`
	for some := range slices.Chunk(slices.Collect(numbers(records)), 500) {
		var rows []string
		for _, i := range some {
			namespace, kind, event, actor := fmt.Sprintf("n%04d", i*7919%feedNamespaces), "flag", feedEvents[i%len(feedEvents)], fmt.Sprint("user:", i*31%200)
			if i%10 == 0 {
				namespace, kind, event = service.AuthenticationsKey, "authentication", change.EventAccess
			}
			if i%(records/10) == 1 {
				actor = "user:rare"
			}
			rows = append(rows, fmt.Sprintf("('%s', %d, 0, %d, '%s', 'checkout', 'update', '%s', '', 'METHOD_TOKEN', %d, '', %d, '%s', '%s', '%s')",
				namespace, i+2, i, kind, actor, begun.Add(time.Duration(i)*time.Second).UnixMicro(), 2*len(body), body, body, event))
		}
		harness.Execute(b, db.SQL(), `INSERT INTO changes (namespace_key, revision, seq, stamp, kind, object_key, action, actor, actor_name, actor_method,
			happened_at, request_id, body_size, before_body, after_body, event) VALUES `+strings.Join(rows, ", "))
	}
	return begun
}

// feedEvents are the events of records in turn, the usual ones more often.
var feedEvents = slices.Concat(
	slices.Repeat([]change.Event{change.EventTargeting, change.EventOther}, 16),
	slices.Repeat([]change.Event{change.EventTurnedOff, change.EventTurnedOn, change.EventCreated}, 5),
	[]change.Event{change.EventDeleted},
)

// numbers are those from 0.
func numbers(n int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}
