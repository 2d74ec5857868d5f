package handler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/convert"
	"github.com/guidonhq/guidon/handler/wire/flipt"
	"github.com/guidonhq/guidon/service"
)

// memoryStore is a store with one snapshot.
type memoryStore struct {
	service.Store
	snapshot *guidon.Snapshot
}

func (s memoryStore) Snapshot(context.Context, string, service.Demand) (*guidon.Snapshot, time.Duration, error) {
	return s.snapshot, 0, nil
}

// TestPagesEndBySize checks that a client that follows the page tokens gets every flag
// once, in pages within the size limit, with and without its own limit.
func TestPagesEndBySize(t *testing.T) {
	var flags []*guidon.Flag
	for i := range 40 {
		flags = append(flags, &guidon.Flag{Key: fmt.Sprint(i), Description: strings.Repeat("x", i%5*(400<<10))})
	}
	flags[7].Description = strings.Repeat("x", 5<<20) // too large even alone
	h := handler.New(handler.Config{Service: service.NewService(memoryStore{snapshot: guidon.NewSnapshot(&guidon.Namespace{Key: "default"}, guidon.Revision{Number: 1}, flags, nil)}, time.Now)})
	for _, limit := range []int32{0, 3, 100} {
		request, next := &flipt.ListFlagRequest{Limit: limit}, 0
		for {
			answer, err := h.Invoke(t.Context(), operation(t, "ListFlags"), call.Request{Message: request})
			if err != nil {
				t.Fatal(err)
			}
			list := answer.Message.(*flipt.FlagList)
			if size := proto.Size(list); size > convert.MaxPage && len(list.GetFlags()) > 1 {
				t.Errorf("limit %d: a page of %d flags has %d bytes", limit, len(list.GetFlags()), size)
			}
			if list.GetTotalCount() != 40 {
				t.Errorf("limit %d: %d in all, want 40", limit, list.GetTotalCount())
			}
			for _, f := range list.GetFlags() {
				if f.GetKey() != fmt.Sprint(next) {
					t.Fatalf("limit %d: got flag %s, want %d", limit, f.GetKey(), next)
				}
				next++
			}
			if request.PageToken = list.GetNextPageToken(); request.PageToken == "" {
				break
			}
		}
		if next != 40 {
			t.Errorf("limit %d: got %d flags, want 40", limit, next)
		}
	}
}
