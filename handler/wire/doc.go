// Package wire is the folder of the wire vocabulary: the .proto files and the
// messages generated from them, which HTTP and gRPC share and nothing below
// package handler sees. It has no code of its own.
//
//   - flipt: management and legacy evaluation (contract 12.1)
//   - evaluation: evaluation and client-side snapshots (contract 12.2)
//   - auth: authentication (contract 12.3)
//   - meta: what the running instance is (contract 12.4)
//   - analytics: evaluation counts (contract 12.6)
//   - guidonv1: the operations that are our own
//
// Field numbers are a promise to clients; wire_test.go guards them. After a
// change to a .proto file, run "go run ./protogen ../../handler/wire" in
// infra/tools and commit what it writes.
package wire
