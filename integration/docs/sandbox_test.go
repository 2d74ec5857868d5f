//go:build linux

package docs

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// asShell is the argument with which this program becomes a shell in a network of its own.
const asShell = "a shell in a network of its own"

// sandboxed returns a bash that has a network and process ids of its own. Its network is
// nothing but 127.0.0.1, so every page can use the ports that readers use. If the shell is
// killed, so are all processes that it started.
func sandboxed() *exec.Cmd {
	shell := exec.Command("/proc/self/exe", asShell)
	shell.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	if os.Geteuid() != 0 {
		shell.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		shell.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		shell.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return shell
}

// becomeShell makes this process the bash of sandboxed. It returns only if it cannot.
func becomeShell() error {
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("cannot raise the loopback interface: %w", err)
	}
	return syscall.Exec("/bin/bash", []string{"bash"}, os.Environ())
}

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo)
}
