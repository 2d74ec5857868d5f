// Package stream serves event streams. Its [Hub] limits, counts and ends the streams of a
// process, and reads change records once for all streams that need the same ones. The
// events of a stream come from its [Listener].
package stream
