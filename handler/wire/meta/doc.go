// Package meta has the service that describes the running instance, named as in contract
// 12.4. Its responses are JSON documents, so it has no messages.
package meta
