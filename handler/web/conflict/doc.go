// Package conflict has the page of an edit that conflicts with the change of another user:
// the parts that both sides have changed, to choose from, and those that do not conflict. The
// pages of flags and segments show it instead of saving. It keeps the draft in hidden fields.
package conflict
