package ofrep

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/codec/jsontext"
	"github.com/guidonhq/guidon/handler/limit"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/service/count"
)

// maxKeys is how many flags a bulk request may name.
const maxKeys = 1000

// Evaluate evaluates one flag (OFREP 3).
func (p *Protocol) Evaluate(
	ctx context.Context, s *service.Service, c *call.Call, q *Request, request *call.Request,
) (call.Response, error) {
	view, err := s.ViewOrEmpty(ctx, q.namespace, c.Demand)
	events := p.evaluator.Events(c, view.State)
	defer events.End()
	if err != nil {
		events.Unknown(q, err, 0)
		return call.Response{State: view.State}, err
	}
	a := p.evaluate(view.Snapshot, q, q.flag, events)
	a.count(view.Counter, view.Namespace)
	if a.err != nil {
		return call.Response{State: view.State}, a.err
	}
	b := a.append(q.answer.content)
	if err := request.Reserve(ctx, int64(len(b))); err != nil {
		return call.Response{State: view.State}, err
	}
	return q.reply(view.State, b), nil
}

// EvaluateAll evaluates every flag of the namespace, or those named in the
// context, sorted by key. A flag that fails is an error in the list: it must not
// deprive a loading page of all others (OFREP 4). If the client already has the
// response, nothing is evaluated (OFREP 6).
func (p *Protocol) EvaluateAll(
	ctx context.Context, s *service.Service, c *call.Call, q *Request, request *call.Request,
) (call.Response, error) {
	view, err := s.ViewOrEmpty(ctx, q.namespace, c.Demand)
	if err != nil {
		p.observeFailedBulk(c, view.State, q, err)
		return call.Response{State: view.State}, err
	}
	view.Counter.Namespace(view.Namespace, count.Bulk)
	snapshot := view.Snapshot
	offer := p.offerStream(c, q)
	etag := q.etag(snapshot, offer)
	if matchesETag(request.IfNoneMatch, etag) {
		return call.Response{State: view.State, ETag: etag, NotModified: true}, nil
	}
	keys, err := q.keys(snapshot)
	if err != nil {
		return call.Response{State: view.State}, err
	}
	events := p.evaluator.Events(c, view.State)
	defer events.End()
	if answerSizes.Of(snapshot) > limit.SmallBudget/8 { // escapes can make it several times as large
		events.Hold()
	}
	b := append(slices.Grow(q.answer.content, 64+160*min(len(keys), 4096)), `{"flags":[`...)
	for i, key := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		a := p.evaluate(snapshot, q, key, events)
		b = a.append(b)
		if err := reserveAnswer(ctx, request, len(b)); err != nil {
			events.Discard(err)
			for _, q.flag = range keys[i+1:] {
				events.Unknown(q, err, 0)
			}
			return call.Response{State: view.State}, err
		}
	}
	b = append(b, ']')
	if offer != nil {
		b = offer.append(b, p.streams.PublicURL(), snapshot.Namespace().Key)
	}
	b = jsontext.AppendString(append(b, `,"metadata":{"flagSetId":`...), snapshot.Namespace().Key)
	b = strconv.AppendInt(append(b, `,"version":"`...), snapshot.Revision().Number, 10)
	response := q.reply(view.State, append(b, `"}}`...))
	response.ETag = etag
	return response, nil
}

// reserveAnswer reserves memory for a bulk response that has grown to the size.
func reserveAnswer(ctx context.Context, r *call.Request, size int) error {
	switch {
	case size > maxAnswer:
		return guidon.Errorf(guidon.TooLarge,
			"the response exceeds %d bytes; name fewer flags in the field context.flags, separated by commas", maxAnswer)
	case int64(size) > max(r.Memory.Size(), limit.SmallBudget):
		return r.Reserve(ctx, 2*int64(size))
	}
	return nil
}

// observeFailedBulk reports a failure of every named flag. If the context names none it
// reports one failure without a flag, because the flags are then not known.
func (p *Protocol) observeFailedBulk(c *call.Call, state service.State, q *Request, err error) {
	keys := []string{""}
	if q.context.Flags != "" {
		var invalid error
		if keys, invalid = q.namedKeys(); invalid != nil {
			return
		}
	}
	events := p.evaluator.Events(c, state)
	defer events.End()
	for _, key := range keys {
		q.flag = key
		events.Unknown(q, err, 0)
	}
}

