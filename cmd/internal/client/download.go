package client

import (
	"cmp"
	"context"
	"io"
	"net/http"
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
	c, err := newHTTP(u, options)
	if err != nil {
		return err
	}
	defer c.Close()
	downloading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := cmp.Or(options.Timeout, defaultTimeout)
	silence := time.AfterFunc(limit, func() { cancel(errSilent) })
	defer silence.Stop()
	failed := func(err error) error { return c.failure(ctx, cmp.Or(context.Cause(downloading), err)) }
	request, err := http.NewRequestWithContext(downloading, http.MethodGet, c.address+path, nil)
	if err != nil {
		return err
	}
	if options.Token != "" {
		request.Header.Set("Authorization", "Bearer "+options.Token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10)) // the status is known anyway
		return c.statusError(response, body)
	}
	received := readerFunc(func(p []byte) (int, error) {
		n, err := response.Body.Read(p)
		silence.Reset(limit)
		if err != nil && err != io.EOF {
			err = failed(err)
		}
		return n, err
	})
	_, err = io.Copy(to, received)
	return err
}

type readerFunc func(p []byte) (int, error)

// Read implements [io.Reader].
func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
