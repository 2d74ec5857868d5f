package service

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/guidonhq/guidon/change"
)

// MaxMessageLength is the maximum length of [Write.Message], in characters.
const MaxMessageLength = 1000

// Write is on whose behalf something is changed, under which condition, and why.
type Write struct {
	By      Caller
	IfMatch *int64        // the change fails unless this is the current revision number
	Message string        // why, in the words of the caller; see [Write.Validate]
	Reason  change.Reason // the kind of write; zero for a direct one
	DryRun  bool          // everything is checked and returned as for a write, and nothing is stored
}

// Validate returns InvalidArgument if the message is too long, or has characters that hide
// its content. The methods of [Service] make this check; a caller of a [Store] must make it
// itself.
func (w Write) Validate() error {
	switch {
	case w.Message == "":
	case len(w.Message) > MaxMessageLength && utf8.RuneCountInString(w.Message) > MaxMessageLength:
		return invalidField("message", fmt.Sprintf("must not be longer than %d characters", MaxMessageLength))
	case !utf8.ValidString(w.Message):
		return invalidField("message", "must be valid UTF-8")
	case !IsClean(w.Message):
		return invalidField("message", "must not contain line breaks or other control characters")
	}
	return nil
}

// update is [Store.Update] with a valid w.
func (s *Service) update(ctx context.Context, namespace string, w Write, fn func(ctx context.Context, tx Tx) error) (int64, error) {
	if err := w.Validate(); err != nil {
		return 0, err
	}
	checked := func(ctx context.Context, tx Tx) error {
		links := newLinkTx(tx, namespace)
		if err := fn(ctx, links); err != nil {
			return err
		}
		return links.check(ctx)
	}
	if !w.DryRun {
		return s.store.Update(ctx, namespace, w, checked)
	}
	revision, err := s.store.Update(ctx, namespace, w, func(ctx context.Context, tx Tx) error {
		return cmp.Or(checked(ctx, tx), errDryRun)
	})
	return revision, ofDryRun(err)
}

// errDryRun ends the transaction of a dry run that would succeed.
var errDryRun = errors.New("dry run")

// ofDryRun returns the error of the dry run, or nil if a write would succeed.
func ofDryRun(err error) error {
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

// updateAuthentications is [Store.UpdateAuthentications] with a valid w.
func (s *Service) updateAuthentications(ctx context.Context, w Write, fn func(ctx context.Context, tx AuthenticationTx) error) error {
	if err := w.Validate(); err != nil {
		return err
	}
	if !w.DryRun {
		return s.store.UpdateAuthentications(ctx, w, fn)
	}
	return ofDryRun(s.store.UpdateAuthentications(ctx, w, func(ctx context.Context, tx AuthenticationTx) error {
		return cmp.Or(fn(ctx, tx), errDryRun)
	}))
}

// Caller is who makes a request.
type Caller struct {
	Actor          change.Actor    // the author of changes; if it is zero, see Author
	Authentication *Authentication // the credential presented, or nil
	RequestID      string
	RequestIDGiven bool   // RequestID was chosen by the client, which may reuse it
	Address        string // if changes of authentications and bindings record it
}

// Author returns the actor that change records name: [change.Anonymous] if there is none.
func (c Caller) Author() change.Actor {
	if c.Actor == (change.Actor{}) {
		return change.Anonymous
	}
	return c.Actor
}
