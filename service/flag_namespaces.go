package service

import (
	"context"
	"errors"
	"slices"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
)

// FlagNamespace is what a flag is in one namespace.
type FlagNamespace struct {
	Namespace *guidon.Namespace
	Revision  int64        // of the namespace
	Flag      *FlagSummary // nil if the namespace has no such flag
	Same      bool         // the reference has the same flag, with the same segments
	Err       error        // why the namespace cannot be read
}

// maxFlagNamespaces limits the namespaces of one call of [Service.FlagNamespaces].
const maxFlagNamespaces = 100

// FlagNamespaces returns a page of the namespaces that the caller may read, and what the flag
// is in each. The reference, with which the others are compared, is the first; it may be empty.
// A namespace that cannot be read says why, and does not keep the others from the caller. It
// returns PermissionDenied if the caller may read none, or not the reference.
func (s *Service) FlagNamespaces(
	ctx context.Context, by Caller, d Demand, key, reference string, request PageRequest,
) ([]FlagNamespace, Page, error) {
	if request.Limit = min(request.Limit, maxFlagNamespaces); request.Limit == 0 {
		request.Limit = maxFlagNamespaces
	}
	if err := request.ValidateTokenFirst(); err != nil {
		return nil, Page{}, err
	}
	namespaces, err := s.visibleNamespaces(ctx, by)
	if err != nil {
		return nil, Page{}, err
	}
	d.AtLeast = 0 // is of no namespace
	var here View
	if reference != "" {
		if by.Authentication != nil && !by.Authentication.May(RoleViewer, reference) {
			return nil, Page{}, Refusal(RoleViewer, reference)
		}
		if here, err = s.View(ctx, reference, d); err != nil {
			return nil, Page{}, err
		}
	}
	namespaces, page, err := paginate(preferred(namespaces, reference), request, func(n *guidon.Namespace) string { return n.Key })
	if err != nil {
		return nil, Page{}, err
	}
	found := make([]FlagNamespace, 0, len(namespaces))
	for _, n := range namespaces {
		v, err := s.View(ctx, n.Key, d)
		if errors.Is(err, guidon.NotFound) {
			continue // it has been deleted meanwhile
		}
		if ctx.Err() != nil {
			return nil, Page{}, ctx.Err()
		}
		in := FlagNamespace{Namespace: n, Revision: v.Revision, Err: err}
		if err == nil {
			in.Flag, in.Same = v.summary(key), here.Snapshot != nil && haveSameFlag(here.Snapshot, v.Snapshot, key)
		}
		found = append(found, in)
	}
	return found, page, nil
}

// summary returns the summary of a flag, or nil if it does not exist.
func (v View) summary(key string) *FlagSummary {
	row := catalogs.Of(v.Snapshot).flag(key)
	if row == nil {
		return nil
	}
	summary := v.summaryOf(row, v.now().Unix())
	return &summary
}

// haveSameFlag reports whether both states have the flag with the same content, and so the segments
// that it refers to.
func haveSameFlag(a, b *guidon.Snapshot, key string) bool {
	f, g := a.Flag(key), b.Flag(key)
	if f == nil || g == nil || len(change.Compare(f, g)) > 0 {
		return false
	}
	segments := slices.Collect(f.SegmentKeys())
	return !slices.ContainsFunc(segments, func(key string) bool {
		s, t := a.Segment(key), b.Segment(key)
		return (s == nil) != (t == nil) || len(change.Compare(s, t)) > 0
	})
}
