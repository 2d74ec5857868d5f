package page

import (
	"strconv"

	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/service"
)

// RunIf is like Run, but fails with FailedPrecondition unless the namespace of the request
// is in the state, as an earlier operation returned it.
func (o Operation[Q, A]) RunIf(v *Visit, request Q, state service.State) (A, error) {
	response, err := v.Site.Carry(v.Exchange, string(o), &call.Request{
		Credentials: v.credentials(), Message: request, IfMatch: strconv.FormatInt(state.Revision, 10),
	})
	var answer A
	if err == nil && response.Message != nil {
		answer = response.Message.(A)
	}
	return answer, err
}
