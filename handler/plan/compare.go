package plan

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
	"github.com/guidonhq/guidon/service"
)

// Page sizes of comparisons.
const (
	defaultComparePage = 100
	maxComparePage     = 1000
)

// CheckCompare checks the request for a comparison.
func CheckCompare(request *guidonv1.CompareRequest) error {
	if err := service.NotEmpty("with", request.GetWith()); err != nil {
		return err
	}
	if request.GetLimit() < 0 {
		return guidon.Errorf(guidon.InvalidArgument, "invalid field limit: must be greater than or equal to '0'")
	}
	_, err := parseCompareToken(request.GetPageToken())
	return err
}

// Compare returns a page of the differences between two states. All pages are about the
// same two states: it returns FailedPrecondition if one of them is no longer current.
func Compare(
	ctx context.Context, before, after service.View, m *guidonv1.CompareRequest, _ *call.Request,
) (*guidonv1.CompareResponse, error) {
	token, err := parseCompareToken(m.GetPageToken())
	if err != nil {
		return nil, err
	}
	if err := token.check(before, after); err != nil {
		return nil, err
	}
	c := NewComparison(sides(before, after))
	answer := &guidonv1.CompareResponse{
		Before: comparedState(before), After: comparedState(after), Flags: c.Flags(), Segments: c.Segments(),
	}
	if err := addPage(ctx, answer, c, token.Offset, m); err != nil {
		return nil, err
	}
	if next := token.Offset + len(answer.GetObjects()); next < c.Len() {
		answer.NextPageToken = tokenOf(before, after, next).String()
	}
	return answer, nil
}

// addPage adds the objects of the page that starts at the offset, as far as they fit.
func addPage(ctx context.Context, answer *guidonv1.CompareResponse, c *Comparison, offset int, m *guidonv1.CompareRequest) error {
	size, limit := 0, cmp.Or(min(int(m.GetLimit()), maxComparePage), defaultComparePage)
	for o, err := range c.Objects(offset, m.GetDiff()) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		more := proto.Size(o)
		if len(answer.GetObjects()) > 0 && size+more > convert.MaxPage {
			break
		}
		answer.Objects, size = append(answer.GetObjects(), o), size+more
		if len(answer.GetObjects()) == limit {
			break
		}
	}
	return nil
}

// sides returns the two sides, with names that distinguish them.
func sides(before, after service.View) (Side, Side) {
	name := func(v service.View) string {
		if before.Namespace != after.Namespace {
			return v.Namespace
		}
		return reference(v)
	}
	return Side{name(before), change.ObjectsOf(before.Snapshot)}, Side{name(after), change.ObjectsOf(after.Snapshot)}
}

// reference returns the name of the state.
func reference(v service.View) string {
	return service.Reference{Namespace: v.Namespace, At: service.Moment{Revision: v.Revision}}.String()
}

func comparedState(v service.View) *guidonv1.ComparedState {
	return &guidonv1.ComparedState{NamespaceKey: v.Namespace, Revision: v.Revision}
}

// compareToken is where a page of a comparison starts, and of which states it is. The zero
// value is the first page of any.
type compareToken struct {
	Before, After guidon.Revision
	Offset        int
}

func tokenOf(before, after service.View, offset int) compareToken {
	return compareToken{before.Snapshot.Revision(), after.Snapshot.Revision(), offset}
}

// String returns the token in the form that parseCompareToken reads.
func (t compareToken) String() string {
	text, _ := json.Marshal(t) // cannot fail for integers
	return base64.StdEncoding.EncodeToString(text)
}

func parseCompareToken(token string) (t compareToken, err error) {
	if token == "" {
		return t, nil
	}
	text, err := base64.StdEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	if err != nil || t.Offset <= 0 {
		return compareToken{}, guidon.Errorf(guidon.InvalidArgument, "pageToken is not valid: %q", token)
	}
	return t, nil
}

// check returns FailedPrecondition unless the states are those of the preceding page.
func (t compareToken) check(before, after service.View) error {
	if t == (compareToken{}) {
		return nil
	}
	for _, state := range []struct {
		want guidon.Revision
		have service.View
	}{{t.Before, before}, {t.After, after}} {
		if state.want != state.have.Snapshot.Revision() {
			return guidon.Errorf(guidon.FailedPrecondition,
				"namespace %q has changed since the first page; begin again, or name its state, such as %q",
				state.have.Namespace, reference(state.have))
		}
	}
	return nil
}
