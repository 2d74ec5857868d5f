// Package failures limits how many failed credentials are answered as such.
package failures
