package flags

import (
	"cmp"
	"time"

	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/internal/lists"
)

// flagChange is a change of a flag since the visitor saw it.
type flagChange struct {
	Name, Address string // no address if the flag was deleted
	What          string // such as "was changed by Mira"
	At            time.Time
	Revision      int64 // 0 if it is not known
}

// addChanged adds the flags that changed after the revision.
func (s *selection) addChanged(since int64) error {
	newest, err := page.NewestChanges(s.v, "flag", lists.Map(s.rows, func(r row) string { return r.Key })...)
	for _, r := range s.rows {
		if c := newest[r.Key]; c.GetRevision() > since {
			s.changed = append(s.changed, flagChange{r.Name, r.Address, changeText(c), c.GetAt().AsTime(), c.GetRevision()})
		}
	}
	return err
}

// deleted returns the deletion of a flag that does not exist.
func deleted(v *page.Visit, key string) (flagChange, error) {
	c, err := page.Deletion(v, "flag", key)
	if c == nil || err != nil {
		return flagChange{Name: key, What: "does not exist"}, err
	}
	return flagChange{Name: key, What: changeText(c), At: c.GetAt().AsTime(), Revision: c.GetRevision()}, nil
}

// changeText returns the action and the author of a change.
func changeText(c *guidonv1.Change) string {
	verb := cmp.Or(map[string]string{"create": "was created", "delete": "was deleted"}[c.GetAction()], "was changed")
	return verb + " by " + page.ActorOf(c.GetActor()).String()
}
