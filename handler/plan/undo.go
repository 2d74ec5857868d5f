package plan

import (
	"cmp"
	"fmt"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// The sides of a conflict on the wire: what counts now, and what was before the changes.
var sidesOfConflicts = map[string]change.Side{"current": change.Ours, "earlier": change.Theirs}

// maxChoices limits how many conflicts one request resolves.
const maxChoices = 10_000

// undoOf returns the changes to undo, or nil if m is.
func undoOf(m *guidonv1.UndoneChanges) (*service.Undo, error) {
	if m == nil {
		return nil, nil
	}
	u := &service.Undo{First: m.GetFirstRevision(), Last: cmp.Or(m.GetLastRevision(), m.GetFirstRevision())}
	if len(m.GetChoices()) > maxChoices {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field undo.choices: must not contain more than %d elements", maxChoices)
	}
	if len(m.GetChoices()) > 0 {
		u.Choices = map[change.Object]change.Choices{}
	}
	for i, c := range m.GetChoices() {
		side, known := sidesOfConflicts[c.GetSide()]
		if !known {
			return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field undo.choices[%d].side: must be one of current, earlier", i)
		}
		o := change.Object{Kind: change.Kind(c.GetKind()), Key: c.GetKey()}
		if u.Choices[o] == nil {
			u.Choices[o] = change.Choices{}
		}
		if _, twice := u.Choices[o][c.GetPath()]; twice {
			return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field undo.choices[%d]: is not unique", i)
		}
		u.Choices[o][c.GetPath()] = side
	}
	return u, nil
}

// conflicts returns the messages of up to maxConflicts conflicts. Their values may take room
// bytes; the others have none. If they are worded, the values are also in words.
func conflicts(all []change.ObjectConflicts, worded bool, room int) (messages []*guidonv1.PlanConflict, complete bool) {
	for _, o := range all {
		for _, c := range o.Conflicts {
			if len(messages) == maxConflicts {
				return messages, false
			}
			m := &guidonv1.PlanConflict{
				Kind: string(o.Kind), Key: o.Key, Path: c.Path, Name: cmp.Or(c.Name, fmt.Sprintf("%s %s", o.Kind, o.Key)),
				InUse: c.InUse,
			}
			if room -= len(c.Theirs) + len(c.Base) + len(c.Ours); room >= 0 {
				m.Earlier, m.Changed, m.Current = convert.JSONValue(c.Theirs), convert.JSONValue(c.Base), convert.JSONValue(c.Ours)
				if worded {
					m.Wording = &guidonv1.PlanConflictWording{Earlier: c.Words.Theirs, Changed: c.Words.Base, Current: c.Words.Ours}
				}
			}
			messages = append(messages, m)
		}
	}
	return messages, room >= 0
}
