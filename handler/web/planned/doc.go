// Package planned shows the changes of a plan, and applies it: the list of the objects
// with the changes in sentences, the effects on people, and the form that confirms it.
package planned
