// Package provider speaks HTTP to the parties that vouch for people and workloads:
// OpenID providers, code hosts and Kubernetes API servers. It limits the cost of one that
// is slow, broken or hostile, and keeps its error texts away from clients: they are in a
// [Failure], which only logs may contain.
package provider
