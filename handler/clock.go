package handler

import "time"

// epoch is when the process started.
var epoch = time.Now()

// tick is time.Now for durations, at half the cost: it does not read the wall clock.
// The wall time of its result is that of epoch plus the time that has passed since.
func tick() time.Time { return epoch.Add(time.Since(epoch)) }
