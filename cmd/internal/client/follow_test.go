package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/cmd/internal/client"
	"github.com/guidonhq/guidon/handler/wire/guidonv1"
)

// errEnough ends a Follower of a test.
var errEnough = errors.New("enough")

// A stream that ends is opened again after the last record that was received, until the
// server rejects it.
func TestFollow(t *testing.T) {
	streams := []string{
		"retry: 1\n\nid: 7.0\n\nid: 8.0\nevent: change\ndata: {\"revision\":8,\"key\":\"a\"}\n\n: keep-alive\n\nid: 8.1\r\nevent: change\r\ndata: {\"revision\":8,\"sequence\":1,\"key\":\"b\"}\r\n\r\nid: 9.0\nevent: change\ndata: {\"rev",
		"retry: 1\n\nid: 8.1\n\n",
		"unavailable",
		"retry: 1\n\nid: 9.0\nevent: change\ndata: {\"revision\":9,\ndata: \"key\":\"" + strings.Repeat("c", 10_000) + "\"}\n\n",
		"forbidden",
	}
	var requests []string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.String()+" "+r.Header.Get("Authorization"))
		next := streams[0]
		streams = streams[1:]
		switch next {
		case "unavailable":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "forbidden":
			w.WriteHeader(http.StatusForbidden)
			_, _ = w.Write([]byte(`{"code":7,"message":"permission denied","details":[]}`))
		default:
			_, _ = w.Write([]byte(next))
		}
	}))
	defer web.Close()
	var got []string
	lost := 0
	err := client.Follower{
		Namespace: "a b", After: "7",
		Each: func(c *guidonv1.Change) error {
			got = append(got, fmt.Sprintf("%s %.3s", client.PositionOf(c), c.GetKey()))
			return nil
		},
		Lost: func(error) { lost++ },
	}.Follow(t.Context(), web.URL+"/base/", client.Options{Token: "s3cret"})
	if !errors.Is(err, guidon.PermissionDenied) {
		t.Errorf("got error %v, want PermissionDenied", err)
	}
	if diff := cmp.Diff([]string{"8.0 a", "8.1 b", "9.0 ccc"}, got); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
	var want []string
	for _, from := range []string{"7", "8.1", "8.1", "8.1", "9.0"} {
		want = append(want, "/base/api/v1/namespaces/a%20b/changes/stream?from="+from+" Bearer s3cret")
	}
	if diff := cmp.Diff(want, requests); diff != "" || lost != 4 {
		t.Errorf("lost %d times, want 4; requests (-want +got):\n%s", lost, diff)
	}
}

// A stream that was never open, a wrong address and an error of the caller end Follow.
func TestFollowErrors(t *testing.T) {
	rejecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"code":16,"message":"request was not authenticated","details":[]}`))
	}))
	defer rejecting.Close()
	unavailable := httptest.NewServer(http.NotFoundHandler())
	unavailable.Close()
	for address, want := range map[string]guidon.Code{
		rejecting.URL: guidon.Unauthenticated, unavailable.URL: guidon.Unavailable,
		"grpc://127.0.0.1:9000": guidon.InvalidArgument,
		start(t, false).web:     guidon.NotFound, // which has no streams
	} {
		err := client.Follower{After: "0", Lost: func(err error) { t.Errorf("lost: %v", err) }}.Follow(t.Context(), address, client.Options{Token: "s3cret"})
		if !errors.Is(err, want) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got error %v, want %v", address, err, want)
		}
	}

	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("id: 1.0\nevent: change\ndata: {}\n\n"))
		if r.URL.Query().Get("from") != "0" {
			t.Errorf("got %s, want one stream", r.URL)
		}
	}))
	defer web.Close()
	each := func(*guidonv1.Change) error { return errEnough }
	if err := (client.Follower{After: "0", Each: each}).Follow(t.Context(), web.URL, client.Options{}); !errors.Is(err, errEnough) {
		t.Errorf("got error %v, want that of the caller", err)
	}
}

// A server that says nothing is given up, and an end of the context ends Follow.
func TestFollowEnds(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	err := client.Follower{After: "0"}.Follow(t.Context(), silent.URL, client.Options{Timeout: 20 * time.Millisecond})
	if !errors.Is(err, guidon.Unavailable) || !strings.Contains(err.Error(), "no response") {
		t.Errorf("silence: got error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("id: 1.0\nevent: change\ndata: {}\n\n"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer open.Close()
	var got []string
	err = client.Follower{After: "0", Each: func(c *guidonv1.Change) error {
		got = append(got, client.PositionOf(c))
		cancel()
		return nil
	}}.Follow(ctx, open.URL, client.Options{})
	if !errors.Is(err, guidon.Canceled) || !slices.Equal(got, []string{"0.0"}) {
		t.Errorf("got %q and error %v, want one record and Canceled", got, err)
	}
}
