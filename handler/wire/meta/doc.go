// Package meta holds the service that describes the running instance, as
// contract 12.4 names it. Its answers are JSON documents, so it has no messages.
package meta
