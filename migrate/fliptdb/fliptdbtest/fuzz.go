package fliptdbtest

import (
	"database/sql"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/migrate/fliptdb"
)

// Fuzz damages random rows and fields of the database, reads it, and restores it, in each
// round. Every flag must evaluate as before the damage, or be off or missing, and be in the
// findings. The database is one of [Data.StoreUnchecked]; reader is a connection to it as
// the command opens it.
func Fuzz(t *testing.T, d *Data, db, reader *sql.DB, dialect string, seed uint64, rounds int) {
	t.Helper()
	session, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 2))} // #nosec G404 -- reproducible
	f := &damager{generator: g, ctx: t.Context(), session: session, dialect: dialect, touched: map[string]bool{}}
	f.keep()
	outcomes := make(map[string]int)
	for round := range rounds {
		for range 1 + g.IntN(3) {
			f.damage()
		}
		if f.err != nil {
			t.Fatal(f.err)
		}
		options := fliptdb.Options{Damaged: pick(g, []fliptdb.Damaged{fliptdb.TurnOff, fliptdb.Omit})}
		content, err := fliptdb.Read(t.Context(), reader, dialect, options)
		if err != nil {
			t.Fatalf("round %d, %q: %v", round, f.done, err)
		}
		check := &check{g, d, content, snapshots(content), options.Damaged}
		for _, flag := range d.Flags {
			outcome, problem := check.flag(t, flag)
			if problem != "" {
				t.Fatalf("round %d, %q, --damaged %s: %s/%s %s; findings:\n%v",
					round, f.done, options.Damaged, flag.Namespace, flag.Key, problem, content.Findings)
			}
			outcomes[outcome]++
		}
		f.restore()
	}
	for _, outcome := range []string{"equal", "off", "missing"} {
		if outcomes[outcome] < rounds {
			t.Errorf("got the outcomes %v, want more of %q", outcomes, outcome)
		}
	}
}

// check compares an import with the data before the damage.
type check struct {
	*generator
	data      *Data
	content   *fliptdb.Content
	snapshots map[string]*guidon.Snapshot
	damaged   fliptdb.Damaged
}

func snapshots(content *fliptdb.Content) map[string]*guidon.Snapshot {
	all := make(map[string]*guidon.Snapshot)
	for _, n := range content.Namespaces {
		all[n.Key] = guidon.NewSnapshot(&n.Namespace, guidon.Revision{}, n.Flags, n.Segments)
	}
	return all
}

// flag returns the outcome of the import for the flag, or the problem if that is wrong.
func (c *check) flag(t *testing.T, flag Flag) (outcome, problem string) {
	t.Helper()
	listed := c.lists("flag " + flag.Namespace + "/" + flag.Key)
	snapshot := c.snapshots[flag.Namespace]
	var imported *guidon.Flag
	if snapshot != nil {
		imported = snapshot.Flag(flag.Key)
	}
	switch {
	case imported == nil && !listed && !c.lists("flags ") && !c.lists("namespaces "): // the damage may be a key in such a row
		return "", "is missing and not listed"
	case imported == nil:
		return "missing", ""
	case listed && c.damaged == fliptdb.Omit:
		return "", "is listed as damaged, but imported"
	case listed:
		if diff := cmp.Diff(off(imported), imported); diff != "" {
			return "", "is listed as off, but is not: " + diff
		}
		return "off", ""
	}
	for i := range 6 {
		entity, values := c.request(i)
		want, got := c.data.Evaluate(flag.Namespace, flag.Key, entity, values), evaluate(t, snapshot, flag, entity, values)
		if diff := cmp.Diff(want, got, attachments); diff != "" {
			return "", "is not listed, but evaluates differently: " + diff
		}
	}
	return "equal", ""
}

// lists reports whether there is a finding about something that is not imported as it is,
// and whose name is the subject, or begins with it if it ends in a space.
func (c *check) lists(subject string) bool {
	return slices.ContainsFunc(c.content.Findings, func(f fliptdb.Finding) bool {
		return f.Outcome != "" && (f.Subject == subject || strings.HasSuffix(subject, " ") && strings.HasPrefix(f.Subject, subject))
	})
}

// off returns a copy of the flag with only the fields that a flag that is off may keep.
func off(f *guidon.Flag) *guidon.Flag {
	return &guidon.Flag{
		Key: f.Key, Name: f.Name, Description: f.Description, Type: f.Type, Metadata: f.Metadata, CreatedAt: f.CreatedAt, UpdatedAt: f.UpdatedAt,
	}
}