// sortedFlags are the flags in the order of their keys.
var sortedFlags = guidon.NewFlagsDerivation(
	guidon.NewSorted(func(a, b *guidon.CompiledFlag) int { return strings.Compare(a.Flag().Key, b.Flag().Key) }, nil),
	func(before guidon.Sorted[*guidon.CompiledFlag], changes []guidon.FlagChange) guidon.Sorted[*guidon.CompiledFlag] {
		return before.With(guidon.SplitChanges(changes))
	},
)

var sortedKeys = guidon.NewDerivation(func(s *guidon.Snapshot) []string {
	keys := make([]string, 0, sortedFlags.Of(s).Len())
	for f := range sortedFlags.Of(s).All() {
		keys = append(keys, f.Flag().Key)
	}
	return keys
})

// answerSizes estimates the largest bulk response, in bytes and without escapes.
var answerSizes = guidon.NewFlagsDerivation(0, func(size int, changes []guidon.FlagChange) int {
	before, after := guidon.SplitChanges(changes)
	for _, f := range before {
		size -= answerSize(f.Flag())
	}
	for _, f := range after {
		size += answerSize(f.Flag())
	}
	return size
})

func answerSize(f *guidon.Flag) int {
	largest := 0
	for _, v := range f.Variants {
		largest = max(largest, 2*len(v.Key)+len(v.Attachment))
	}
	return 256 + len(f.Key) + len(f.Metadata) + largest
}

// keys returns the keys of the requested flags: those listed in the property flags,
// separated by commas as in Flipt v1, or all.
func (q *Request) keys(s *guidon.Snapshot) ([]string, error) {
	if q.context.Flags == "" {
		return sortedKeys.Of(s), nil
	}
	return q.namedKeys()
}

// namedKeys returns the keys listed in the property flags, sorted and without
// duplicates.
func (q *Request) namedKeys() ([]string, error) {
	var keys []string
	for key := range strings.SplitSeq(q.context.Flags, ",") {
		if key = strings.TrimSpace(key); key == "" {
			continue
		}
		if keys = append(keys, key); len(keys) > maxKeys {
			return nil, guidon.Errorf(guidon.TooLarge, "invalid field context.flags: must not name more than %d flags", maxKeys)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys), nil
}

// encodingVersion is part of the ETag. It must be incremented whenever the encoding of
// the same state and context changes, so that clients do not keep the old response.
const encodingVersion = 1

// etag returns the ETag of the bulk response, without quotes. It is a digest of all that
// the response depends on: number and stamp of the revision, the epoch, the offered stream,
// and the whole context (OFREP 6).
func (q *Request) etag(s *guidon.Snapshot, offer *streamOffer) string {
	b := q.answer.content
	text := func(text string) {
		b = binary.AppendUvarint(b, uint64(len(text)))
		b = append(b, text...)
	}
	b = binary.AppendUvarint(b, encodingVersion)
	b = binary.AppendVarint(b, s.Revision().Number)
	b = binary.AppendVarint(b, s.Revision().Stamp)
	text(s.Namespace().Key)
	if n := len(s.Unreadable()); n > 0 { // another release may be able to read them
		text("unreadable " + strconv.Itoa(n))
	}
	if epoch := s.Epoch(); epoch != 0 {
		text("epoch " + strconv.FormatInt(epoch, 10))
	}
	text(string(offer.appendIdentity(nil)))
	text(q.context.Flags) // the property alone does not show whether flags was a string
	var few [16]string    // avoids an allocation for the usual context
	names := few[:0]
	for name := range q.context.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		text(name)
		text(q.context.Properties[name])
	}
	digest := sha256.Sum256(b)
	return base64.RawURLEncoding.EncodeToString(digest[:18])
}

// matchesETag reports whether the header If-None-Match contains the ETag. It
// ignores "*": a client that sends it need not have a response (OFREP 6).
func matchesETag(header, etag string) bool {
	return !strings.Contains(header, "*") && call.MatchesETag(header, etag)
}
