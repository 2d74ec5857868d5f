package call

import (
	"github.com/guidonhq/guidon"
)

// DryRunHeader is the header of a write that is checked and answered, and not stored.
const DryRunHeader = "Guidon-Dry-Run"

// dryRun returns whether the header asks for a dry run. It ignores the header of a read.
func (o *Operation) dryRun(header string) (bool, error) {
	switch {
	case header == "" || header == "false" || !o.Changes():
		return false, nil
	case header != "true":
		return false, guidon.Errorf(guidon.InvalidArgument, "invalid header %s: must be true or false", DryRunHeader)
	case !o.TakesMessage():
		return false, guidon.Errorf(guidon.InvalidArgument, "invalid header %s: %s has no dry run", DryRunHeader, o.Method())
	}
	return true, nil
}
