package handler

import (
	"bytes"
	"compress/gzip"
	_ "embed" // openapi.yaml.gz
	"io"
	"net/http"
	"net/netip"
	"sync"

	"github.com/guidonhq/guidon"
)

// compressedOpenAPI is openapi.yaml, which is fifteen times as large.
//
//go:embed openapi.yaml.gz
var compressedOpenAPI []byte

var openAPI = sync.OnceValues(func() ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(compressedOpenAPI))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
})

func (h *Handler) serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	x := w.(*exchange)
	text, err := openAPI()
	if err != nil {
		x.replyError(err)
		return
	}
	x.reply(http.StatusOK, "application/yaml", text)
}

// serveAnalytics answers that there are none, to those who may ask
// (operations 1.2).
func (h *Handler) serveAnalytics(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	if h.config.Authentication.Required {
		if err := h.identifyUnlimited(r); err != nil {
			x.replyError(err)
			return
		}
	}
	x.replyError(guidon.Errorf(guidon.Unimplemented, "analytics is switched off"))
}

func (h *Handler) serveMetrics(w http.ResponseWriter, r *http.Request) {
	x := w.(*exchange)
	x.event.quiet = true
	if !h.config.MetricsPublic {
		if err := h.guard(r, "set metrics.public, or "); err != nil {
			x.replyError(err)
			return
		}
	}
	h.config.Metrics.ServeHTTP(w, r)
}

func (h *Handler) serveProfiling(w http.ResponseWriter, r *http.Request) {
	if err := h.guard(r, ""); err != nil {
		w.(*exchange).replyError(err)
		return
	}
	h.config.Profiling.ServeHTTP(w, r)
}

// guard keeps strangers from what tells about the inside: with authentication,
// whoever has no credential for the whole instance; without, whoever is not on
// this machine. otherwise is a further way in, for the message.
func (h *Handler) guard(r *http.Request, otherwise string) error {
	if h.config.Authentication.Required {
		err := h.identifyUnlimited(r)
		if guidon.CodeOf(err) != guidon.Unauthenticated {
			return err
		}
		return &guidon.Error{
			Code:    guidon.Unauthenticated,
			Message: guidon.PublicMessage(err) + ": " + otherwise + "present a token that is not limited to a namespace",
			Err:     err,
		}
	}
	if fromThisMachine(r) {
		return nil
	}
	return guidon.Errorf(guidon.PermissionDenied,
		"permission denied: only callers on the same machine may read this; %srequire authentication and present a token", otherwise)
}

// identifyUnlimited returns Unauthenticated unless the request has a credential
// that is not limited to a namespace.
func (h *Handler) identifyUnlimited(r *http.Request) error {
	a, err := h.identify(r.Context(), r.Header["Authorization"], r.Header["Cookie"])
	if err != nil {
		return err
	}
	if _, limited := a.Scope(); limited {
		return unauthenticated("the token is limited to a namespace")
	}
	return nil
}

// fromThisMachine tells whether the request comes from this machine itself. One
// that a proxy here passes on comes from elsewhere.
func fromThisMachine(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Real-Ip"} {
		if len(r.Header[name]) > 0 {
			return false
		}
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}
