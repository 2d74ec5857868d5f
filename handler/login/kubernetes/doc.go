// Package kubernetes verifies tokens of Kubernetes service accounts, which workloads
// exchange for client tokens.
package kubernetes
