// Package changes has the pages about changes: the list of changes of a
// namespace, one change, the history of a flag or segment, and the review before a change
// is undone or a state restored.
package changes
