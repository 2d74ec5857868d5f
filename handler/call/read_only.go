package call

import "github.com/guidonhq/guidon"

// errReadOnly refuses writes of namespaces. It is the same for every caller: no role helps.
var errReadOnly = guidon.Errorf(guidon.PermissionDenied, "permission denied: the service is read-only (server.read_only is set)")

// dryRunRequest is a request with a dry-run mode, which changes nothing.
type dryRunRequest interface{ GetDryRun() bool }

// checkReadOnly returns PermissionDenied if the service is read-only and the request would
// change a namespace. Authentications still change, so that people can sign in.
func (i *Invoker) checkReadOnly(o *Operation, request *Request) error {
	if !i.config.ReadOnly || !o.Has(Writes) {
		return nil
	}
	if m, ok := request.Message.(dryRunRequest); ok && m.GetDryRun() {
		return nil
	}
	return errReadOnly
}
