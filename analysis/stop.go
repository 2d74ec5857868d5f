package analysis

import "context"

// stop ends an analysis when the context of its caller has ended: some flags take more time
// than a request may.
type stop struct {
	ctx   context.Context
	units int // done since the context was checked; stopUnits at the beginning
	err   error
}

// stopUnits is the work between two checks of the context.
const stopUnits = 1000

// after counts work, and reports whether the analysis must stop.
func (s *stop) after(units int) bool {
	if s.units += units; s.units >= stopUnits {
		s.units, s.err = 0, s.ctx.Err()
	}
	return s.err != nil
}
