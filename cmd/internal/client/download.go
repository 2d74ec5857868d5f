package client

import (
	"context"
	"io"
	"time"
)

// Download writes the content at the path of the server to a writer. The scheme of the address
// must be http or https. The timeout of the options limits how long the server may be
// silent, before and while it sends. After an error a part may have been written.
func Download(ctx context.Context, address, path string, options Options, to io.Writer) error {
	c, err := dialHTTP(address, options, "files can be downloaded")
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
