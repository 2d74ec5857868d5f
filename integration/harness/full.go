package harness

import "os"

// Full reports whether tests try all combinations (FULL=1). Otherwise those that would take
// minutes try a part of them, which has every case at least once.
func Full() bool { return os.Getenv("FULL") == "1" }
