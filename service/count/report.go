package count

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// reportPace is how often a reporter may report.
const reportPace = 10 * time.Second

// Report stores counts of a reporter, as of now. It returns Limited if the reporter has reported within the
// same ten seconds.
func (c *Counter) Report(ctx context.Context, namespace, reporter string, counts Counts) error {
	if len(counts) == 0 {
		return nil
	}
	now := c.now()
	within := now.Truncate(reportPace).Second()
	return c.store.AddReport(ctx, minutes(namespace, counts, fmt.Sprintf("%s@%d", reporter, within), now))
}

// Limits of counts that are reported.
const (
	maxReported = 100_000 // flags
	maxAnswers  = 1000    // of a flag
	maxAnswer   = 512     // bytes
	maxNumber   = 1 << 53
)

// Check returns an error if the counts of a report break a rule.
func (c Counts) Check() error {
	if len(c) > maxReported {
		return fmt.Errorf("must not have more than %d flags", maxReported)
	}
	for key, numbers := range c {
		if len(numbers) > maxAnswers {
			return fmt.Errorf("flag %q must not have more than %d answers", key, maxAnswers)
		}
		for name, n := range numbers {
			if !known(key, name) {
				return fmt.Errorf("flag %q must not have %q: an answer and a reason are expected, such as \"true match\"", key, name)
			}
			if n > maxNumber {
				return fmt.Errorf("flag %q must not have more than 2^53 evaluations", key)
			}
		}
	}
	return nil
}

func known(key, name string) bool {
	if key == Namespace {
		return name == Bulk || name == Download
	}
	answer, reason := Split(name)
	return answer != "" && len(answer) <= maxAnswer && slices.Contains(countedReasons[:], reason)
}

// Split returns the answer and the reason of a name such as "true match".
func Split(name string) (answer, reason string) {
	i := strings.LastIndexByte(name, ' ')
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+1:]
}
