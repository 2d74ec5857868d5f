// Package plan has the operations on states: what distinguishes two of them.
package plan
