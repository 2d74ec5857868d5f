// Package compare has the page that compares a namespace with another one, or with an
// earlier state of itself, and brings selected flags and segments over.
package compare
