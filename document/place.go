package document

import (
	"bytes"
	"unicode/utf8"
)

// PlacedError is an error of [Decode] at a known place of a stream.
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

// places finds the lines and columns of offsets, which must not decrease.
type places struct {
	text         []byte
	at           int // the offset of the last place
	line, column int // of the last place
}

// placesOf returns the places in text.
func placesOf(text []byte) *places { return &places{text: text, line: 1, column: 1} }

// of returns the line and the column, in characters, of the byte at the offset.
func (p *places) of(offset int) (line, column int) {
	end := min(offset, len(p.text))
	passed := p.text[p.at:end]
	if breaks := bytes.Count(passed, []byte("\n")); breaks > 0 {
		p.line += breaks
		p.column = 1
		passed = passed[bytes.LastIndexByte(passed, '\n')+1:]
	}
	p.column += utf8.RuneCount(passed)
	p.at = end
	return p.line, p.column
}
