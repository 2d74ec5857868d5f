package filelock

import (
	"fmt"
	"io"
	"os"
)

// writeHolder writes the id and host of this process into a separate lock file.
func writeHolder(file *os.File) error {
	host, _ := os.Hostname() // the process id alone is useful too
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt(fmt.Appendf(nil, "%d %s\n", os.Getpid(), host), 0)
	return err
}

// readHolder returns the process that a separate lock file names. The file must be
// locked: only then was it certainly written by its current holder.
func readHolder(file io.ReaderAt) Holder {
	text := make([]byte, 512)
	n, err := file.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return Holder{}
	}
	var holder Holder
	if _, err := fmt.Sscan(string(text[:n]), &holder.PID, &holder.Host); err != nil && holder.PID <= 0 {
		return Holder{}
	}
	if host, err := os.Hostname(); err == nil && host == holder.Host {
		holder.Host = ""
	}
	return holder
}
