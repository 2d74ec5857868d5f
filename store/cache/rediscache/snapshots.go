package rediscache

import (
	"context"

	"github.com/guidonhq/guidon"
)

// maxSnapshotSize limits the size of a snapshot in Redis, in bytes. A larger one is
// only in the database.
const maxSnapshotSize = 8 << 20

// getSnapshot returns the snapshot of the namespace at the revision, or nil and whether
// the caller should store it. A value that is damaged, or was not stored by the
// service, counts as none.
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

// putSnapshot stores the snapshot in Redis, if possible.
func (s *Source) putSnapshot(ctx context.Context, snapshot *guidon.Snapshot) {
	text, err := encode(snapshot)
	if err != nil || len(text) > maxSnapshotSize {
		return // the claim of getSnapshot keeps others from trying for a while
	}
	// Without the snapshot in Redis, others load it from the database.
	_, _ = s.runScript(ctx, putSnapshotScript, run{[]string{s.snapshotKey(snapshot.Namespace().Key)},
		[]any{formatRevision(snapshot.Revision()), text, milliseconds(snapshotTTL)}})
}
