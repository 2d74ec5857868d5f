package plan

import (
	"encoding/base64"
	"encoding/json"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

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
