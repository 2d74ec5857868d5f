package server_test

import (
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// TestGRPCReadOnly: every method that writes a namespace is refused, and no other one.
func TestGRPCReadOnly(t *testing.T) {
	const refusal = "permission denied: the service is read-only (server.read_only is set)"
	in := start(t, func(s *settings) { s.handler.ReadOnly, s.handler.Authentication.TokenMethod = true, true })
	before := in.revision()
	for _, o := range handler.Operations() {
		if !o.Enabled() {
			continue
		}
		err := in.call(t.Context(), o.Name, o.NewRequest(), o.NewResponse())
		refused := status.Code(err) == codes.PermissionDenied && status.Convert(err).Message() == refusal
		if refused != o.Has(call.Writes) {
			t.Errorf("%s: got %v; want it refused: %t", o.Name, err, o.Has(call.Writes))
		}
	}
	create := &flipt.CreateFlagRequest{Key: "f", Name: "F"}
	if err := in.call(t.Context(), "/flipt.Flipt/CreateFlag", create, &flipt.Flag{}); status.Convert(err).Message() != refusal {
		t.Errorf("a valid write: got %v, want %q", err, refusal)
	}
	document := &guidonv1.Document{Flags: []*guidonv1.DocumentFlag{{Key: "f", Name: "F"}}}
	for _, dry := range []bool{true, false} {
		err := in.call(t.Context(), "/guidon.v1.DocumentService/Import", &guidonv1.ImportRequest{Document: document, DryRun: dry}, &guidonv1.ImportResponse{})
		if (err == nil) != dry {
			t.Errorf("an import, dry run %t: got %v", dry, err)
		}
	}
	if after := in.revision(); after != before {
		t.Errorf("the revision is %s, want %s", after, before)
	}
}
