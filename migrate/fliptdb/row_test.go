package fliptdb_test

import (
	"strings"
	"testing"
	"time"

	"github.com/guidonhq/guidon/migrate/fliptdb/fliptdbtest"
)

// What cannot be read fails with everything that depends on it, up to the flag, for a reason
// with table, key and column. A time alone is replaced.
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
	const replaced = "; the time of the import replaces it"
	const zero = `"0000-00-00 00:00:00" is not a time`
	segment := func(reason string) []string {
		return []string{"segment n/s: not imported: " + reason, `flag n/f: imported off: rules r: segment "s": ` + reason}
	}
	for _, tt := range []struct {
		name, change string
		want         []string
	}{
		{"zero dates", "UPDATE variants SET created_at = '0000-00-00 00:00:00', updated_at = '0000-00-00 00:00:00'", []string{
			"variants v: created_at: " + zero + replaced, "variants v: updated_at: " + zero + replaced,
		}},
		{"the zero time", "UPDATE flags SET updated_at = '0001-01-01 00:00:00' WHERE key = 'g'", []string{"flags n/g: updated_at: is the zero time" + replaced}},
		{"a zero expiry does not mean never", "UPDATE authentications SET expires_at = '0000-00-00 00:00:00'", []string{
			"authentications a: not imported: expires_at: " + zero,
		}},
		{"a partly zero date", "UPDATE constraints SET created_at = '2024-00-00'", []string{`constraints c: created_at: "2024-00-00" is not a time` + replaced}},
		{"a year out of range", "UPDATE constraints SET created_at = 9223372036854775807", []string{"constraints c: created_at: the year 292278994 is out of range" + replaced}},
		{"no time of the only share", "UPDATE distributions SET created_at = NULL", []string{"distributions d: created_at: must not be NULL" + replaced}},
		{"no time of one of two shares", "INSERT INTO distributions SELECT 'e', rule_id, variant_id, rollout, NULL, updated_at FROM distributions", []string{
			"distributions e: created_at: must not be NULL" + replaced,
			"flag n/f: imported off: rules r: distributions e: the time of its creation, which decides who gets the variant, cannot be read",
		}},
		{"no time of one of two rules with the same rank", "INSERT INTO rules SELECT 's', flag_key, rank, NULL, updated_at, namespace_key, segment_operator FROM rules; INSERT INTO rule_segments SELECT 's', namespace_key, segment_key FROM rule_segments", []string{
			"rules s: created_at: must not be NULL" + replaced,
			"flag n/f: imported off: rules s: rank 1 is used twice, and the time of its creation, which decides which comes first, cannot be read",
		}},
		{"no id", "UPDATE constraints SET id = NULL", segment("constraints : id: must not be NULL")},
		{"a key that is not UTF-8", "UPDATE segments SET key = CAST(x'73ff' AS TEXT); DELETE FROM constraints", []string{
			"segments n/s\uFFFD: not imported: key: not valid UTF-8", `flag n/f: imported off: rules r: its segment "s" does not exist`,
		}},
		{"a description that is not UTF-8", "UPDATE constraints SET description = CAST(x'ff' AS TEXT)", segment("constraints c: description: not valid UTF-8")},
		{"a NUL", "UPDATE constraints SET value = CAST(x'610062' AS TEXT)", segment("constraints c: value: contains a NUL character")},
		{"not a number", "UPDATE constraints SET type = 'x'", segment(`constraints c: type: converting driver.Value type string ("x") to a int64: invalid syntax`)},
		{"a row that is there twice", "INSERT INTO constraints SELECT * FROM constraints", segment("constraints c: there are several such rows")},
		{"a flag that is there twice", "INSERT INTO flags SELECT * FROM flags WHERE key = 'f'", []string{"flag n/f: imported off: there are several such rows"}},
		{"a number that is too large", "UPDATE rules SET rank = 1e30", []string{
			`flag n/f: imported off: rules r: rank: converting driver.Value type float64 ("1e+30") to a int64: invalid syntax`,
		}},
		{"not a boolean", "UPDATE rollout_thresholds SET value = 7", []string{
			`flag n/g: imported off: rollouts o: rollout_thresholds t: value: sql/driver: couldn't convert 7 into type bool`,
		}},
		{"a percentage out of range", "UPDATE rollout_thresholds SET percentage = 1e300", []string{
			"flag n/g: imported off: rollouts o: rollout_thresholds t: percentage 1e+300 is not between 0 and 100",
		}},
		{"a rollout out of range", "UPDATE distributions SET rollout = -1", []string{"flag n/f: imported off: rules r: distributions d: rollout -1 is not between 0 and 100"}},
		{"a flag without a name, which gets its key", "UPDATE flags SET name = NULL WHERE key = 'f'", []string{"flag n/f: imported off: name: must not be NULL"}},
		{"a type that cannot be read", "UPDATE flags SET type = NULL WHERE key = 'f'", []string{"flag n/f: not imported: type: must not be NULL"}},
		{"a namespace that cannot be read", "UPDATE namespaces SET name = NULL", []string{
			"namespaces n: not imported: name: must not be NULL",
			"segment n/s: not imported: its namespace is not imported",
			"flag n/f: not imported: its namespace is not imported",
			`flag n/f: not imported: rules r: segment "s": its namespace is not imported`,
			"flag n/g: not imported: its namespace is not imported",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := empty(t)
			if err := data().StoreUnchecked(t.Context(), db, "sqlite"); err != nil {
				t.Fatal(err)
			}
			for statement := range strings.SplitSeq(tt.change, ";") {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			content := read(t, db)
			compareFindings(t, content, tt.want)
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
	if len(content.Namespaces) != 1 || len(content.Findings) != 1 || content.Findings[0].Subject != "namespaces " {
		t.Errorf("got %v and findings %v, want the row without a key skipped", content.Namespaces, content.Findings)
	}
}
