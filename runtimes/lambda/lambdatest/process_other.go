//go:build !linux

package lambdatest

import "syscall"

// attributes makes the process the leader of a group.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
