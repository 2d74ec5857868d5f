// Package integration tests the real binary as its users run it: started,
// killed and stopped as a process, driven over the network by plain HTTP, gRPC
// and published client libraries. It holds tests only.
package integration
