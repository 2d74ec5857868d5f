package cli

import (
	"errors"
	"io"
	"io/fs"
)

// checkedOutput is the standard output. It records the first failed write, so that a command
// whose output was lost does not succeed. It is not safe for concurrent use.
type checkedOutput struct {
	io.Writer
	failed error
}

// Write implements io.Writer.
func (o *checkedOutput) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// PlainReason removes the path from a file system error. The caller adds the path as
// it was given on the command line.
func PlainReason(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return errors.Unwrap(e)
	}
	return err
}
