package dbtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// start starts the process. The channel is closed when the process has ended.
func (s *Server) start() (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(s.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := s.command(context.Background(), s.argv...)
	c.Stdout, c.Stderr = log, log
	dieWithParent(c.SysProcAttr)

	started, dead := make(chan error), make(chan struct{})
	go func() {
		// The signal of dieWithParent is sent when the starting thread ends, so this
		// goroutine keeps its thread as long as the server runs.
		runtime.LockOSThread()
		defer close(dead)
		err := c.Start()
		started <- err
		if err == nil {
			_ = c.Wait()
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	s.pid, s.dead = c.Process.Pid, dead
	return dead, nil
}

// signal sends the signal to the process and all of its descendants, which it returns.
// PostgreSQL's backends have their own sessions, so signaling the process group would miss
// them.
func (s *Server) signal(signal syscall.Signal) (family []int) {
	if s.pid == 0 {
		return nil
	}
	family = []int{s.pid}
	for i := 0; i < len(family); i++ {
		// Before its children are listed, as a stopped process cannot create more.
		_ = syscall.Kill(family[i], signal) // it may have ended already
		family = append(family, children(family[i])...)
	}
	return family
}

// kill kills the process and all of its descendants, and waits for their end. Resources that
// one still holds, such as shared memory, would prevent a restart.
func (s *Server) kill() {
	// Stop them first, so that none can create a child in the meantime.
	family := s.signal(syscall.SIGSTOP)
	for _, pid := range family {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	await(family, ended)
}

// await waits until each of the processes is in the state.
func await(family []int, in func(pid int) bool) {
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for _, pid := range family {
		for !in(pid) {
			<-again.C
		}
	}
}

// ended reports whether the process has ended, even if it has not been reaped.
func ended(pid int) bool {
	return inState(fmt.Sprintf("/proc/%d/stat", pid), "ZX")
}

// stopped reports whether all threads of the process are stopped, or it has ended.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, thread := range threads {
		if !inState(thread, "TZX") {
			return false
		}
	}
	return true
}

// inState reports whether the file of /proc describes a thread or process in one of the
// states, as proc(5) lists them, or one that is gone.
func inState(file, states string) bool {
	text, err := os.ReadFile(file) // #nosec G304 -- files of /proc
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(text), ") ") // after the name of the program
	return rest != "" && strings.Contains(states, rest[:1])
}

func children(pid int) []int {
	var found []int
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range files {
		text, _ := os.ReadFile(file) // #nosec G304 -- files of /proc
		for _, word := range strings.Fields(string(text)) {
			if child, err := strconv.Atoi(word); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

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
