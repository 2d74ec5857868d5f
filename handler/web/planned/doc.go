// Package planned shows what a plan would change, and applies it: the list of the objects
// with the changes in sentences, what that means for people, and the form that confirms it.
package planned
