// Package bucket limits how often something happens, by buckets that fill at a rate, also
// for many keys in limited memory.
package bucket
