package filelock

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Magic numbers of file systems that implement flock by fcntl locks (statfs(2),
// flock(2)).
const (
	magicNFS  = 0x6969
	magicSMB  = 0x517b
	magicSMB2 = 0xfe534d42
	magicCIFS = 0xff534d42
)

// onNetwork reports whether the file is on such a file system.
func onNetwork(file *os.File) bool {
	var stat syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &stat); err != nil { // #nosec G115 -- a file descriptor is small
		return false
	}
	switch uint32(stat.Type) { // #nosec G115 -- a magic number, whose sign differs between processors
	case magicNFS, magicSMB, magicSMB2, magicCIFS:
		return true
	}
	return false
}

// holderOf returns the process that holds the flock on the file, according to the
// kernel's list, which omits processes of other containers.
func holderOf(info fs.FileInfo) Holder {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Holder{}
	}
	list, err := os.Open("/proc/locks")
	if err != nil {
		return Holder{}
	}
	defer list.Close()
	for lines := bufio.NewScanner(list); lines.Scan(); {
		entry, ok := parseLock(lines.Text())
		if !ok || entry.inode != stat.Ino {
			continue
		}
		// Some file systems, such as btrfs, are listed with another device than stat
		// returns for the file.
		if entry.device == device(uint64(stat.Dev)) || hasOpen(entry.pid, info) {
			return Holder{PID: entry.pid}
		}
	}
	return Holder{}
}

// lockEntry is a line of /proc/locks.
type lockEntry struct {
	pid    int
	device string // major:minor, hexadecimal
	inode  uint64
}

// parseLock parses a line such as
//
//	1: FLOCK  ADVISORY  WRITE 1234 fe:00:131073 0 EOF
//
// and reports whether it is an exclusive flock that is held.
func parseLock(line string) (lockEntry, bool) {
	fields := strings.Fields(line)
	if len(fields) != 8 || fields[1] != "FLOCK" || fields[3] != "WRITE" {
		return lockEntry{}, false
	}
	pid, err := strconv.Atoi(fields[4])
	if err != nil || pid <= 0 {
		return lockEntry{}, false
	}
	i := strings.LastIndexByte(fields[5], ':')
	if i < 0 {
		return lockEntry{}, false
	}
	inode, err := strconv.ParseUint(fields[5][i+1:], 10, 64)
	return lockEntry{pid: pid, device: fields[5][:i], inode: inode}, err == nil
}

// device returns the number of a device as /proc/locks writes it.
func device(number uint64) string {
	major := number>>8&0xfff | number>>32&^0xfff
	minor := number&0xff | number>>12&^0xff
	return fmt.Sprintf("%02x:%02x", major, uint32(minor)) // #nosec G115 -- the kernel's minor numbers have 20 bits
}

// hasOpen reports whether the process is known to have the file open.
func hasOpen(pid int, info fs.FileInfo) bool {
	names, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	return err == nil && slices.ContainsFunc(names, func(name string) bool {
		opened, err := os.Stat(name)
		return err == nil && os.SameFile(opened, info)
	})
}
