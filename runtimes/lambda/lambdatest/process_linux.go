package lambdatest

import "syscall"

// attributes makes the process the leader of a group, which ends with the test.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
