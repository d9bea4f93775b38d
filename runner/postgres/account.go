package postgres

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is who runs PostgreSQL, which refuses to be run by root: whoever runs this, or
// in place of root a user that has nothing.
type account struct{ uid, gid int }

func ordinary() (*account, error) {
	if os.Geteuid() != 0 {
		return &account{os.Geteuid(), os.Getegid()}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err := strconv.Atoi(u.Uid)
		if err != nil {
			continue
		}
		gid, err := strconv.Atoi(u.Gid)
		if err != nil || uid == 0 {
			continue
		}
		return &account{uid, gid}, nil
	}
	return nil, fmt.Errorf("find an ordinary user to run it: this is root, and there is neither postgres nor nobody")
}

// own gives a folder to the account, for nobody else to read.
func (a *account) own(dir string) error {
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	return os.Chown(dir, a.uid, a.gid)
}

func (a *account) attributes() *syscall.SysProcAttr {
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid), Groups: []uint32{}}}
}
