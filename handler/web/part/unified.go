package part

import "strings"

// diffLine is a line of a difference.
type diffLine struct{ Class, Sign, Text string }

// diffLines returns the lines of a difference in unified format, without the names of files.
func diffLines(unified string) (lines []diffLine) {
	for line := range strings.Lines(unified) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "diff ") || strings.HasPrefix(line, "--- ") && len(lines) == 0 ||
			strings.HasPrefix(line, "+++ ") && len(lines) == 0 || strings.HasPrefix(line, `\`):
		case strings.HasPrefix(line, "@@"):
			lines = append(lines, diffLine{"hunk", "", line})
		case strings.HasPrefix(line, "+"):
			lines = append(lines, diffLine{"add", "+", line[1:]})
		case strings.HasPrefix(line, "-"):
			lines = append(lines, diffLine{"del", "−", line[1:]})
		default:
			lines = append(lines, diffLine{"", "", strings.TrimPrefix(line, " ")})
		}
	}
	return lines
}

// maxDiffLines limits the lines of a difference on a page.
const maxDiffLines = 2000

// shownLines returns the lines on the page, and how many are left out.
func shownLines(lines []diffLine) (shown []diffLine, left int) {
	if len(lines) <= maxDiffLines {
		return lines, 0
	}
	return lines[:maxDiffLines], len(lines) - maxDiffLines
}
