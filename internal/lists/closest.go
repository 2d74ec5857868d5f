package lists

// maxLength is the length of the longest text that is compared, in bytes. A longer one is no
// misspelled name.
const maxLength = 200

// Closest returns the candidate that text most likely misspells or abbreviates, or "".
func Closest(text string, candidates []string) string {
	if len(text) > maxLength {
		return ""
	}
	best, bestDistance := "", max(2, len(text)/4)+1
	for _, candidate := range candidates {
		if d := Distance([]byte(text), []byte(candidate), bestDistance); d < bestDistance {
			best, bestDistance = candidate, d
		}
	}
	if best == "" {
		best = abbreviated(text, candidates)
	}
	return best
}

// DidYouMean returns a hint with the candidate that text most likely misspells, such as "; did
// you mean rules?", or "".
func DidYouMean(text string, candidates []string) string {
	if closest := Closest(text, candidates); closest != "" {
		return "; did you mean " + closest + "?"
	}
	return ""
}

// abbreviated returns the candidate that begins like the text, or "".
func abbreviated(text string, candidates []string) string {
	best, bestDistance := "", maxLength
	for _, candidate := range candidates {
		same := 0
		for same < min(len(text), len(candidate)) && text[same] == candidate[same] {
			same++
		}
		if d := Distance([]byte(text), []byte(candidate), bestDistance+1); same >= max(3, len(text)*3/4) && d <= bestDistance {
			best, bestDistance = candidate, d
		}
	}
	return best
}

// Distance returns the Levenshtein distance between a and b, or limit if it is as large or larger.
func Distance[E comparable](a, b []E, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}
