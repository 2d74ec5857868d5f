// Package quickgrpc decodes the usual requests to evaluate flags, and encodes their
// responses, without reflection. It leaves everything else to protobuf.
//
// Measured with make bench-grpc (8 connections, as shares of the requests per second of
// bare grpc-go, medians of two runs): a boolean evaluation 0.95 with it and 0.83 without,
// a batch of 50 evaluations 0.56 and 0.21.
//
// The build tag simple disables it.
package quickgrpc
