package call

import "github.com/guidonhq/guidon"

// checks are what must hold before an operation runs, in this order. The first error is the
// answer.
var checks = [...]func(invocation) error{
	invocation.enabled,
	invocation.load,
	invocation.headers,
	invocation.ready,
	invocation.caller,
	invocation.connected,
	invocation.named,
	invocation.writable,
	invocation.message,
	invocation.attempts,
	invocation.turn,
}

func (i invocation) check() error {
	for _, check := range checks {
		if err := check(i); err != nil {
			return err
		}
	}
	return nil
}

// enabled: a disabled operation is for trusted callers of this process only.
func (i invocation) enabled() error {
	if i.request.Actor == nil && !i.operation.Enabled() {
		return guidon.Errorf(guidon.Unimplemented, "%s is disabled", i.operation.Method())
	}
	return nil
}

// load: an overloaded instance takes no more work.
func (i invocation) load() error { return i.invoker.checkLoad(i.bounded.Context) }

// headers: the headers with conditions are valid. The time for the request begins here.
func (i invocation) headers() (err error) {
	if i.call.IfMatch, err = i.operation.condition(i.request.IfMatch); err != nil {
		return err
	}
	if i.call.Message, err = i.operation.message(i.request.WriteMessage); err != nil {
		return err
	}
	if i.call.DryRun, err = i.operation.dryRun(i.request.DryRun); err != nil {
		return err
	}
	i.call.Demand, err = i.operation.demand(i.request)
	i.bounded.deadline = i.call.Demand.Begun.Add(i.invoker.config.Timeout)
	return err
}

// ready: what the service is made of can be used.
func (i invocation) ready() error {
	if i.invoker.config.Ready == nil {
		return nil
	}
	return i.invoker.config.Ready(&i.bounded)
}

// caller: the message can be read, and the caller may send it. Failed credentials are limited.
func (i invocation) caller() error {
	err := i.invoker.receive(&i.bounded, i.operation, i.request, i.Work)
	if err == nil {
		i.reference = i.request.takeReference(i.operation)
		err = i.invoker.authenticate(&i.bounded, i.operation, i.request, &i.call)
	}
	return i.invoker.limit(&i.bounded, i.request.Sender, err)
}

// connected: no work is done for a caller that has disconnected.
func (i invocation) connected() error { return i.bounded.Context.Err() }

// named: the reference to a state of the namespace is valid.
func (i invocation) named() error { return i.reference }

// writable: a read-only service changes nothing. A dry run stores nothing.
func (i invocation) writable() error {
	if i.call.DryRun {
		return nil
	}
	return i.invoker.checkReadOnly(i.operation, i.request)
}

// message: the texts of the message can be stored, and its fields are known. Evaluations, which
// are served from memory, store nothing.
func (i invocation) message() error {
	if i.operation.Has(ServesStale) {
		return nil
	}
	return checkMessage(i.request.Message, i.operation.RejectsUnknown(i.request.Message))
}

// attempts: the sender has not failed too often to have another credential verified.
func (i invocation) attempts() error {
	if !i.operation.Has(VerifiesCredential) {
		return nil
	}
	return i.invoker.exhausted(&i.bounded, i.request.Sender)
}

// turn: work that takes long waits for its turn.
func (i invocation) turn() error { return i.invoker.beginTurn(&i.bounded, i.operation, i.request) }

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
