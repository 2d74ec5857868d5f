package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// interruptible is a reader whose Read returns when the context ends. The underlying
// reader may block forever, waiting for the user to type. It is not safe for
// concurrent use.
type interruptible struct {
	ctx    context.Context
	reader io.Reader
	rest   []byte // read but not yet returned
}

type chunk struct {
	data []byte
	err  error
}

// Read implements io.Reader. After the context has ended, the underlying reader must
// not be used: a read may still be in progress.
func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.rest) > 0 {
		n := copy(p, r.rest)
		r.rest = r.rest[n:]
		return n, nil
	}
	done := make(chan chunk, 1)
	go func() {
		data := make([]byte, 32<<10) // not p, which must not be used after Read returns
		n, err := r.reader.Read(data)
		done <- chunk{data[:n], err}
	}()
	select {
	case <-r.ctx.Done():
		return 0, r.ctx.Err()
	case c := <-done:
		n := copy(p, c.data)
		r.rest = c.data[n:]
		if len(r.rest) > 0 {
			return n, nil // the next read returns the error again, if any
		}
		return n, c.err
	}
}

// ReadLine returns a line of the standard input without white space around it.
func (p *Program) ReadLine(ctx context.Context, limit int64) (string, error) {
	reader := bufio.NewReader(io.LimitReader(&interruptible{ctx: ctx, reader: p.In}, limit))
	line, err := reader.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	if int64(len(line)) == limit {
		return "", fmt.Errorf("the input is too long: at most %d bytes are allowed", limit-1)
	}
	return strings.TrimSpace(line), nil
}

// ReadHidden reads a line from the terminal without echo. If the context ends, the terminal
// echoes again.
func ReadHidden(ctx context.Context, terminal *os.File) (string, error) {
	fd := int(terminal.Fd()) // #nosec G115 -- a file descriptor
	state, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	done := make(chan chunk, 1)
	go func() {
		line, err := term.ReadPassword(fd)
		done <- chunk{line, err}
	}()
	select {
	case <-ctx.Done():
		return "", errors.Join(ctx.Err(), term.Restore(fd, state))
	case line := <-done:
		return strings.TrimSpace(string(line.data)), line.err
	}
}
