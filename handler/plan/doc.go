// Package plan has the operations on states: what distinguishes two of them, plans that
// bring objects of one into another, and plans that undo changes.
package plan
