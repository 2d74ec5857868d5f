package lambdatest

import "syscall"

// attributes makes the process the leader of a process group, and kills it when the test
// ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
