package review

import (
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/document"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// FlagDifferences returns the differences between two flags. former has the former keys of
// the variants that have another one after the edit.
func FlagDifferences(before, after *guidonv1.DocumentFlag, former map[string]string) []change.Difference {
	return change.CompareVersions(storedFlag(before, nil), storedFlag(after, former))
}

// SegmentDifferences returns the differences between two segments.
func SegmentDifferences(before, after *guidonv1.DocumentSegment) []change.Difference {
	return change.Compare(convert.DocumentSegmentOf(before), convert.DocumentSegmentOf(after))
}

// CountChanges returns how many parts of an object differ. The shares of a rule are one.
func CountChanges(differences []change.Difference) int {
	parts := make(map[string]bool)
	for _, d := range differences {
		rule, _, shares := strings.Cut(d.Path, ".distributions")
		if shares {
			rule += ".distributions"
		} else {
			rule += " " + string(d.Op)
		}
		parts[rule] = true
	}
	return len(parts)
}

// storedFlag returns a flag in which the id of a variant is the key that it had before the edit.
func storedFlag(m *guidonv1.DocumentFlag, former map[string]string) *guidon.Flag {
	f := convert.DocumentFlagOf(m)
	for _, v := range f.Variants {
		v.ID = v.Key
	}
	for _, r := range f.Rules {
		r.Rank = 0
	}
	change.RenameVariants(f, former)
	return f
}

// maxCompared limits the documents that are compared, in bytes together.
const maxCompared = 1 << 20

// documentDiff returns the difference between two documents as exported, or nil if there is
// none, and whether they are small enough to be compared.
func documentDiff(before, after *guidonv1.Document) (*Diff, bool) {
	if proto.Size(before)+proto.Size(after) > maxCompared {
		return nil, false
	}
	text, err := document.DiffObjects("before", convert.DocumentOf(before), "after", convert.DocumentOf(after))
	return ParseDiff(text), err == nil
}
