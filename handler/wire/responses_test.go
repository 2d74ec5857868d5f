package wire_test

import (
	"testing"

	"github.com/guidonhq/guidon/handler/wire"
)

// TestKnowsResponses fails if a field was added to an evaluation response. Then add it
// to handler/codec/quick/response.go, to runtimes/server/quickgrpc/response.go and to responses.go.
func TestKnowsResponses(t *testing.T) {
	if !wire.KnowsResponses() {
		t.Error("evaluation responses have fields that the fast encoders do not know")
	}
}
