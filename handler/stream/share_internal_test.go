package stream

import (
	"strings"
	"testing"

	"github.com/guidonhq/guidon"
)

// TestStreamShares opens and closes streams of the tokens a, b and c: a lower-case letter
// opens one, an upper-case letter closes one. It checks which are rejected, and how many
// of each are open at the end.
func TestStreamShares(t *testing.T) {
	for _, test := range []struct {
		name, does, refused string
		limit, a, b, c      int
	}{
		{"one token may have all", "aaaa", "", 4, 4, 0, 0},
		{"but no more", "aaaaa", "a", 4, 4, 0, 0},
		{"another gets its share", "aaaabb", "", 4, 2, 2, 0},
		{"no token gets more than its share", "aaaabbb", "b", 4, 2, 2, 0},
		{"a third gets its share", "aaaaaabbc", "", 6, 3, 2, 1},
		{"no slot for a third", "abc", "c", 2, 1, 1, 0},
		{"no stream is displaced for an equal share", "aabb", "b", 3, 2, 1, 0},
		{"closed streams free their slots", "aaaaAAb", "", 4, 2, 1, 0},
		{"the most is known after others have closed", "aaabAAAbbba", "", 4, 1, 3, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := NewHub(Config{MaxChanges: test.limit})
			slots := map[string][]*Slot{}
			var refused strings.Builder
			for _, does := range strings.Split(test.does, "") {
				owner := strings.ToLower(does)
				if does != owner {
					s.Close(slots[owner][0], EndedByClient)
					slots[owner] = slots[owner][1:]
					continue
				}
				room := s.HasRoom(Changes, owner)
				slot, err := s.Open(Changes, owner)
				if room != (err == nil) {
					t.Errorf("%s: room %v, but open returned %v", owner, room, err)
				}
				if err != nil {
					if guidon.CodeOf(err) != guidon.Unavailable {
						t.Errorf("%s: got %v, want Unavailable", owner, err)
					}
					refused.WriteString(owner)
					continue
				}
				slots[owner] = append(slots[owner], slot)
			}
			if refused.String() != test.refused {
				t.Errorf("refused %q, want %q", refused.String(), test.refused)
			}
			total := 0
			for owner, want := range map[string]int{"a": test.a, "b": test.b, "c": test.c} {
				open := 0
				for _, slot := range slots[owner] {
					select {
					case <-slot.displaced:
					default:
						open++
					}
				}
				if open != want {
					t.Errorf("%s has %d streams, want %d", owner, open, want)
				}
				total += open
			}
			if got := s.Stats()[Changes].Open; got != total {
				t.Errorf("%d streams are counted, want %d", got, total)
			}
			for _, all := range slots {
				for _, slot := range all {
					s.Close(slot, EndedByClient)
				}
			}
			shares := s.kinds[Changes].shares
			if shares.open != 0 || shares.most != 0 || len(shares.owners) != 0 || len(shares.counts) != 0 {
				t.Errorf("not empty after all streams have ended: %+v", shares)
			}
		})
	}
}
