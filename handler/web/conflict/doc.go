// Package conflict has the page of an edit that met the change of somebody else: what both
// sides have changed, to choose from, and what goes together. The pages of flags and segments
// show it instead of saving, and it keeps what was entered in hidden fields.
package conflict
