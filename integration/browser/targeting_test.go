package browser

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"
)

// targetingActs are what somebody does to the rules of checkout-redesign: buttons of the
// draft, after fields are filled in.
var targetingActs = []struct {
	fields map[string]string // by name
	button string
}{
	{nil, "add:segment"},
	{map[string]string{"rule.3.add": "nordics"}, "draft"},
	{map[string]string{"rule.3.share.classic": "25", "rule.3.share.one-page": "75", "rule.3.share.express": ""}, "done:3"},
	{nil, "up:3"},
	{nil, "edit:0"},
	{map[string]string{"rule.0.share.express": "40", "rule.0.share.classic": "60"}, "done:0"},
	{nil, "remove:1"},
	{nil, "save"},
}

// TestTargeting: rules are added, changed, moved and removed, and saved as one change, with
// scripts and in the same way without them. Turned off and undone, the flag is as before.
func TestTargeting(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	results := make(map[bool]string)
	for _, scripts := range []bool{true, false} {
		t.Run(map[bool]string{true: "scripts", false: "no scripts"}[scripts], func(t *testing.T) {
			before, began := s.revisionOf(t, "default"), s.content(t, "default", "flags/checkout-redesign")
			if !scripts {
				v.WithoutScripts(t)
				defer v.WithScripts(t)
			}
			v.Visit(t, variantPath)
			for i, act := range targetingActs {
				drafter{v, !scripts}.act(t, act.fields, act.button)
				if last := i == len(targetingActs)-1; !last && s.revisionOf(t, "default") != before {
					t.Fatalf("%s saved something", act.button)
				}
			}
			if got := s.revisionOf(t, "default"); got != before+1 {
				t.Errorf("saved in %d revisions", got-before)
			}
			results[scripts] = s.content(t, "default", "flags/checkout-redesign")
			if got, want := s.rules(t), "staff nordics all-visitors"; got != want {
				t.Errorf("got the rules %s, want %s", got, want)
			}

			v.WithScripts(t)
			v.Visit(t, variantPath)
			saved := s.content(t, "default", "flags/checkout-redesign")
			v.Follow(t, click(css("button.switch")))
			s.answers(t, "default", "checkout-redesign", "anybody", map[string]string{"country": "SE"}, "classic")
			undoSaved(t, v)
			if got := s.content(t, "default", "flags/checkout-redesign"); withoutTimes(got) != withoutTimes(saved) {
				t.Errorf("turned off and undone: got %s, want %s", got, saved)
			}
			v.Visit(t, fmt.Sprintf("/namespaces/default/changes/%d/undo", before+1))
			v.Follow(t, click(css("#review button.primary")))
			if got := s.content(t, "default", "flags/checkout-redesign"); withoutTimes(got) != withoutTimes(began) {
				t.Errorf("all undone: got %s, want %s", got, began)
			}
		})
	}
	if withoutTimes(results[true]) != withoutTimes(results[false]) {
		t.Errorf("without scripts, got %s, want %s", results[false], results[true])
	}
	for _, share := range []string{"25", "75", "40", "60"} {
		if !strings.Contains(results[true], `"rollout":`+share) {
			t.Errorf("the share %s%% is missing in %s", share, results[true])
		}
	}
}

// withoutTimes returns the content of an object without when it was changed.
func withoutTimes(content string) string {
	content, _, _ = strings.Cut(content, `,"createdAt"`)
	return content
}

// The numbers of buckets of the types of flags.
const (
	variantBuckets = 1000
	booleanBuckets = 100
)

// bucket returns the bucket of an entity (contract 7.5 and 7.6).
func bucket(flag, entity string, buckets uint32) uint32 {
	text := flag + entity
	if buckets == booleanBuckets {
		text = entity + flag
	}
	return crc32.ChecksumIEEE([]byte(text)) % buckets
}

// entities returns an entity for each bucket of a flag.
func entities(flag string, buckets uint32) []string {
	all, found := make([]string, buckets), 0
	for i := 0; found < len(all); i++ {
		entity := fmt.Sprint("user-", i)
		if b := bucket(flag, entity, buckets); all[b] == "" {
			all[b] = entity
			found++
		}
	}
	return all
}

// TestEffect: what saving says to change for people is what changes, counted over an entity
// of each bucket.
func TestEffect(t *testing.T) {
	s := openShop(t)
	v := s.visitor(t, admin)
	for _, test := range []struct {
		flag    string
		rule    string
		fields  map[string]string
		buckets uint32
	}{
		{"dark-mode", "2", map[string]string{"rule.1.share": "40"}, booleanBuckets},
		{"dark-mode", "2", map[string]string{"rule.1.share": "12.5"}, booleanBuckets},
		{"checkout-redesign", "3", map[string]string{"rule.2.share.classic": "60", "rule.2.share.one-page": "25", "rule.2.share.express": "15"}, variantBuckets},
		{"checkout-redesign", "3", map[string]string{"rule.2.share.classic": "70.5", "rule.2.share.one-page": "29.5", "rule.2.share.express": "0"}, variantBuckets},
	} {
		t.Run(test.flag+" "+fmt.Sprint(test.fields), func(t *testing.T) {
			v.Visit(t, flagsPath+"/"+test.flag+"?edit="+test.rule)
			everybody := entities(test.flag, test.buckets)
			before := s.answersOf(t, "default", test.flag, everybody, nil)
			drafter{v, false}.act(t, test.fields, "draft")
			v.Await(t, "document.querySelector('.savebar small')?.innerText")
			v.Follow(t, click(do("review")))
			said := v.Main(t)
			v.Follow(t, click(do("save")))
			after := s.answersOf(t, "default", test.flag, everybody, nil)
			moves := make(map[string]int)
			for i := range before {
				if before[i] != after[i] {
					moves[before[i]+" to "+after[i]]++
				}
			}
			for move, n := range moves {
				percent := strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)*100/float64(test.buckets)), ".0") + "% of "
				found := false
				for sentence := range strings.SplitSeq(said, ". ") {
					found = found || strings.Contains(sentence, percent) && strings.Contains(sentence, strings.ToLower(move))
				}
				if !found {
					t.Errorf("%s%s is missing in %q", percent, move, said)
				}
			}
			if len(moves) == 0 {
				t.Error("nobody moves")
			}
			if got := strings.Count(said, "% of those"); got != len(moves) {
				t.Errorf("%d moves are named, want %d: %q", got, len(moves), said)
			}
		})
	}
}
