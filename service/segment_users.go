package service

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/analysis"
	"github.com/guidonhq/guidon/internal/lists"
)

// Limits of the list in an error about a segment in use.
const (
	maxListedUsers = 3 // flags
	maxListedUses  = 5 // rules or rollouts of a flag
)

// segmentUsers are the flags that refer to a segment.
type segmentUsers []analysis.SegmentUse

// usersOf returns, by segment, the flags that refer to it, except those with the given keys.
func usersOf(flags []*guidon.Flag, except map[string]bool) map[string]segmentUsers {
	flags = slices.DeleteFunc(slices.Clone(flags), func(f *guidon.Flag) bool { return except[f.Key] })
	users := map[string]segmentUsers{}
	for key, uses := range analysis.SegmentUses(flags) {
		users[key] = uses
	}
	return users
}

// inUse returns the error for deleting the segment.
func (u segmentUsers) inUse(namespace, segment string) error {
	return guidon.Errorf(guidon.InvalidArgument, "segment %q is in use by %s", namespace+"/"+segment, u)
}

// String returns the first flags, with their rules, and the number of others.
func (u segmentUsers) String() string {
	var listed []string
	for _, use := range u[:min(len(u), maxListedUsers)] {
		var places []string
		for _, rules := range [][]int{use.Rules, use.Rollouts} {
			if len(rules) > 0 {
				places = append(places, positions(rules))
			}
		}
		if use.Flag.Unreadable != nil {
			places = append(places, "which needs a newer release of Guidon, or is damaged")
		}
		listed = append(listed, fmt.Sprintf("flag %q (%s)", use.Flag.Key, strings.Join(places, "; ")))
	}
	return strings.Join(listed, ", ") + andMore(len(u)-len(listed))
}

// positions returns the first indexes, counted from 1, such as "rules 1, 3".
func positions(indexes []int) string {
	noun := "rule"
	if len(indexes) > 1 {
		noun = "rules"
	}
	numbers := lists.Map(indexes[:min(len(indexes), maxListedUses)], func(i int) string { return strconv.Itoa(i + 1) })
	return noun + " " + strings.Join(numbers, ", ") + andMore(len(indexes)-len(numbers))
}

func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
