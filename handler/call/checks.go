package call

import "github.com/guidonhq/guidon"

// checks are what must hold before an operation runs, in this order. The first error is the
// answer.
var checks = [...]func(*Work) error{
	(*Work).enabled,
	(*Work).load,
	(*Work).headers,
	(*Work).caller,
	(*Work).connected,
	(*Work).named,
	(*Work).writable,
	(*Work).message,
	(*Work).attempts,
	(*Work).turn,
}

func (w *Work) check() error {
	for _, check := range checks {
		if err := check(w); err != nil {
			return err
		}
	}
	return nil
}

// enabled: a disabled operation is for trusted callers of this process only.
func (w *Work) enabled() error {
	if w.request.Actor == nil && !w.operation.Enabled() {
		return guidon.Errorf(guidon.Unimplemented, "%s is disabled", w.operation.Method())
	}
	return nil
}

// load: an overloaded instance takes no more work.
func (w *Work) load() error { return w.invoker.checkLoad(w.bounded.Context) }

// headers: the headers with conditions are valid. The time for the request begins here.
func (w *Work) headers() (err error) {
	if w.call.IfMatch, err = w.operation.condition(w.request.IfMatch); err != nil {
		return err
	}
	if w.call.Message, err = w.operation.message(w.request.WriteMessage); err != nil {
		return err
	}
	w.call.Demand, err = w.operation.demand(w.request)
	w.bounded.deadline = w.call.Demand.Begun.Add(w.invoker.config.Timeout)
	return err
}

// caller: the message can be read, and the caller may send it. Failed credentials are limited.
func (w *Work) caller() error {
	i := w.invoker
	err := i.receive(&w.bounded, w.operation, w.request, w)
	if err == nil {
		w.reference = w.request.takeReference(w.operation)
		err = i.authenticate(&w.bounded, w.operation, w.request, &w.call)
	}
	return i.limit(&w.bounded, w.request.Sender, err)
}

// connected: no work is done for a caller that has disconnected.
func (w *Work) connected() error { return w.bounded.Context.Err() }

// named: the reference to a state of the namespace is valid.
func (w *Work) named() error { return w.reference }

// writable: a read-only service changes nothing.
func (w *Work) writable() error { return w.invoker.checkReadOnly(w.operation, w.request) }

// message: the texts of the message can be stored, and its fields are known. Evaluations, which
// are served from memory, store nothing.
func (w *Work) message() error {
	if w.operation.stale {
		return nil
	}
	return checkMessage(w.request.Message, w.operation.RejectsUnknown(w.request.Message))
}

// attempts: the sender has not failed too often to have another credential verified.
func (w *Work) attempts() error {
	if !w.operation.verifies {
		return nil
	}
	return w.invoker.exhausted(&w.bounded, w.request.Sender)
}

// turn: work that takes long waits for its turn.
func (w *Work) turn() error { return w.invoker.beginTurn(&w.bounded, w.operation, w.request) }
