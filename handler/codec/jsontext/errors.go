package jsontext

import "errors"

// Errors of the functions that read JSON.
var (
	ErrSyntax = errors.New("malformed json")
	ErrValue  = errors.New("wrong type of value")
)
