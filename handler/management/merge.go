package management

import (
	"context"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Limits of the lists of a merge.
const (
	maxMergeParts  = 1000
	maxMergeValues = 1 << 20 // bytes of values of conflicts, and again of differences
)

// MergeFlag merges an edited flag with the changes that have been saved since.
func MergeFlag(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.MergeFlagRequest, request *call.Request,
) (call.Response, error) {
	r := service.MergeRequest[guidon.Flag]{Namespace: m.GetNamespaceKey(), Key: m.GetKey(), Since: m.GetSince()}
	if m.GetFlag() != nil {
		r.Mine = convert.DocumentFlagOf(m.GetFlag())
	}
	var err error
	if r.Choices, err = mergeChoices(m.GetChoices()); err != nil {
		return call.Response{}, err
	}
	merge, state, err := s.MergeFlag(ctx, c.Demand, r, request.Reserve)
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := &guidonv1.FlagMerge{Details: mergeDetails(merge, m.GetPageWords())}
	if merge.Merged != nil {
		answer.Flag = convert.WireDocumentFlag(merge.Merged)
	}
	return call.Response{State: state, Message: answer}, nil
}

// MergeSegment merges an edited segment with the changes that have been saved since.
func MergeSegment(
	ctx context.Context, s *service.Service, c *call.Call, m *guidonv1.MergeSegmentRequest, request *call.Request,
) (call.Response, error) {
	r := service.MergeRequest[guidon.Segment]{Namespace: m.GetNamespaceKey(), Key: m.GetKey(), Since: m.GetSince()}
	if m.GetSegment() != nil {
		r.Mine = convert.DocumentSegmentOf(m.GetSegment())
	}
	var err error
	if r.Choices, err = mergeChoices(m.GetChoices()); err != nil {
		return call.Response{}, err
	}
	merge, state, err := s.MergeSegment(ctx, c.Demand, r, request.Reserve)
	if err != nil {
		return call.Response{State: state}, err
	}
	answer := &guidonv1.SegmentMerge{Details: mergeDetails(merge, m.GetPageWords())}
	if merge.Merged != nil {
		answer.Segment = convert.WireDocumentSegment(merge.Merged)
	}
	return call.Response{State: state, Message: answer}, nil
}

// mergeSides are the sides of a conflict on the wire.
var mergeSides = map[string]change.Side{"mine": change.Ours, "theirs": change.Theirs}

func mergeChoices(list []*guidonv1.MergeChoice) (change.Choices, error) {
	if len(list) > maxMergeParts {
		return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field choices: must not contain more than %d elements", maxMergeParts)
	}
	choices := make(change.Choices, len(list))
	for i, c := range list {
		side, known := mergeSides[c.GetSide()]
		if !known {
			return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field choices[%d].side: must be one of mine, theirs", i)
		}
		if _, twice := choices[c.GetPath()]; twice {
			return nil, guidon.Errorf(guidon.InvalidArgument, "invalid field choices[%d]: is not unique", i)
		}
		choices[c.GetPath()] = side
	}
	return choices, nil
}

// mergeDetails returns the message of how a merge came about. If it is worded, its values are also
// in words.
func mergeDetails[T any](merge *service.Merge[T], worded bool) *guidonv1.MergeDetails {
	m := &guidonv1.MergeDetails{BaseRevision: merge.Base, CurrentRevision: merge.Current, BaseMissing: merge.BaseMissing}
	if merge.Latest != nil {
		m.Latest = convert.ChangeWithoutObjects(merge.Latest)
	}
	var all, mine, theirs bool
	m.Conflicts, all = mergeConflicts(merge.Conflicts, worded)
	room := maxMergeValues
	m.Mine, mine = mergeDifferences(merge.Mine, &room, worded)
	m.Theirs, theirs = mergeDifferences(merge.Theirs, &room, worded)
	m.Abridged = !all || !mine || !theirs
	return m
}

// mergeConflicts returns the messages of the conflicts, and whether nothing is left out.
func mergeConflicts(all []change.Conflict, worded bool) (messages []*guidonv1.MergeConflict, complete bool) {
	room := maxMergeValues
	for _, c := range all[:min(len(all), maxMergeParts)] {
		m := &guidonv1.MergeConflict{Path: c.Path, Name: c.Name, InUse: c.InUse}
		if c.Path == change.Whole {
			m.Name = "everything"
		}
		if room -= len(c.Base) + len(c.Ours) + len(c.Theirs); room >= 0 {
			m.Earlier, m.Mine, m.Theirs = convert.JSONValue(c.Base), convert.JSONValue(c.Ours), convert.JSONValue(c.Theirs)
			if worded {
				m.Wording = &guidonv1.MergeConflictWording{Earlier: c.Words.Base, Mine: c.Words.Ours, Theirs: c.Words.Theirs}
			}
		}
		messages = append(messages, m)
	}
	return messages, room >= 0 && len(messages) == len(all)
}

// mergeDifferences is mergeConflicts for differences, whose values take from the room.
func mergeDifferences(all []change.Difference, room *int, worded bool) (messages []*guidonv1.FieldDifference, complete bool) {
	for _, d := range all[:min(len(all), maxMergeParts)] {
		if *room -= len(d.Before) + len(d.After); *room < 0 {
			d.Before, d.After = nil, nil
		}
		if worded {
			messages = append(messages, convert.WordedDifference(d))
		} else {
			messages = append(messages, convert.Difference(d))
		}
	}
	return messages, *room >= 0 && len(messages) == len(all)
}
