package review

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/guidonhq/guidon/handler/web/page"
)

// Limits of a diff.
const (
	maxDiffLines = 600
	maxDiffLine  = 2 << 10 // bytes of one line
)

// Diff is a difference in unified format.
type Diff struct {
	Lines []diffLine
	More  int // lines that are not shown
}

// lineKind is the kind of a line of a diff. Its text is the class of the row.
type lineKind string

// The kinds of lines.
const (
	lineSame lineKind = ""
	lineAdd  lineKind = "add"
	lineDel  lineKind = "del"
	lineHunk lineKind = "hunk"
)

// diffLine is a line of a diff. Start, Changed and End together are its text.
type diffLine struct {
	Kind                lineKind
	Old, New            string // line numbers, "" if the line is only on the other side
	Start, Changed, End string
}

// Number returns the number of the line on the side.
func (l diffLine) Number(after bool) string {
	if after {
		return l.New
	}
	return l.Old
}

// The signs of lines, which say the same as their colours, and what screen readers say.
var (
	signs     = map[lineKind]string{lineAdd: "+", lineDel: "−"}
	saidSigns = map[lineKind]string{lineAdd: "added", lineDel: "removed"}
)

// hunkHead matches the first line of a hunk, with the numbers of its first lines.
var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@`)

// ParseDiff parses a difference in unified format; nil if there is none.
func ParseDiff(text string) *Diff {
	d := new(Diff)
	before, after, inside := 0, 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if head := hunkHead.FindStringSubmatch(line); head != nil {
			before, _ = strconv.Atoi(head[1])
			after, _ = strconv.Atoi(head[2])
			inside = true
			d.add(diffLine{Kind: lineHunk, Start: "from line " + strconv.Itoa(max(before, after, 1))})
			continue
		}
		if !inside || line == "" || line[0] == '\\' {
			continue
		}
		l := diffLine{Start: cutLine(line[1:])}
		if line[0] != '+' {
			l.Old, before = strconv.Itoa(before), before+1
		}
		if line[0] != '-' {
			l.New, after = strconv.Itoa(after), after+1
		}
		switch line[0] {
		case '+':
			l.Kind = lineAdd
		case '-':
			l.Kind = lineDel
		}
		d.add(l)
	}
	if len(d.Lines) == 0 {
		return nil
	}
	d.mark()
	return d
}

func (d *Diff) add(l diffLine) {
	if len(d.Lines) == maxDiffLines {
		d.More++
		return
	}
	d.Lines = append(d.Lines, l)
}

// cutLine returns the line for people, shortened if it is long.
func cutLine(line string) string {
	shown := page.Printable(line, maxDiffLine)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(line) > maxDiffLine {
		shown += "… (" + page.Number(utf8.RuneCountInString(line)) + " characters)"
	}
	return indent + shown
}

// mark marks the differences in lines that replace others one by one.
func (d *Diff) mark() {
	for i := 0; i < len(d.Lines); {
		removed := d.run(i, lineDel)
		added := d.run(i+removed, lineAdd)
		if removed > 0 && removed == added {
			for n := range removed {
				markPair(&d.Lines[i+n], &d.Lines[i+removed+n])
			}
		}
		i += max(removed+added, 1)
	}
}

// run returns how many lines of the kind follow from the index on.
func (d *Diff) run(from int, k lineKind) int {
	n := 0
	for from+n < len(d.Lines) && d.Lines[from+n].Kind == k {
		n++
	}
	return n
}

// markPair marks the differences between two lines, unless they differ completely.
func markPair(a, b *diffLine) {
	if a.Start == b.Start {
		return
	}
	was, now := []rune(a.Start), []rune(b.Start)
	start := 0
	for start < min(len(was), len(now)) && was[start] == now[start] {
		start++
	}
	end := 0
	for end < min(len(was), len(now))-start && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	for start > 0 && was[start-1] != ' ' { // whole words
		start--
	}
	for end > 0 && was[len(was)-end] != ' ' {
		end--
	}
	if strings.TrimSpace(string(was[:start])) == "" {
		return
	}
	a.Start, a.Changed, a.End = string(was[:start]), string(was[start:len(was)-end]), string(was[len(was)-end:])
	b.Start, b.Changed, b.End = string(now[:start]), string(now[start:len(now)-end]), string(now[len(now)-end:])
}
