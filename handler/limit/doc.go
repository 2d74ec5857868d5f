// Package limit bounds what callers may use up: the memory of the requests in progress, turns
// for those that take much work, requests and failed credentials by rates. It also finds the
// address of a caller, by which failures are counted.
package limit
