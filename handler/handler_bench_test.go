package handler_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/bench/floor"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/runtimes/server/metrics"
	"github.com/guidonhq/guidon/service"
)

// BenchmarkHandler measures an evaluation with a token, without net/http and the
// network: of one flag and of all flags in turn, with a trivial handler as the floor.
func BenchmarkHandler(b *testing.B) {
	const flags = 10_000
	const token = "gdn_bench"
	store := &benchStore{states: states{byKey: map[string]*guidon.Snapshot{"default": benchSnapshot(flags)}}}
	store.tokens = service.NewAuthenticationSet(guidon.Revision{Number: 1}, []*service.Authentication{
		{ID: "1", Method: service.MethodToken, TokenHash: service.HashToken(token)},
	})
	registry := metrics.New(metrics.Config{})
	h := handler.New(handler.Config{
		Service: service.NewService(store, time.Now), Observer: registry, Evaluations: registry,
		Authentication: call.AuthenticationConfig{Required: true, TokenMethod: true},
	})
	for _, kind := range []string{"boolean", "variant"} {
		for _, bench := range []struct {
			name    string
			handler http.Handler
			flags   int
		}{
			{"floor", floor.NewAnswer(http.StatusOK, 216), 1},
			{"one", h, 1},
			{"all", h, flags},
		} {
			b.Run(kind+"/"+bench.name, func(b *testing.B) {
				r := newBenchRequest(b, kind, token)
				w := &discardWriter{header: http.Header{}}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					r.about(i * 7919 % bench.flags)
					clear(w.header)
					bench.handler.ServeHTTP(w, r.Request)
				}
				if w.status > http.StatusOK {
					b.Fatal("status", w.status)
				}
			})
		}
	}
}

// benchRequest is a request that is reused for one flag after the other.
type benchRequest struct {
	*http.Request
	body   []byte
	reader bytes.Reader
	first  int // number of the first flag of the kind
	number int // offset of the flag's number in body
}

func newBenchRequest(b *testing.B, kind, token string) *benchRequest {
	r := &benchRequest{first: map[string]int{"boolean": 0, "variant": 1}[kind]}
	r.body = fmt.Appendf(nil, `{"namespaceKey":"default","flagKey":"%s","entityId":"user-0001","context":{"age":"42","beta":"true","country":"US"}}`, benchKey(r.first))
	r.number = bytes.Index(r.body, []byte("-0000")) + 1
	r.Request, _ = http.NewRequestWithContext(b.Context(), http.MethodPost, "/evaluate/v1/"+kind, io.NopCloser(&r.reader))
	r.ContentLength = int64(len(r.body))
	r.Header = http.Header{
		"Accept-Encoding": {"gzip"}, "Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "User-Agent": {"bench"},
	}
	return r
}

// about makes r a request for the flag of the kind at or next to i.
func (r *benchRequest) about(i int) {
	i = i&^1 + r.first
	for at := r.number + 4; at >= r.number; at-- {
		r.body[at] = byte('0' + i%10)
		i /= 10
	}
	r.reader.Reset(r.body)
}

// benchStore is a states that also has tokens.
type benchStore struct {
	states
	tokens *service.AuthenticationSet
}

func (s *benchStore) Authentications(context.Context, service.Demand, string) (*service.AuthenticationSet, time.Duration, error) {
	return s.tokens, 0, nil
}

type discardWriter struct {
	header http.Header
	status int
}

func (w *discardWriter) Header() http.Header         { return w.header }
func (w *discardWriter) WriteHeader(status int)      { w.status = max(w.status, status) }
func (w *discardWriter) Write(b []byte) (int, error) { return len(b), nil }
