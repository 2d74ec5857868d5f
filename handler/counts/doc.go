// Package counts has the operations on how often flags were evaluated.
package counts
