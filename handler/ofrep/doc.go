// Package ofrep serves the OpenFeature Remote Evaluation Protocol. The protocol has its
// own format of errors, contexts that fit no message, and no gRPC.
package ofrep
