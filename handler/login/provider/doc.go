// Package provider speaks HTTP to the parties that vouch for people and workloads:
// OpenID providers, code hosts and Kubernetes API servers. It limits what one that is
// slow, broken or hostile can cost, and keeps its words away from clients: they are in
// a [Failure], which only logs may contain.
package provider
