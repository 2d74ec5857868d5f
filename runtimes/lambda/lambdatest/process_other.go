//go:build !linux

package lambdatest

import "syscall"

// attributes makes the process the leader of a process group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
