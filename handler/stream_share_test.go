package handler_test

import (
	"net/http"
	"testing"

	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/internal/bubble"
	"github.com/guidonhq/guidon/service"
)

// TestStreamSlots checks that callers without a valid token take no slot, and that
// another token gets its share when one has taken all slots.
func TestStreamSlots(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		j := newJournal()
		j.setTokens(
			&service.Authentication{ID: "greedy", Method: service.MethodToken, TokenHash: service.HashToken("greedy")},
			&service.Authentication{ID: "other", Method: service.MethodToken, TokenHash: service.HashToken("other")},
		)
		h, streams := streaming(j, func(c *handler.Config) {
			c.Authentication = call.AuthenticationConfig{Required: true, TokenMethod: true}
		})
		const path = "/api/v1/namespaces/default/changes/stream"
		open := func(token string) *streamClient { return listen(t, h, path, "Authorization", "Bearer "+token) }

		var greedy []*streamClient
		for range 3 {
			greedy = append(greedy, open("greedy"))
		}
		for token, want := range map[string]int{"wrong": http.StatusUnauthorized, "greedy": http.StatusServiceUnavailable} {
			if l := open(token); !l.ended() || l.wire.Code != want {
				t.Errorf("%s, when all slots are taken: %d, want %d", token, l.wire.Code, want)
			}
		}
		other := open("other")
		if other.ended() {
			t.Errorf("the other token got no slot: %d", other.wire.Code)
		}
		displaced := 0
		for _, l := range greedy {
			if l.ended() {
				displaced++
			}
		}
		if got := streams.Stats()[1]; displaced != 1 || got.Open != 3 || got.Refused != 1 || got.Ended["share"] != 1 {
			t.Errorf("%d streams displaced, counted %+v; want 1, of 3 open, 1 refused", displaced, got)
		}
		for _, l := range append(greedy, other) {
			l.cancel()
			<-l.done
		}
	})
}
