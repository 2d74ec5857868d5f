package changes

import (
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/web/page"
	"github.com/guidonhq/guidon/handler/web/review"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// maxRewound limits how far back the effect of a change is computed: the state before it
// must be computed from all changes since.
const maxRewound = 1000

// effectsOfChange returns the effects of a change on people, as far as they can be computed:
// that of one flag or segment, which existed before and after, and not too long ago. The
// last result is false if nothing is known.
func effectsOfChange(v *page.Visit, g *group) (effects []review.Effect, truncated, known bool) {
	if len(g.Records) != 1 || g.More || g.Revision < 2 || v.State.Revision-g.Revision > maxRewound {
		return nil, false, false
	}
	r := g.Records[0]
	if r.GetAction() != string(change.ActionUpdate) {
		return nil, false, false
	}
	before, after := v.At(g.Revision-1), v.At(g.Revision)
	switch r.GetKind() {
	case flagKind.name:
		return flagEffects(v, r.GetKey(), before, after)
	case segmentKind.name:
		return segmentEffects(v, r.GetKey(), before, after)
	}
	return nil, false, false
}

func flagEffects(v *page.Visit, key, before, after string) (effects []review.Effect, truncated, known bool) {
	saved, err := page.GetFlagContent.Run(v, &guidonv1.GetFlagContentRequest{NamespaceKey: after, Key: key})
	if err != nil { // such as a state whose records were deleted
		return nil, false, false
	}
	preview, err := page.PreviewFlag.Run(v, &guidonv1.PreviewFlagRequest{NamespaceKey: before, Key: key, Flag: saved.GetFlag()})
	if err != nil {
		return nil, false, false
	}
	if e, ok := review.NewEffect(key, preview); ok {
		effects = append(effects, e)
	}
	return effects, false, true
}

func segmentEffects(v *page.Visit, key, before, after string) (effects []review.Effect, truncated, known bool) {
	saved, err := page.GetSegmentContent.Run(v, &guidonv1.GetSegmentContentRequest{NamespaceKey: after, Key: key})
	if err != nil {
		return nil, false, false
	}
	preview, err := page.PreviewSegment.Run(v, &guidonv1.PreviewSegmentRequest{
		NamespaceKey: before, Key: key, Segment: saved.GetSegment(),
	})
	if err != nil {
		return nil, false, false
	}
	for _, use := range preview.GetUses() {
		if e, ok := review.NewEffect(use.GetFlagKey(), use.GetEffect()); ok {
			effects = append(effects, e)
		}
	}
	return effects, preview.GetNextPageToken() != "", true
}
