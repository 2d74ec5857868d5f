package document

// PlacedError is an error of [Decode] at a known place of a YAML stream. Its text has the
// line.
type PlacedError struct {
	Line, Column int // from 1
	Err          error
}

// Error returns the text of the cause.
func (e *PlacedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *PlacedError) Unwrap() error { return e.Err }

// at returns the error with its place, if that is known.
func at(line, column int, err error) error {
	if line == 0 || column == 0 {
		return err
	}
	return &PlacedError{line, column, err}
}
