package client

import (
	"cmp"
	"context"
	"io"
	"time"

	"github.com/guidonhq/guidon"
)

// Download writes the content at the path of the server to a writer. The scheme of the address
// must be http or https. The timeout of the options limits how long the server may be
// silent, before and while it sends. After an error a part may have been written.
func Download(ctx context.Context, address, path string, options Options, to io.Writer) error {
	u, err := parse(address)
	if err != nil {
		return err
	}
	if isGRPC(u) {
		return guidon.Errorf(guidon.InvalidArgument, "files can be downloaded only over HTTP; use an http:// or https:// address")
	}
	options.Timeout = cmp.Or(options.Timeout, defaultTimeout)
	c, err := newHTTP(u, options)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.receive(ctx, path, "", func(body io.Reader, silence *time.Timer, failed func(error) error) error {
		received := readerFunc(func(p []byte) (int, error) {
			n, err := body.Read(p)
			silence.Reset(c.options.Timeout)
			if err != nil && err != io.EOF {
				err = c.failure(ctx, failed(err))
			}
			return n, err
		})
		_, err := io.Copy(to, received)
		return err
	})
}

type readerFunc func(p []byte) (int, error)

// Read implements [io.Reader].
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
