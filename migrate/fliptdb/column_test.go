package fliptdb_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// Rows that cannot be read are findings with table, key and column. All other rows are
// imported.
func TestUnreadableRows(t *testing.T) {
	at := fliptdbtest.Stamps{Created: time.Unix(1, 0), Updated: time.Unix(1, 0)}
	data := func() *fliptdbtest.Data {
		return &fliptdbtest.Data{
			Namespaces:      []fliptdbtest.Namespace{{Key: "n", Stamps: at}},
			Segments:        []fliptdbtest.Segment{{Namespace: "n", Key: "s", Stamps: at}},
			Constraints:     []fliptdbtest.Constraint{{ID: "c", Namespace: "n", Segment: "s", Type: 1, Property: "p", Operator: "eq", Value: "x", Stamps: at}},
			Flags:           []fliptdbtest.Flag{{Namespace: "n", Key: "f", Stamps: at}, {Namespace: "n", Key: "g", Type: 1, Stamps: at}},
			Variants:        []fliptdbtest.Variant{{ID: "v", Namespace: "n", Flag: "f", Key: "v", Stamps: at}},
			Rules:           []fliptdbtest.Rule{{ID: "r", Namespace: "n", Flag: "f", Rank: 1, Stamps: at}},
			RuleSegments:    []fliptdbtest.Reference{{Owner: "r", Namespace: "n", Segment: "s"}},
			Distributions:   []fliptdbtest.Distribution{{ID: "d", Rule: "r", Variant: "v", Rollout: 100, Stamps: at}},
			Rollouts:        []fliptdbtest.Rollout{{ID: "o", Namespace: "n", Flag: "g", Type: 2, Rank: 1, Stamps: at}},
			Thresholds:      []fliptdbtest.Threshold{{ID: "t", Namespace: "n", Rollout: "o", Percentage: 5}},
			Authentications: []fliptdbtest.Authentication{{ID: "a", Hash: "1", Method: 1, Stamps: at}},
		}
	}
	const zero = `"0000-00-00 00:00:00" is not a time`
	incomplete := "rollouts o: skipped: it has neither a segment nor a threshold"
	for _, tt := range []struct {
		name, change string
		want         []string
	}{
		{"zero dates", "UPDATE variants SET created_at = '0000-00-00 00:00:00', updated_at = '0000-00-00 00:00:00'", []string{
			"variants v: skipped: created_at: " + zero + "; updated_at: " + zero,
			`distributions d: skipped: variant "v" does not belong to its flag`,
		}},
		{"a zero date of a parent row", "UPDATE flags SET updated_at = '0000-00-00 00:00:00' WHERE key = 'g'", []string{
			"flags n/g: skipped: updated_at: " + zero,
			`rollouts o: skipped: its flag "g" is not imported`,
			"rollout_thresholds t: skipped: its rollout is not imported",
		}},
		{"a zero expiry does not mean never", "UPDATE authentications SET expires_at = '0000-00-00 00:00:00'", []string{
			"authentications a: skipped: expires_at: " + zero,
		}},
		{"a partly zero date", "UPDATE constraints SET created_at = '2024-00-00'", []string{`constraints c: skipped: created_at: "2024-00-00" is not a time`}},
		{"a year out of range", "UPDATE constraints SET created_at = 9223372036854775807", []string{"constraints c: skipped: created_at: the year 292278994 is out of range"}},
		{"no time", "CREATE TABLE x AS SELECT * FROM distributions; UPDATE x SET created_at = NULL; DROP TABLE distributions; ALTER TABLE x RENAME TO distributions",
			[]string{"distributions d: skipped: created_at: must not be NULL"}},
		{"no id", "UPDATE constraints SET id = NULL", []string{"constraints : skipped: id: must not be NULL"}},
		{"a key that is not UTF-8", "UPDATE segments SET key = CAST(x'73ff' AS TEXT); DELETE FROM constraints; DELETE FROM rules; DELETE FROM rule_segments; DELETE FROM distributions",
			[]string{"segments n/s\uFFFD: skipped: key: not valid UTF-8"}},
		{"a description that is not UTF-8", "UPDATE constraints SET description = CAST(x'ff' AS TEXT)", []string{"constraints c: skipped: description: not valid UTF-8"}},
		{"a NUL", "UPDATE constraints SET value = CAST(x'610062' AS TEXT)", []string{"constraints c: skipped: value: contains a NUL character"}},
		{"not a number", "UPDATE constraints SET type = 'x'", []string{
			`constraints c: skipped: type: converting driver.Value type string ("x") to a int64: invalid syntax`,
		}},
		{"a number that is too large", "UPDATE rules SET rank = 1e30", []string{
			`rules r: skipped: rank: converting driver.Value type float64 ("1e+30") to a int64: invalid syntax`,
			"rule_segments r s: skipped: its rule is not imported",
			"distributions d: skipped: its rule is not imported",
		}},
		{"not a boolean", "UPDATE rollout_thresholds SET value = 7", []string{
			`rollout_thresholds t: skipped: value: sql/driver: couldn't convert 7 into type bool`, incomplete,
		}},
		{"a percentage out of range", "UPDATE rollout_thresholds SET percentage = 1e300", []string{
			"rollout_thresholds t: skipped: percentage 1e+300 is not between 0 and 100", incomplete,
		}},
		{"a rollout out of range", "UPDATE distributions SET rollout = -1", []string{"distributions d: skipped: rollout -1 is not between 0 and 100"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := flipt(t, data())
			for statement := range strings.SplitSeq(tt.change, ";") {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			content := read(t, db)
			var got []string
			for _, f := range content.Findings {
				got = append(got, f.String())
			}
			slices.Sort(got)
			slices.Sort(tt.want)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			write(t, content, target(t))
		})
	}
}

// A row whose key cannot be read must not be reported with the key of the previous row.
func TestUnreadableKey(t *testing.T) {
	at := fliptdbtest.Stamps{Created: time.Unix(1, 0), Updated: time.Unix(1, 0)}
	db := flipt(t, &fliptdbtest.Data{
		Namespaces: []fliptdbtest.Namespace{{Key: "n", Stamps: at}, {Key: "other", Stamps: at}},
	})
	if _, err := db.ExecContext(t.Context(), "UPDATE namespaces SET key = NULL WHERE key = 'other'"); err != nil {
		t.Fatal(err)
	}
	content := read(t, db)
	if len(content.Namespaces) != 1 || len(content.Findings) != 1 || content.Findings[0].Row != "namespaces " {
		t.Errorf("got %v and findings %v, want the row without a key skipped", content.Namespaces, content.Findings)
	}
}
