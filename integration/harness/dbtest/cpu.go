package dbtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// CPUTime returns the CPU time of the process, its running descendants, and the children
// that it has reaped. It is 0 if there is no such process.
func CPUTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // #nosec G304 -- files of /proc
	if err != nil {
		return 0
	}
	// The name, in parentheses, may contain anything; the third field comes after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, end = 14 - 3, 18 - 3 // of itself and of its reaped children
	if len(fields) < end {
		return 0
	}
	sum := time.Duration(0)
	for _, text := range fields[user:end] {
		ticks, _ := strconv.Atoi(text) // the kernel writes numbers
		sum += time.Duration(ticks) * tick
	}
	for _, child := range children(pid) {
		sum += CPUTime(child)
	}
	return sum
}

// CPUTime returns the CPU time of the server's processes.
func (s *Server) CPUTime() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return CPUTime(s.pid)
}
