// Package segment has the pages of segments: their list, the constraints of one with the
// editor, what uses it, and the confirmation before it is deleted.
//
// What is edited is a [draft], which is in the form of the page from the first button on until
// it is saved: every button but the one that saves shows the same page with the draft changed.
package segment
