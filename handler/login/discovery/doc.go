// Package discovery gets the documents in which OpenID providers and Kubernetes API
// servers publish their endpoints (OpenID Connect Discovery 1.0).
package discovery
