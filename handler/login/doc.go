// Package login signs people and workloads in: with OpenID providers, a code host, the
// service accounts of a Kubernetes cluster, and JSON web tokens. It keeps nothing of an
// attempt: what one needs is in a sealed cookie of the browser, and that it is used once is
// up to the transaction that creates the session.
package login
