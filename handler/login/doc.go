// Package login signs people and workloads in: with OpenID providers, a code host, the
// service accounts of a Kubernetes cluster, and JSON web tokens. It keeps nothing of an
// attempt: its state is in a sealed cookie of the browser. The transaction that creates the
// session ensures that it is used only once.
package login
