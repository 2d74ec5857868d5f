package rediscache

import (
	"context"

	"github.com/guidonhq/guidon"
)

// maxSnapshotSize bounds a snapshot in Redis, in bytes. A larger one is the database's
// alone.
const maxSnapshotSize = 8 << 20

// getSnapshot returns the snapshot of the namespace at the revision, or nil, and then
// whether it is wanted of the caller. What Redis has there that is damaged, or not
// the service's, is none.
func (s *Source) getSnapshot(ctx context.Context, namespace string, revision guidon.Revision) (snapshot *guidon.Snapshot, wanted bool) {
	answers, err := s.runScript(ctx, getSnapshotScript, run{[]string{s.snapshotKey(namespace)},
		[]any{formatRevision(revision), milliseconds(snapshotTTL), milliseconds(claimTTL)}})
	if err != nil {
		return nil, false
	}
	if snapshot = decode(answers[0], namespace, revision); snapshot != nil {
		s.stats.snapshots.hits.Add(1)
		return snapshot, false
	}
	s.stats.snapshots.misses.Add(1)
	return nil, answers[0] != ""
}

// putSnapshot puts the snapshot into Redis, if that can be done.
func (s *Source) putSnapshot(ctx context.Context, snapshot *guidon.Snapshot) {
	text, err := encode(snapshot)
	if err != nil || len(text) > maxSnapshotSize {
		return // the claim of take keeps the others from trying for a while
	}
	// Redis being full is no reason not to ask it for revisions.
	_, _ = s.runScript(ctx, putSnapshotScript, run{[]string{s.snapshotKey(snapshot.Namespace().Key)},
		[]any{formatRevision(snapshot.Revision()), text, milliseconds(snapshotTTL)}})
}
