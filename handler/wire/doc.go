// Package wire is the parent directory of the wire messages: the .proto files and the
// code generated from them. HTTP and gRPC share the messages, and no package below
// handler imports them. Package wire has no code of its own.
//
//   - flipt: management and legacy evaluation (contract 12.1)
//   - evaluation: evaluation and client-side snapshots (contract 12.2)
//   - auth: authentication (contract 12.3)
//   - meta: information about the running instance (contract 12.4)
//   - analytics: evaluation counts (contract 12.6)
//   - guidonv1: operations that are not part of Flipt v1
//
// Field numbers are a promise to clients; wire_test.go checks them. After a change to a
// .proto file, run "go run ./protogen ../../handler/wire" in infra/tools and commit the
// generated files.
package wire
