// Package review has what visitors see of a change before it is made: its differences and
// effects in sentences, plans with the form that confirms them, and the page of an edit that
// conflicts with the change of another user.
package review
