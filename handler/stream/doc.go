// Package stream limits, counts and ends the event streams of a process, and reads change
// records once for all streams that need the same ones.
package stream
