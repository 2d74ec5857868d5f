package machine

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// CallbackPath is the path at which the response is received.
const CallbackPath = "/callback"

// Limits on what a browser, or another program of this machine, may send. Browsers send
// the cookies of all ports of the host.
const (
	maxCallbackHeader = 256 << 10
	maxCallbackQuery  = 8 << 10
	maxCallbackCode   = 2 << 10
	callbackTimeout   = 5 * time.Second
)

// receiverCloseWait is how long Close waits until the browser has the page.
const receiverCloseWait = time.Second

// Receiver waits for one response on a free port of 127.0.0.1.
type Receiver struct {
	state  string
	host   string // address and port
	port   int
	codes  chan string // of the response, once; "" if the user denied the request
	used   atomic.Bool // there was a response
	server *http.Server
	served chan error
}

// ListenLoopback returns a receiver that accepts connections.
func ListenLoopback() (*Receiver, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &Receiver{
		state: rand.Text(), host: listener.Addr().String(), port: listener.Addr().(*net.TCPAddr).Port,
		codes: make(chan string, 1), served: make(chan error, 1),
	}
	r.server = &http.Server{
		Handler: r, MaxHeaderBytes: maxCallbackHeader,
		ReadTimeout: callbackTimeout, WriteTimeout: callbackTimeout, IdleTimeout: callbackTimeout,
		ErrorLog: log.New(io.Discard, "", 0), // it would be mixed with the output of the command
	}
	r.server.SetKeepAlivesEnabled(false)
	go func() { r.served <- r.server.Serve(listener) }()
	return r, nil
}

// Port returns the port that the response must be sent to.
func (r *Receiver) Port() int { return r.port }

// State returns the random state that the response must repeat.
func (r *Receiver) State() string { return r.state }

// ErrSignInDenied is the error of [Receiver.Receive] if the user denied the request.
var ErrSignInDenied = errors.New("denied in the browser")

// Receive waits for the response and returns its code. It returns [ErrDenied] if the
// response is an error, and the context's error if that ends first.
func (r *Receiver) Receive(ctx context.Context) (code string, err error) {
	select {
	case code := <-r.codes:
		if code == "" {
			return "", ErrSignInDenied
		}
		return code, nil
	case err := <-r.served:
		r.served <- err
		return "", err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Close stops listening. It waits for a moment until the browser has the page that it is
// being sent.
func (r *Receiver) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), receiverCloseWait)
	defer cancel()
	err := r.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = r.server.Close()
	}
	return err
}

// callbackPage is the page with a heading and a text.
//
//go:embed callback.html
var callbackPage string

// ServeHTTP implements [http.Handler]. Requests other than the response are rejected and
// change nothing: any page can send requests to this port.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	status, heading, text := http.StatusOK, "Back to the terminal", "The command line continues there. You may close this window."
	code, refusal := r.read(request)
	switch {
	case refusal != 0:
		status, heading = refusal, "Not signed in"
		text = "This is not the response that the command line is waiting for. You may close this window, and run the command again."
	case code == "":
		heading, text = "Denied", "The command line is not signed in. You may close this window."
	}
	if refusal == 0 {
		r.codes <- code
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, callbackPage, heading, text) // the command continues without a browser
}

// read returns the code of the response, "" for an error (RFC 6749 4.1.2.1), or the status
// for a request that is something else. It accepts one response only.
func (r *Receiver) read(request *http.Request) (code string, refusal int) {
	if request.Host != r.host { // a name that resolves to this address (DNS rebinding)
		return "", http.StatusMisdirectedRequest
	}
	if request.URL.Path != CallbackPath {
		return "", http.StatusNotFound
	}
	if request.Method != http.MethodGet {
		return "", http.StatusMethodNotAllowed
	}
	if len(request.URL.RawQuery) > maxCallbackQuery {
		return "", http.StatusRequestURITooLong
	}
	query, err := url.ParseQuery(request.URL.RawQuery)
	if err != nil {
		return "", http.StatusBadRequest
	}
	states, codes, failures := query["state"], query["code"], query["error"]
	if len(states) != 1 || subtle.ConstantTimeCompare([]byte(states[0]), []byte(r.state)) != 1 {
		return "", http.StatusForbidden
	}
	if len(codes)+len(failures) != 1 || len(codes) == 1 && (codes[0] == "" || len(codes[0]) > maxCallbackCode) {
		return "", http.StatusBadRequest
	}
	if !r.used.CompareAndSwap(false, true) {
		return "", http.StatusGone
	}
	if len(failures) > 0 {
		return "", 0
	}
	return codes[0], 0
}
