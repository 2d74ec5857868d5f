// Package plan has the operations on states: what distinguishes two of them, and plans that
// bring objects of one into another.
package plan
