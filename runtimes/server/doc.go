// Package server runs the handler as a long-running process: the HTTP and gRPC
// listeners (contract 1.1), health, metrics, background loops, and the graceful
// stop that ends all of them.
//
// gRPC is built from the operations table of package handler, so that neither
// transport can have a call or a check that the other lacks. [Run] starts everything, and
// waits for everything to end before it returns.
package server
