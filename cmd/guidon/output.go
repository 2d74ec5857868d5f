package main

import (
	"errors"
	"io"
	"io/fs"
)

// output is the standard output. It remembers a write that failed, so that no
// command ends well whose result is lost. It is used by one goroutine at a time.
type output struct {
	io.Writer
	failed error
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.failed == nil {
		o.failed = err
	}
	return n, err
}

// plainReason returns what went wrong with a file, without the file's name,
// which the caller gives in the words of the command line.
func plainReason(err error) error {
	if e, ok := err.(*fs.PathError); ok {
		return errors.Unwrap(e)
	}
	return err
}
